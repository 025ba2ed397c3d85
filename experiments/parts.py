"""Shared by the experiments: energies, equilibria, longest steps, shapes."""

from dataclasses import replace

import numpy as np
import reference
from softpressure_ext.core import DivergenceError, World
from softpressure_ext.core.energy.mechanical import mechanical_energy
from softpressure_ext.core.papers.forces import SoftForces
from softpressure_ext.core.papers.stability import stable_time, stiffest_frequency

#: Frames per second of all experiments; the papers animate at this rate.
FRAME_RATE = 60.0
#: Largest number of substeps per frame that is tried.
MOST_SUBSTEPS = 4096
#: Damping [1/s] and frames with which bodies are brought to rest.
CALMING, CALM_FRAMES = 100.0, 120
#: To which share longest steps are found, and by which factor they are raised before.
STEP_ACCURACY, CLIMB = 0.01, 1.25


def energy(world):
    """Mechanical energy of the soft bodies of a world [J]: motion, springs, gas and height."""
    model, volume = world.model, np.array([body.volume for body in world.diagnostics().bodies])
    return float(mechanical_energy(model, model.vertex_mass, world.save(), volume)[: model.membrane_count].sum())


def equilibrium(model):
    """Positions [m] of all points of a model of bodies of gas at rest, without weight, where the builder has them."""
    calm = replace(model, gravity=np.zeros(3), damping=np.full_like(model.damping, CALMING))
    world = World(calm, frame_rate=FRAME_RATE, threads=1)
    for _ in range(CALM_FRAMES):
        world.advance_frame()
    return world.save().positions


def recorded(world, frames, row, note):
    """A row to which `note` adds what a world shows at the start and after each frame; it says why a run diverged."""
    note()
    try:
        for _ in range(frames):
            world.advance_frame()
            note()
    except DivergenceError as error:
        row["error"] = str(error)
    return row


def put(world, positions):
    """Move all vertices of a world to positions of its model's points [m]."""
    state, n = world.save(), world.model.vertex_count
    state.positions[:n] = positions[:n]
    world.load(state)
    return world


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


def needed_substeps(model, method):
    """Substeps per frame that a force-based method should need, from the stiffest oscillation at rest."""
    gas = (model.gauge_pressure + model.ambient_pressure) * model.rest_volume
    longest = stable_time(model, SoftForces(model), method, gas)
    return int(np.ceil(1.0 / (FRAME_RATE * longest)))


def survives(world, frames, slack):
    """Whether the world gets through the frames, its energy never more than `slack` [J] above that of the start."""
    most = energy(world) + slack
    for _ in range(frames):
        try:
            world.advance_frame()
        except DivergenceError:
            return False
        if not energy(world) <= most:
            return False
    return True


def fewest_substeps(holds, most=MOST_SUBSTEPS):
    """Smallest number of substeps for which `holds(substeps)`, to a tenth; `None` where not even `most` are enough.

    Doubles, then halves the interval, so it takes for granted that more substeps are never worse.
    """
    high = 1
    while not holds(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while high - low > max(1, high // 10):
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def at_rest_pressure(points, triangles, gas):
    """Pressure [Pa] of a gas of nRT [J] at the volume of a mesh."""
    return gas / float(reference.volume(points, triangles))


def uv_sphere(stacks, slices, radius, centre=(0.0, 0.0, 0.0)):
    """Sphere of stacks and slices, two poles: positions, and outward triangles."""
    polar = np.pi * np.arange(1, stacks) / stacks
    around = 2.0 * np.pi * np.arange(slices) / slices
    ring = np.stack([np.cos(around), np.sin(around)], axis=-1)
    points = [(0.0, 0.0, 1.0)]
    points += [(s * x, s * y, c) for s, c in zip(np.sin(polar), np.cos(polar), strict=True) for x, y in ring]
    points.append((0.0, 0.0, -1.0))
    last = len(points) - 1
    triangles = []
    for k in range(slices):
        right = (k + 1) % slices
        triangles.append((0, 1 + k, 1 + right))
        triangles.append((last, last - slices + right, last - slices + k))
        for row in range(stacks - 2):
            a, b = 1 + row * slices + k, 1 + row * slices + right
            triangles += [(a, a + slices, b + slices), (a, b + slices, b)]
    return radius * np.array(points) + np.asarray(centre, float), np.array(triangles)


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


def shape_of(world, body=0):
    """How round a body is: its height over its mean width."""
    extent = np.ptp(world.positions(body), axis=0)
    return float(extent[2] / (0.5 * (extent[0] + extent[1])))
