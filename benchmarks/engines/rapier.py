"""Rapier through its Python package. Its soft skins keep a volume; a gas that reacts to the volume it has not.

So the volume asked for is that of the ball's closed form where there is one, else the rest volume.
"""

import math

import numpy as np
import rapier3d

from ..scenes import BODY_MASS, GRAVITY, SPRING

#: Longest step [s]: its default.
STEP = 1.0 / 60.0
#: Damping ratio of the springs: light, as the other engines' is.
DAMPING_RATIO = 0.1
#: Distance that a particle keeps from everything [m]: half of what Cloth keeps. By default it grows with the edges.
PARTICLE_RADIUS = 0.0075


class Rapier:
    """Rigid bodies, and skins of edges with volume preservation."""

    def __init__(self, scene, threads):
        self.version = rapier3d.__version__
        self.world = rapier3d.PhysicsWorld(gravity=(0.0, 0.0, -GRAVITY))
        self.world.set_num_threads(threads)
        self._steps = math.ceil(scene.frame_time / STEP - 1e-9)
        self.world.integration_parameters.dt = scene.frame_time / self._steps
        for box in scene.colliders:
            self.world.add_collider(self._cuboid(box, scene).translation(box.centre))
        self._rigid = []
        for box in scene.rigid:
            shape = self._cuboid(box, scene).density(0.0).mass(box.mass)
            body = rapier3d.RigidBody.dynamic().translation(box.centre)
            self._rigid.append(self.world.add_body(body, [shape]))
        self._soft = [self._add_skin(scene, *body) for body in scene.soft]
        self.settings = f"{self._steps} steps per frame"
        if scene.soft:
            self.settings += f", a volume in place of a gas, damping ratio {DAMPING_RATIO}, radius {PARTICLE_RADIUS} m"

    @staticmethod
    def _cuboid(box, scene):
        return rapier3d.Collider.cuboid(*(0.5 * length for length in box.size)).friction(scene.friction)

    def _add_skin(self, scene, positions, triangles):
        # a spring between two vertices of mass m swings with sqrt(2 k / m)
        frequency = math.sqrt(2.0 * SPRING * len(positions) / BODY_MASS) / (2.0 * math.pi)
        material = rapier3d.SoftBodyMaterial(
            edge_softness=rapier3d.SpringCoefficients(frequency, DAMPING_RATIO),
        )
        builder = rapier3d.SoftBody.trimesh(positions, triangles).mass(BODY_MASS).material(material)
        builder = (
            builder.particle_radius(PARTICLE_RADIUS)
            .shape_matching(False)
            .volume_preservation(True)
            .volume_factor(scene.volume_ratio or 1.0)
        )
        return self.world.add_soft_body(builder)

    def advance(self):
        for _ in range(self._steps):
            self.world.step()

    def soft(self):
        return [np.array(self.world.soft_bodies[handle].particle_positions, dtype=float) for handle in self._soft]

    def rigid(self):
        bodies = [self.world.rigid_bodies[handle] for handle in self._rigid]
        centres = np.array([tuple(body.translation) for body in bodies], dtype=float)
        return centres, np.array([np.reshape(body.rotation.to_matrix(), (3, 3)) for body in bodies])
