"""Bullet through its Python package: rigid bodies.

Its Python interface loads soft bodies from files, without a pressure or a gas, so the soft scenes are left out.
"""

import numpy as np
import pybullet

from ..scenes import GRAVITY

#: Its default step [s].
STEP = 1.0 / 240.0


class Bullet:
    """Rigid bodies by sequential impulses; it has one thread."""

    def __init__(self, scene, threads):
        self.version = str(pybullet.getAPIVersion())
        self._client = client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0.0, 0.0, -GRAVITY, physicsClientId=client)
        self._steps = round(scene.frame_time / STEP)
        pybullet.setTimeStep(scene.frame_time / self._steps, physicsClientId=client)
        for box in scene.colliders:
            self._add(box, scene.friction)
        self._boxes = [self._add(box, scene.friction) for box in scene.rigid]
        self.settings = f"{self._steps} steps per frame, 50 iterations, maximal coordinates"

    def _add(self, box, friction):
        half = [0.5 * length for length in box.size]
        shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half, physicsClientId=self._client)
        # bodies of six unknowns, as in the other engines: the default, made for robots' joints, takes twice as long
        number = pybullet.createMultiBody(
            box.mass, shape, basePosition=box.centre, useMaximalCoordinates=True, physicsClientId=self._client
        )
        # friction of a pair is the product here, the geometric mean elsewhere
        pybullet.changeDynamics(number, -1, lateralFriction=friction**0.5, physicsClientId=self._client)
        return number

    def advance(self):
        for _ in range(self._steps):
            pybullet.stepSimulation(physicsClientId=self._client)

    def soft(self):
        return []

    def rigid(self):
        poses = [pybullet.getBasePositionAndOrientation(number, physicsClientId=self._client) for number in self._boxes]
        turns = [np.reshape(pybullet.getMatrixFromQuaternion(turn), (3, 3)) for _, turn in poses]
        return np.array([place for place, _ in poses]), np.array(turns)
