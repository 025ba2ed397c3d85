"""Scenes and measures of the physics tests. Only the public interface of the core is used."""

from dataclasses import dataclass, fields, is_dataclass, replace

import numpy as np
import reference
import shapes
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.energy.mechanical import mechanical_energy

AMBIENT = 101_325.0
GRAVITY = 9.81
#: Size of a nudge in units of a position or of 1 m/s: ten thousand roundings.
NUDGE = 1e-12


@dataclass(frozen=True)
class Ball:
    """Size, mass, pressure and modulus of a ball, in SI units."""

    radius: float
    mass: float
    gauge_pressure: float
    stretch_modulus: float

    @property
    def strain(self):
        return reference.ball_strain(self.radius, self.gauge_pressure, self.stretch_modulus)

    @property
    def volume_ratio(self):
        """V / V0 by the closed form."""
        return (1.0 + self.strain) ** 3

    def like(self, **changes):
        return replace(self, **changes)


BASKETBALL = Ball(0.12, 0.6, 55e3, 1e5)
BEACH_BALL = Ball(0.2, 0.2, 5e3, 2e4)
METRE_BALL = Ball(1.0, 1.0, 2e3, 1e5)
#: 5 kg on 3 kPa sink in by an eighth of the radius, on a patch of four edge lengths of the coarsest mesh, and its
#: skin is taut enough (strain 0.03) to flatten without wrinkles, which would be as small as the triangles.
SOFT_BALL = Ball(0.2, 5.0, 3e3, 1e4)

#: The defaults that Blender users start from.
LIVELY = {"damping": 5.0, "bounciness": 0.8}


def played(world, frames, **given):
    """Advance frames with the same input; yields after each how many are done."""
    for done in range(1, frames + 1):
        world.advance_frame(FrameInput(**given))
        yield done


def advance(world, frames, **given):
    """Frames with the same input."""
    for _ in played(world, frames, **given):
        pass


def assert_same_bits(one, other, name="state"):
    """Two states, or parts of them, are equal to the last bit."""
    if is_dataclass(one):
        for each in fields(one):
            assert_same_bits(getattr(one, each.name), getattr(other, each.name), f"{name}.{each.name}")
    else:
        np.testing.assert_array_equal(one, other, err_msg=name)


def assert_continues(make, frames, *cuts, given=lambda _: None, fresh=None):
    """A run that goes on from a state saved after so many frames has the bits of one that was not interrupted.

    In worlds that `make` makes, or `fresh` those that go on; `given`: the input of a frame, counted from 0. Returns the
    world that was not interrupted.
    """
    whole, states = make(), {}
    for frame in range(frames):
        if frame in cuts:
            states[frame] = whole.save()
        whole.advance_frame(given(frame))
    for cut in cuts:
        other = (fresh or make)()
        other.load(states[cut])
        for frame in range(cut, frames):
            other.advance_frame(given(frame))
        assert_same_bits(other.save(), whole.save())
    return whole


def add_ball(builder, ball, subdivisions=3, centre=(0.0, 0.0, 0.0), turned=None, name="ball", **options):
    x, triangles = shapes.icosphere(subdivisions, ball.radius)
    if turned is not None:
        x = x @ np.asarray(turned).T
    return builder.add_membrane(
        name, x + np.asarray(centre, float), triangles, mass=ball.mass, gauge_pressure=ball.gauge_pressure,
        stretch_modulus=ball.stretch_modulus, **options,
    )  # fmt: skip


def ball_world(
    ball=BASKETBALL, subdivisions=3, *, drop=0.1, floor=True, gravity=(0.0, 0.0, -GRAVITY), frame_rate=60.0, substeps=4,
    threads=1, solver="EXPLICIT", **options,
):  # fmt: skip
    """One ball, its lowest point `drop` above a floor at z = 0; the default substep is 1/240 s.

    The floor is as rough and as bouncy as the ball (a pair uses the geometric mean).
    """
    builder = ModelBuilder(gravity=gravity)
    add_ball(builder, ball, subdivisions, (0.0, 0.0, ball.radius + drop), **options)
    if floor:
        surface = {name: options[name] for name in ("friction", "bounciness") if name in options}
        builder.add_collider("floor", *shapes.grid(20.0 * ball.radius), **surface)
    return World(builder.build(), frame_rate=frame_rate, substeps=substeps, threads=threads, solver=solver)


def nudged(world, seed):
    """The same world a nudge away, as another processor might round; seed 0 leaves it as it is.

    Ties, such as two triangles that are equally near, then fall out another way.
    """
    if seed:
        noise, state, n = np.random.default_rng(seed), world.save(), world.model.vertex_count
        state.positions[:n] *= 1.0 + NUDGE * noise.standard_normal((n, 3))
        state.rigid.velocity += NUDGE * noise.standard_normal(state.rigid.velocity.shape)
        world.load(state)
    return world


