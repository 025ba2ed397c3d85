"""Shared by the experiments: energies, equilibria, longest steps, shapes."""

from dataclasses import replace

import numpy as np
import reference
from softpressure_ext.core import DivergenceError, MethodOptions, World
from softpressure_ext.core.energy.mechanical import mechanical_energy
from softpressure_ext.core.papers.forces import SoftForces
from softpressure_ext.core.papers.stability import stiffest_frequency

#: Frames per second of all experiments; the papers animate at this rate.
FRAME_RATE = 60.0
#: Damping [1/s] and frames with which bodies are brought to rest.
CALMING, CALM_FRAMES = 100.0, 120
#: To which share longest steps are found, and by which factor they are raised before.
STEP_ACCURACY, CLIMB = 0.01, 1.25


def world_of(model, solver="RK4", substeps=1, rate=FRAME_RATE, **options):
    """A world of one thread."""
    return World(
        model, frame_rate=rate, substeps=substeps, solver=solver, threads=1, options=MethodOptions(**options)
    )  # fmt: skip


def energy(world):
    """Mechanical energy of the soft bodies of a world [J]: motion, springs, gas and height."""
    model, volume = world.model, np.array([body.volume for body in world.diagnostics().bodies])
    return float(mechanical_energy(model, model.vertex_mass, world.save(), volume)[: model.membrane_count].sum())


def equilibrium(model, **options):
    """Positions [m] of all points of a model of bodies of gas at rest, without weight, where the builder has them."""
    calm = replace(model, gravity=np.zeros(3), damping=np.full_like(model.damping, CALMING))
    world = world_of(calm, **{"solver": "EXPLICIT"} | options)
    lasts(world, CALM_FRAMES)
    return world.save().positions


def recorded(world, frames, row, note):
    """A row to which `note` adds what a world shows at the start and after each frame; with "error" if it diverged."""
    note()
    return row if lasts(world, frames, lambda: note() is None) else row | {"error": True}


def lasts(world, frames, holds=lambda: True):
    """Whether a world gets through the frames without diverging, and `holds` after each of them."""
    try:
        for _ in range(frames):
            world.advance_frame()
            if not holds():
                return False
    except DivergenceError:
        return False
    return True


def put(world, positions, velocities=None):
    """Give all vertices of a world positions of its model's points [m], and velocities [m/s]."""
    state, n = world.save(), world.model.vertex_count
    state.positions[:n] = positions[:n]
    if velocities is not None:
        state.velocities[:n] = velocities
    world.load(state)
    return world


def relative_speed(world):
    """Root mean square of the vertices' velocities apart from the rigid motion [m/s]."""
    state, n = world.save(), world.model.vertex_count
    return reference.relative_speed(state.positions[:n], state.velocities[:n], world.model.vertex_mass)


def frequency_at(model, positions):
    """Angular frequency [1/s] of the stiffest oscillation about an equilibrium."""
    model = replace(model, rest_positions=positions)
    gas = (model.gauge_pressure + model.ambient_pressure) * model.rest_volume
    return stiffest_frequency(model, SoftForces(model), gas)


def longest_step(holds, low, high):
    """Longest step [s] up to which all tried ones `hold`, to `STEP_ACCURACY`; None where the shortest does not.

    Steps are tried from `low` to `high`, each `CLIMB` times as long as the one before; `high` where all of them hold.
    """
    if not holds(low):
        return None
    while True:
        longer = min(CLIMB * low, high)
        if not holds(longer):
            break
        if longer == high:
            return high
        low = longer
    while longer / low > 1.0 + STEP_ACCURACY:
        middle = (low * longer) ** 0.5
        if holds(middle):
            low = middle
        else:
            longer = middle
    return low


def tray(length, width, height):
    """Open box about the origin on z = 0, seen from inside: floor and four walls."""
    x, y = 0.5 * length, 0.5 * width
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)]
    points = [(*corner, 0.0) for corner in corners] + [(*corner, height) for corner in corners]
    triangles = [(0, 1, 2), (0, 2, 3)]
    for k in range(4):
        right = (k + 1) % 4
        triangles += [(k, k + 4, right), (right, k + 4, right + 4)]
    return np.array(points), np.array(triangles)


def shape_of(x):
    """How round a body is at x [m]: its height over its mean width."""
    extent = np.ptp(x, axis=0)
    return float(extent[2] / (0.5 * (extent[0] + extent[1])))
