"""The solvers of this project."""

import numpy as np
from softpressure_ext.core import ModelBuilder, World

from ...experiments.parts import equal_parts
from ..scenes import BODY_MASS, GRAVITY, PRESSURE, SPRING

#: Length of a substep [s] that is aimed at: the default of 10 per 1/24 s, 20 with XPBD.
SUBSTEP = {"IMPLICIT": 1.0 / 240.0, "XPBD": 1.0 / 480.0}


def triangles_of(squares):
    """Two triangles for every square."""
    return np.array([t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))])


class Implicit:
    """The implicit solver; of boxes alone, that of impulses."""

    solver = "IMPLICIT"

    def __init__(self, scene, threads):
        builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY), ambient_pressure=0.0)
        surface = {"friction": scene.friction, "bounciness": 0.0}
        for number, (positions, triangles) in enumerate(scene.soft):
            builder.add_membrane(
                f"body {number}", positions, triangles, mass=BODY_MASS, gauge_pressure=PRESSURE, damping=5.0, **surface
            )
        for number, box in enumerate(scene.rigid):
            corners, squares = box.mesh()
            builder.add_rigid(f"box {number}", corners + box.centre, triangles_of(squares), mass=box.mass, **surface)
        for number, box in enumerate(scene.colliders):
            corners, squares = box.mesh()
            builder.add_collider(f"collider {number}", corners + box.centre, triangles_of(squares), **surface)
        model = builder.build()
        if scene.soft:
            model = equal_parts(model, SPRING, BODY_MASS / len(scene.soft[0][0]))
        substeps = round(scene.frame_time / SUBSTEP[self.solver])
        self.world = World(
            model, frame_rate=1.0 / scene.frame_time, substeps=substeps, threads=threads, solver=self.solver
        )
        self.settings = f"{substeps} substeps per frame" + (", damping 5 /s, bounciness 0" if scene.soft else "")
        self.version = ""

    def advance(self):
        self.world.advance_frame()

    def soft(self):
        return [self.world.positions(number) for number in range(self.world.model.membrane_count)]

    def rigid(self):
        matrices = np.array([self.world.rigid_transform(number) for number in range(self.world.model.rigid_count)])
        turns = matrices[:, :3, :3]
        return np.einsum("bij,bj->bi", turns, self.world.model.rigid.centre) + matrices[:, :3, 3], turns

    def work(self):
        """Counts of what was done."""
        found = self.world.diagnostics()
        counts = {name: getattr(found.counts, name) for name in found.counts.__slots__}
        return {name: count for name, count in counts.items() if count}


class Xpbd(Implicit):
    """Small steps."""

    solver = "XPBD"
