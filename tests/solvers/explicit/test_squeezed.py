"""Skins that are squeezed between given bodies and pins: work has a bound, nothing diverges, no energy comes of it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from explicit_scene import contact_energy, world_of
from rigid_scene import block
from scenes import energy
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.solvers.explicit.arrays import WORK
from softpressure_ext.core.solvers.explicit.attempt import MOST_WORK
from softpressure_ext.core.solvers.notes import Finding, Reason

SKIN = {
    "mass": 1.0, "gauge_pressure": 2e3, "stretch_modulus": 2e4, "damping": 2.0, "friction": 0.5, "self_collision": True,
}  # fmt: skip
#: Work of a frame may exceed its bound by that of the search in which it is reached.
LAST_SEARCH = 1.1
#: Frames in which bodies are driven (pins jump in the fourth), and in which they are held after that.
DRIVEN, JUMPED, STILL = 24, 6, 8

Driven = Callable[[int], FrameInput]


def add_plate(builder: ModelBuilder, name: str, low: float) -> np.ndarray:
    """A plate whose lower side is at a height [m]; returns its corners."""
    corners, triangles = block((3.0, 3.0, 0.1), (0.0, 0.0, low + 0.05))
    builder.add_collider(name, corners, triangles, friction=0.5)
    return corners


def pressed(corners: np.ndarray, way: float, turn: float) -> Driven:
    """A plate that goes down by a way [m] and turns by an angle."""

    def given(frame: int) -> FrameInput:
        share = min(frame / DRIVEN, 1.0)
        turned = corners @ shapes.rotation((0.0, 0.0, 1.0), -turn * share)
        return FrameInput(collider_positions={1: turned - (0.0, 0.0, way * share)})

    return given


def plates() -> tuple[ModelBuilder, Driven]:
    """A ball of 642 vertices between plates, pressed to 8 % of its height, while one of them turns."""
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(3, 0.5, (0.0, 0.0, 0.51)), **SKIN)
    add_plate(builder, "lower", -0.1)
    return builder, pressed(add_plate(builder, "upper", 1.03), 0.95, 1.5)


def press() -> tuple[ModelBuilder, Driven]:
    """Five balls under a press to 50 mm."""
    builder = ModelBuilder()
    for number, (x, y) in enumerate(((0.0, 0.0), (0.45, 0.45), (-0.45, 0.45), (0.45, -0.45), (-0.45, -0.45))):
        builder.add_membrane(f"ball {number}", *shapes.icosphere(2, 0.3, (x, y, 0.31)), **SKIN)
    add_plate(builder, "floor", -0.1)
    return builder, pressed(add_plate(builder, "press", 0.63), 0.58, 0.0)


def tube() -> tuple[ModelBuilder, Driven]:
    """A tube that is twisted at both ends."""
    around, along, length, radius = 16, 24, 1.2, 0.2
    ring, height = np.arange(around), np.arange(along + 1)
    angle = 2.0 * np.pi / around * (ring + 0.5 * (height[:, None] % 2))
    z = np.broadcast_to(length / along * height[:, None], angle.shape)
    x = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=-1).reshape(-1, 3)
    first = len(x)
    triangles = [(first, (i + 1) % around, i) for i in ring]
    triangles += [(first + 1, around * along + i, around * along + (i + 1) % around) for i in ring]
    for k in range(along):
        for i in ring:
            p, q = k * around + i, k * around + (i + 1) % around
            r, s = p + around, q + around
            triangles += [(p, q, r), (q, s, r)] if k % 2 == 0 else [(p, q, s), (p, s, r)]
    x = np.concatenate([x, [(0.0, 0.0, 0.0), (0.0, 0.0, length)]])
    ends = np.flatnonzero((x[:, 2] == 0.0) | (x[:, 2] == length))
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane("tube", x, np.array(triangles, np.int32), pinned=ends, **SKIN)

    def given(frame: int) -> FrameInput:
        angle = 0.15 * min(frame, DRIVEN)
        turns = [shapes.rotation((0.0, 0.0, 1.0), sign * angle).T for sign in (1.0, -1.0)]
        return FrameInput(
            pinned_positions={0: np.where(x[ends, 2:] < 0.5 * length, x[ends] @ turns[0], x[ends] @ turns[1])}
        )

    return builder, given


def airbag() -> tuple[ModelBuilder, Driven]:
    """A flat bag that is drawn folded in five pleats, and inflated."""
    pleats, along, across, lean, thickness = 5, 30, 6, np.radians(75.0), 0.004
    part = 1.0 / pleats
    s = np.linspace(0.0, 1.0, along + 1)
    number = np.minimum(s // part, pleats - 1).astype(int)
    up = np.where(number % 2 == 0, s - number * part, (number + 1) * part - s)
    middle = np.stack([s * np.cos(lean), up * np.sin(lean)], axis=1)
    tangent = np.gradient(middle, axis=0)
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1) / np.linalg.norm(tangent, axis=1)[:, None]
    place: dict[tuple[int, int, int], int] = {}
    x: list[tuple[float, float, float]] = []

    def point(i: int, j: int, side: int) -> int:
        side = 0 if i in (0, along) or j in (0, across) else side
        if (i, j, side) not in place:
            place[i, j, side] = len(x)
            along_x, height = middle[i] + 0.5 * side * thickness * normal[i]
            x.append((along_x, 0.4 * j / across - 0.2, height + 0.1))
        return place[i, j, side]

    triangles = []
    for side in (1, -1):
        for i in range(along):
            for j in range(across):
                a, b, c, d = (point(i + p, j + q, side) for p, q in ((0, 0), (1, 0), (1, 1), (0, 1)))
                both = [(a, b, c), (a, c, d)] if (i + j) % 2 == 0 else [(a, b, d), (b, c, d)]
                triangles += both if side > 0 else [corners[::-1] for corners in both]
    builder = ModelBuilder()
    skin = SKIN | {"mass": 0.3, "gauge_pressure": 3e3, "stretch_modulus": 1e4}
    builder.add_membrane("bag", np.array(x), np.array(triangles, np.int32), **skin)
    add_plate(builder, "floor", -0.1)
    return builder, lambda _frame: FrameInput()


def in_one_plane(pinned: Callable[[np.ndarray], np.ndarray]) -> tuple[ModelBuilder, Driven]:
    """Pins of a ball that jump into one plane within a frame."""
    builder = ModelBuilder()
    x, triangles = shapes.icosphere(2, 0.25, (0.0, 0.0, 0.6))
    pins = np.flatnonzero(pinned(x))
    builder.add_membrane("ball", x, triangles, pinned=pins, **SKIN)

    def given(frame: int) -> FrameInput:
        there = x[pins].copy()
        if frame > 3:
            there[:, 2] = 0.6
        return FrameInput(pinned_positions={0: there})

    return builder, given


def pins_of_a_half() -> tuple[ModelBuilder, Driven]:
    return in_one_plane(lambda x: x[:, 2] > 0.55)


def every_second_pin() -> tuple[ModelBuilder, Driven]:
    return in_one_plane(lambda x: np.arange(len(x)) % 2 == 0)


SCENES = {scene.__name__: scene for scene in (plates, press, tube, airbag, pins_of_a_half, every_second_pin)}


class Result(NamedTuple):
    """What came of a scene."""

    world: World
    work: int  # most of a frame
    told: list[Finding]  # of bodies that had no room
    energies: list[float]  # where bodies are held, of all frames [J]
    held: float  # by contacts, when bodies begin to be held [J]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """Of the scenes that have been simulated."""
    return {}


def result(name: str, results: dict[str, Result]) -> Result:
    """Of a scene."""
    if name in results:
        return results[name]
    builder, given = SCENES[name]()
    world = world_of(builder)
    solver: Any = world._solver
    work, told, energies, held = 0, [], [], 0.0
    driven = JUMPED if "pin" in name else DRIVEN
    for frame in range(1, driven + STILL + 1):
        world.advance_frame(given(frame))
        work = max(work, int(solver.space.contact.run.state[WORK]))
        told += [note for note in solver.notes().findings if note.reason in (Reason.STOPPED, Reason.NO_ROOM)]
        if frame >= driven:
            energies.append(energy(world))
        if frame == driven:
            held = contact_energy(world)
    results[name] = Result(world, work, told, energies, held)
    return results[name]


@pytest.mark.parametrize("name", SCENES)
def test_work_has_a_bound_and_what_has_no_room_is_told(name: str, results: dict[str, Result]) -> None:
    world, work, told, _, _ = result(name, results)
    # layers on each other are not searched for in each step anew
    assert work <= (LAST_SEARCH if "pin" in name else 0.1) * MOST_WORK
    for finding in told:
        assert finding.gap is not None and np.isfinite(finding.gap)
        assert all(world.model.body_names[body] in finding.text(world.model.body_names) for body in finding.bodies)
    if "pin" in name:  # pins are given, also where they cross each other
        assert told
    else:
        assert_nothing_crosses(world)


@pytest.mark.parametrize("name", SCENES)
def test_what_is_held_gains_no_energy(name: str, results: dict[str, Result]) -> None:
    """But what contacts give back: bodies were pressed nearer to each other than they stay."""
    found = result(name, results)
    first = found.energies[0]
    assert max(found.energies) <= first + found.held + 1e-3 * abs(first)


def test_a_body_that_springs_back_from_far_looks_for_what_is_near_it_only() -> None:
    """A skin 1.2 times as large as at rest contracts at 90 m/s: in 25 steps its points would meet all others."""
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(3, 0.4, (0.0, 0.0, 2.0)), **SKIN)
    world = world_of(builder)
    state = world.save()
    state.positions[:] = 1.2 * state.positions
    world.load(state)
    world.advance_frame()
    solver: Any = world._solver
    assert np.linalg.norm(world.velocities(0), axis=1).max() > 30.0
    assert solver.space.contact.run.state[WORK] < 0.5 * MOST_WORK
    assert not [note for note in solver.notes().findings if note.reason in (Reason.STOPPED, Reason.NO_ROOM)]
    assert_nothing_crosses(world)
