"""Bodies with dampers along their springs that the tests share: oscillators of closed form, and a dented ball.

Bodies that breathe, x = (1 + e) X about their middle, are oscillators whatever the amplitude where all vertices are
alike: all springs have the strain e, so M e'' + C e' + K e = 0 with M = sum m |X|^2, K = sum k L^2, C = sum c L^2. Of a
solid, K = 15 mu V; of a skin, 3 Y A; of a flat truss in plane stress with nu = 1/3, 3 E A depth; of a loop, Y depth P.
"""

import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder, World

MASS, SIZE, DEPTH, MODULUS = 2.0, 0.4, 0.1, 1e4
RATIO = 0.05


class Breathing:
    """A body about the origin, without gas and gravity, and its oscillation."""

    def __init__(self, kind, ratio=RATIO, fineness=0, **options):
        builder = ModelBuilder(gravity=(0, 0, 0), ambient_pressure=0.0)
        if kind == "SKIN":
            x, triangles = shapes.icosphere(fineness, SIZE)
            a, b, c = (x[triangles[:, corner]] for corner in range(3))
            area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
            stiffness, inertia = 3.0 * MODULUS * area, MASS * SIZE**2
        elif kind == "LOOP":
            x = np.column_stack([shapes.ring(24, SIZE), np.zeros(24)])
            side = np.linalg.norm(x[1] - x[0])
            stiffness, inertia = MODULUS * DEPTH * 24 * side, MASS * SIZE**2
        elif kind == "FLAT_TRUSS":
            x = 0.5 * SIZE * np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
            stiffness, inertia = 3.0 * MODULUS * DEPTH * SIZE**2, MASS * SIZE**2 / 2.0
        else:  # a cube of one cell: its mass is at the corners
            x, triangles = shapes.box(SIZE)
            stiffness, inertia = 15.0 * MODULUS / 2.5 * SIZE**3, 0.75 * MASS * SIZE**2
        self.frequency = np.sqrt(stiffness / inertia)
        self.rate = ratio * self.frequency  # of the amplitude
        # c = (eta / Y) k: 2 rate = (eta / Y) frequency^2
        damping = {"mass": MASS, "spring_damping": MODULUS * 2.0 * self.rate / self.frequency**2, **options}
        if kind == "SKIN":
            builder.add_membrane("body", x, triangles, stretch_modulus=MODULUS, **damping)
        elif kind == "LOOP":
            builder.add_loop("body", x, depth=DEPTH, stretch_modulus=MODULUS, **damping)
        elif kind == "FLAT_TRUSS":
            builder.add_flat_truss("body", x, depth=DEPTH, cell_size=SIZE, modulus=MODULUS, **damping)
        else:
            builder.add_solid(
                "body", x, triangles, kind=kind, cell_size=SIZE, modulus=MODULUS,
                **({"poisson_ratio": 0.25} if kind == "SOLID" else {}), **damping,
            )  # fmt: skip
        self.model = builder.build()

    def world(self, solver, step, strain=0.02, speed=0.0, **options):
        """A world that starts with a strain and its rate [1/s]; a step is a frame."""
        world = World(self.model, frame_rate=1.0 / step, substeps=1, threads=1, solver=solver, **options)
        state, n = world.save(), self.model.vertex_count
        state.positions[:n] *= 1.0 + strain * self._in_plane()
        state.velocities[:n] = speed * self.model.rest_positions[:n] * self._in_plane()
        world.load(state)
        return world

    def _in_plane(self):
        """A loop and a flat truss keep their depth."""
        return 1.0 - np.abs(self.model.flat.normal[0])

    def strain(self, world):
        """Strain and its rate [1/s]: shares of the mode in positions and velocities."""
        state, n = world.save(), self.model.vertex_count
        shape = self.model.rest_positions[:n] * self._in_plane() * self.model.vertex_mass[:, None]
        size = (shape * self.model.rest_positions[:n]).sum()
        away = (state.positions - self.model.rest_positions)[:n]
        return (shape * away).sum() / size, (shape * state.velocities[:n]).sum() / size

    def exact(self, time, strain=0.02, speed=0.0):
        """Strain and its rate [1/s] after a time [s]."""
        swing = np.sqrt(self.frequency**2 - self.rate**2)
        a, b = strain, (speed + self.rate * strain) / swing
        c, s, left = np.cos(swing * time), np.sin(swing * time), np.exp(-self.rate * time)
        e = left * (a * c + b * s)
        return e, left * swing * (b * c - a * s) - self.rate * e

    def amplitude(self, world):
        """Amplitude of the damped oscillation: a exp(-rate t) in the closed form."""
        e, speed = self.strain(world)
        return np.hypot(e, (speed + self.rate * e) / np.sqrt(self.frequency**2 - self.rate**2))


def measured_rate(body, solver, step, time, strain=0.02):
    """Rate [1/s] at which the amplitude has fallen over a time [s]."""
    world = body.world(solver, step, strain)
    start = body.amplitude(world)
    count = round(time / step)
    for _ in range(count):
        world.advance_frame()
    return np.log(start / body.amplitude(world)) / (count * step)


def dented_ball(solver, eta, step=1e-3, substeps=1, **options):
    """A ball of 42 vertices under pressure, squashed and spinning; one step per frame."""
    builder = ModelBuilder(gravity=(0, 0, 0))
    x, triangles = shapes.icosphere(1, 0.2)
    builder.add_membrane("ball", x, triangles, mass=0.2, gauge_pressure=2e3, stretch_modulus=5e3, spring_damping=eta)
    world = World(builder.build(), frame_rate=1.0 / step, substeps=substeps, threads=1, solver=solver, **options)
    state, n = world.save(), world.model.vertex_count
    x = state.positions[:n] * (1.0, 0.9, 1.05)
    state.positions[:n] = x
    state.velocities[:n] = np.cross((3.0, 1.0, -2.0), x) + (0.5, 0.0, 0.2)
    world.load(state)
    return world
