"""The engine of this project, and its XPBD."""

import numpy as np
from softpressure_ext.core import ModelBuilder, World, prepare

from ..scenes import BODY_MASS, GRAVITY, PRESSURE, SPRING

#: Length of a substep of XPBD [s] that is aimed at: 20 per 1/24 s. The engine finds its own.
SUBSTEP = 1.0 / 480.0


def triangles_of(squares):
    """Two triangles for every square."""
    return np.array([t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))])


def builder_of(scene, placed=lambda positions: positions, *, pressure=PRESSURE, spring=SPRING):
    """The bodies of a scene, skins in contact with themselves: gas [Pa], springs [N/m], `placed` changes positions."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY), ambient_pressure=0.0)
    surface = {"friction": scene.friction, "bounciness": 0.0}
    for number, (positions, triangles) in enumerate(scene.soft):
        builder.add_membrane(
            f"body {number}", placed(positions), triangles, spring_constant=spring,
            point_mass=BODY_MASS / len(positions), gauge_pressure=pressure, damping=5.0, self_collision=True, **surface,
        )  # fmt: skip
    for number, box in enumerate(scene.rigid):
        corners, squares = box.mesh()
        builder.add_rigid(
            f"box {number}", placed(corners + box.centre), triangles_of(squares), mass=box.mass, **surface
        )
    for number, box in enumerate(scene.colliders):
        corners, squares = box.mesh()
        builder.add_collider(f"collider {number}", corners + box.centre, triangles_of(squares), **surface)
    return builder


class Explicit:
    """The method that is the default."""

    solver = "EXPLICIT"

    def __init__(self, scene, threads):
        model = builder_of(scene).build()
        substeps = round(scene.frame_time / SUBSTEP)
        self.world = World(
            model, frame_rate=1.0 / scene.frame_time, substeps=substeps, threads=threads, solver=self.solver
        )
        for _ in prepare.prepare(prepare.jobs_for(prepare.parts_of(model), self.solver)):
            pass  # else the first frame would load what the solver consists of
        at_limit = self.solver == "EXPLICIT" and scene.soft
        steps = "steps at the limit of stability" if at_limit else f"{self.world.steps_per_frame} steps per frame"
        self.settings = f"{self.solver}, {steps}" + (", damping 5 /s, bounciness 0" if scene.soft else "")
        self.version = ""

    def advance(self):
        self.world.advance_frame()

    def soft(self):
        return [self.world.positions(number) for number in range(self.world.model.membrane_count)]

    def rigid(self):
        matrices = np.array([self.world.rigid_transform(number) for number in range(self.world.model.rigid_count)])
        turns = matrices[:, :3, :3]
        return np.einsum("bij,bj->bi", turns, self.world.model.rigid.centre) + matrices[:, :3, 3], turns


class Xpbd(Explicit):
    """Small steps."""

    solver = "XPBD"