def inflate(world, ball, body=0):
    """Put a ball into the equilibrium of the closed form, its lowest point where it was."""
    x = world.positions(body)
    centre = x.mean(axis=0)
    x = centre + (x - centre) * (1.0 + ball.strain)
    x[:, 2] += ball.strain * ball.radius
    world.set_positions(body, x)


def masses(world, body=0):
    """Vertex masses [kg] in the caller's order."""
    model = world.model
    start = model.body_point_start
    return model.vertex_mass[model.point_of_vertex[start[body] : start[body + 1]]]


def moved_mass(world):
    """Masses of all membranes' vertices [kg] in the model's order, as the solver moves them.

    A solver that adds to the masses of a few vertices keeps the momenta of those masses, not of the model's.
    """
    return np.asarray(world._solver.vertex_mass)


def energy(world):
    """Mechanical energy of all bodies [J]: motion, height over z = 0, springs, bending, cells and gas."""
    model, mass = world.model, moved_mass(world)
    volumes = np.array([body.volume for body in world.diagnostics().bodies[: model.membrane_count]])
    drawn = mass @ model.rest_positions[: len(mass)] + model.rigid.mass @ model.rigid.centre
    return float(mechanical_energy(model, mass, world.save(), volumes).sum() - drawn @ model.gravity)


def centre(world, body=0):
    """Centre of mass [m]."""
    m = masses(world, body)
    return m @ world.positions(body) / m.sum()


def velocity(world, body=0):
    """Velocity of the centre of mass [m/s]."""
    m = masses(world, body)
    return m @ world.velocities(body) / m.sum()


def momentum(world):
    """Of all membranes [kg m/s]."""
    return moved_mass(world) @ world.save().velocities[: world.model.vertex_count]


def angular_momentum(world, about=(0.0, 0.0, 0.0)):
    """Of all membranes [kg m^2/s]."""
    state, n = world.save(), world.model.vertex_count
    return moved_mass(world) @ np.cross(state.positions[:n] - about, state.velocities[:n])


def momenta(world):
    """Momentum [kg m/s] and angular momentum about the origin [kg m^2/s] of all membranes."""
    return momentum(world), angular_momentum(world)


def unrest(world, body=0):
    """RMS speed apart from rigid motion [m/s]."""
    return reference.relative_speed(world.positions(body), world.velocities(body), masses(world, body))


def gas_law_error(world, gas, body=0):
    """(p + pa) V / nRT - 1, with the volume taken from the positions by the twin of the core's."""
    found = world.diagnostics().bodies[body]
    start = world.model.surfaces.body_triangle_start
    order = np.empty_like(world.model.point_of_vertex)
    order[world.model.point_of_vertex] = np.arange(len(order))
    first = world.model.body_point_start[body]
    triangles = order[world.model.surfaces.triangles[start[body] : start[body + 1]]] - first
    x = world.positions(body) - world.positions(body)[0]
    volume = np.einsum("ij,ij->", x[triangles[:, 0]], np.cross(x[triangles[:, 1]], x[triangles[:, 2]])) / 6.0
    return abs((found.gauge_pressure + world.model.ambient_pressure) * volume / gas - 1.0)


def lowest(world, body=0):
    """Height of the lowest vertex [m]."""
    return world.positions(body)[:, 2].min()


def spin(world, rate, drift=(0.0, 0.0, 0.0), body=0):
    """Give a body a rigid motion: angular velocity [1/s] about its centre and velocity [m/s]."""
    x = world.positions(body)
    state = world.save()
    first = world.model.body_point_start[body]
    points = world.model.point_of_vertex[first : first + len(x)]
    state.velocities[points] = np.cross(rate, x - centre(world, body)) + drift
    world.load(state)


def sag(world):
    """How far the centre is below the radius of the closed form, apart from the gap that is kept [m]."""
    return SOFT_BALL.radius * (1.0 + SOFT_BALL.strain) + lowest(world) - centre(world)[2]


def virial_pressure(world):
    """Gauge pressure that the tension of the springs balances: sum k (l - L) l = 3 p V at rest."""
    edges, x = world.model.edges, world.save().positions
    length = np.linalg.norm(x[edges.points[:, 0]] - x[edges.points[:, 1]], axis=1)
    tension = edges.stiffness * (length - edges.rest_length)
    return (tension * length).sum() / (3.0 * world.diagnostics().bodies[0].volume)
