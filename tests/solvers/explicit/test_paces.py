"""Bodies of which each acts at its own pace: the motion that it has alone, exact momenta, no energy."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from explicit_scene import paces_of_free, shaken, world_of
from scenes import advance, energy, played
from softpressure_ext.core import DivergenceError, ModelBuilder, World
from softpressure_ext.core.solvers.explicit import paces

#: A body of few long steps, and one beside it that takes some ten times as many.
SOFT = {"mass": 1.0, "stretch_modulus": 1e4, "bend_modulus": 0.01, "gauge_pressure": 1e3}
STIFF = {"mass": 0.05, "stretch_modulus": 2e5, "bend_modulus": 0.01, "gauge_pressure": 2e4}
FAR = (0.0, 30.0, 0.0)


def made(*, others: bool, gravity: float = 0.0, solid: bool = False, **options: object) -> ModelBuilder:
    """The soft body, and with `others` the stiff one far from it, which sets the length of the steps."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -gravity))
    if solid:
        builder.add_solid(
            "jelly", *shapes.icosphere(2, 0.3), **{"mass": 5.0, "modulus": 1e4, "damping": 0.0, **options}
        )
    else:
        builder.add_membrane("ball", *shapes.icosphere(3, 0.3), **{**SOFT, "damping": 0.0, **options})
    if others:
        builder.add_membrane("far", *shapes.icosphere(2, 0.1, FAR), **{**STIFF, "damping": 0.0})
    return builder


def paces_of(world: World) -> list[int]:
    """Steps of which the forces of each body act in one, in the last run."""
    return world._solver._scene.skins.paces.every[:, 0].tolist()


def own(world: World) -> slice:
    """Vertices of the first body."""
    return slice(*world.model.body_point_start[:2])


@pytest.mark.parametrize("options", [{}, {"solid": True}, {"spring_damping": 3.0}, {"bend_modulus": 0.3}],
                         ids=["skin", "jelly", "dampers", "stiff hinges"])  # fmt: skip
def test_a_body_moves_as_if_it_were_alone(options: dict[str, object]) -> None:
    """A quarter of a second after a push of a hundredth of the size: the same shape to a twentieth of the push."""
    ends = []
    for others in (False, True):
        world = world_of(made(others=others, gravity=9.81, **options))
        state = world.save()
        x = state.positions[own(world)]
        x += 0.01 * x[:, [2]] ** 2 * x / 0.3**2
        world.load(state)
        advance(world, 6)
        ends.append(world.positions(0))
        assert (paces_of(world)[0] > 2) == others
    assert np.abs(ends[0] - ends[1]).max() < 2e-4


@pytest.mark.parametrize("most", [2, 3, paces.MOST_EVERY])
@pytest.mark.parametrize("solid", [False, True], ids=["skin", "jelly"])
def test_what_swings_at_every_frequency_gains_no_energy_and_keeps_its_momenta(
    solid: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paces, "MOST_EVERY", most)
    world = shaken(world_of(made(others=True, solid=solid)), 0.5)
    assert max(paces_of_free(world, lambda world: paces_of(world)[0])) > 1  # until the other one sleeps


def test_a_slower_pace_than_is_stable_would_explode(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body alone, whose forces act in one of three of the longest steps that are stable."""
    monkeypatch.setattr(
        "softpressure_ext.core.solvers.explicit.solver.set_paces", lambda found, *_: found.every.fill(3)
    )
    world = shaken(world_of(made(others=False, self_collision=False)), 1e-3)
    with pytest.raises(DivergenceError, match=r"^ball: the motion grows"):
        world.advance_frame()


def test_free_fall_is_that_of_the_closed_form() -> None:
    world = world_of(made(others=True, gravity=9.81))
    advance(world, 12)
    assert paces_of(world)[0] > 2
    for body in range(2):
        fallen = world.positions(body).mean(axis=0)[2]
        assert fallen == pytest.approx(-0.5 * 9.81 * 0.25 + 0.0, abs=1e-9)


def test_a_soft_ball_between_stiff_ones_gains_nothing_and_nothing_crosses() -> None:
    """Three balls, the stiff ones fall on the soft one."""
    builder = ModelBuilder()
    builder.add_collider("floor", *shapes.grid(10.0, 2))
    builder.add_membrane("soft", *shapes.icosphere(3, 0.3, (0.0, 0.0, 0.301)), **SOFT)
    for number in range(2):
        centre = (0.12 * (2 * number - 1), 0.03, 0.75 + 0.01 * number)
        builder.add_membrane(f"stiff {number}", *shapes.icosphere(2, 0.1, centre), **{**STIFF, "mass": 0.5})
    world = world_of(builder)
    start = found = energy(world)
    for _ in played(world, 48):
        assert energy(world) <= start * 1.001
        found = min(found, energy(world))
        assert_nothing_crosses(world)
    assert paces_of(world)[0] > 2 and found < start


@pytest.mark.parametrize("steps", [1, 2, 7, 40, 41, 209])
def test_in_a_run_each_body_acts_for_as_many_steps_as_it_has(steps: int) -> None:
    paces_of_bodies = [n for n in (1, 2, 3, 4, 5, 9, 31) if n % 2 or steps % n == 0]
    every = np.array([[n, n * m] for n in paces_of_bodies for m in (1, 3, 7) if n * m <= steps] or [[1, 1]])
    found, state = paces.paces_of(len(every)), np.zeros(64, np.int64)
    found.every[:] = every
    total, last = np.zeros_like(every), every[:, 0] // 2 - every[:, 0]
    for step in range(steps):
        state[paces.STEP] = step
        paces.set_due.py_func(found, state, steps, 0.5)
        total += found.due
        acts = found.due[:, 0] > 0
        np.testing.assert_allclose(1.0 / found.rate[acts], 0.5 * (step - last[acts]))
        last[acts] = step
        assert (found.due[:, 1][~acts] == 0).all()  # soft hinges only act with their body
    assert (total == steps).all()


def test_the_pace_with_the_least_work_is_taken() -> None:
    found = paces.paces_of(4)
    paces.set_paces(found, np.array([0.5, 2.5, 4.25, 1e9]), 40)
    assert found.every[:, 0].tolist() == [1, 5, 8, 40]
    paces.set_paces(found, np.array([0.5, 1.3, 4.25, np.inf]), 41)
    assert found.every[:, 0].tolist() == [1, 1, 5, 0]
    np.testing.assert_array_equal(found.every[:, 0], found.every[:, 1])
