"""Longest stable steps with dampers along springs: by eigenvalues, by bodies that breathe, and as recommended."""

import numpy as np
import pytest
from damped_bodies import Breathing, dented_ball
from scenes import advance, energy, played
from softpressure_ext.core import DivergenceError, MethodOptions
from softpressure_ext.core.papers.forces import SoftForces
from softpressure_ext.core.papers.schemes import SCHEMES, Scheme, stable_angle
from softpressure_ext.core.papers.stability import stable_time, stiffest_frequency
from softpressure_ext.core.solvers.choice import FORCE_BASED

RATIOS = (0.1, 0.3, 0.5)
#: Not offered: it has no velocity of a step's end in its positions.
FORWARD_EULER = Scheme((0.0,), ((),), ((),), (0.0,), (1.0,))


def largest_angle(factor, ratio):
    """h w up to which |factor(h lambda)| is at most 1, by bisection; lambda: the damped oscillator's eigenvalue / w."""
    eigenvalue = complex(-ratio, np.sqrt(1.0 - ratio**2))
    low, high = 1e-3, 4.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if abs(factor(middle * eigenvalue)) <= 1.0 else (low, middle)
    return low


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_stable_angles_over_the_damping_ratio(ratio):
    """Found in steps of 0.005, for a growth of 1e-4 a step, which moves the limits by less than that."""
    heun = largest_angle(lambda z: 1.0 + z + z * z / 2.0, ratio)
    rk4 = largest_angle(lambda z: 1.0 + z + z * z / 2.0 + z**3 / 6.0 + z**4 / 24.0, ratio)
    assert stable_angle(SCHEMES["HEUN"], ratio) == pytest.approx(heun, abs=0.01)
    assert stable_angle(SCHEMES["RK4"], ratio) == pytest.approx(rk4, abs=0.01)
    # z^2 + 4 ratio z = 4: minus the trace of a step is its determinant plus 1
    symplectic = 2.0 * (np.sqrt(1.0 + ratio**2) - ratio)
    assert stable_angle(SCHEMES["EXPLICIT_EULER"], ratio) == pytest.approx(symplectic, abs=0.006)
    assert stable_angle(FORWARD_EULER, ratio) == pytest.approx(2.0 * ratio, abs=0.006)


@pytest.mark.parametrize("ratio", [5.0, 1e3])
def test_heavily_damped_oscillations_have_a_limit_too(ratio):
    # 2 / (2 ratio) of Heun's and Euler's steps on the real axis; the slow root shifts it by 1 / (2 ratio)^2
    for name in ("HEUN", "EXPLICIT_EULER"):
        assert stable_angle(SCHEMES[name], ratio) * ratio == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("method", ["HEUN", "EXPLICIT_EULER", "RK4"])
def test_a_body_breathes_up_to_the_stable_angle(method, ratio):
    """It is the stiffest oscillation of a cell: 3 % below its limit it decays, 3 % above it grows."""
    body = Breathing("TRUSS", ratio)
    limit = stable_angle(SCHEMES[method], ratio) / body.frequency
    sizes = []
    for share in (0.97, 1.03):
        world = body.world(method, share * limit, strain=1e-6)
        sizes.append(0.0)
        try:
            for _ in played(world, 120):
                e, speed = body.strain(world)
                sizes[-1] = max(abs(e), abs(speed) / body.frequency)
        except DivergenceError:
            sizes[-1] = np.inf
    assert sizes[0] < 1e-6 < sizes[1]


RECOMMENDED = [(method, eta, "SIMPLIFIED") for method in FORCE_BASED for eta in (1.0, 300.0)]
RECOMMENDED += [(method, 0.0, "ALL") for method in ("EXPLICIT_EULER", "HEUN", "RK4")]


@pytest.mark.parametrize(("method", "eta", "neighbours"), RECOMMENDED)
def test_the_step_that_is_recommended_holds_with_dampers(method, eta, neighbours):
    """A dented ball under pressure that is let go loses energy, with the bodies' losses of any ratio."""
    world = dented_ball(method, eta)
    gas = (world.model.gauge_pressure + world.model.ambient_pressure) * world.model.rest_volume
    step = stable_time(world.model, SoftForces(world.model), method, gas, neighbours == "ALL")
    world = dented_ball(method, eta, step, options=MethodOptions(neighbour_damping=neighbours))
    start = energy(world)
    advance(world, 300)  # would raise `DivergenceError`
    assert energy(world) < start


@pytest.mark.parametrize("kind", ["SKIN", "LOOP", "FLAT_TRUSS"])
def test_without_its_springs_a_body_without_gas_does_not_oscillate(kind):
    breathing = Breathing(kind)
    model = breathing.model
    forces, gas = SoftForces(model), np.zeros(model.membrane_count)
    stiffest = stiffest_frequency(model, forces, gas)
    assert stiffest > 0.99 * breathing.frequency
    # differences of forces of 1e-6 of an edge leave a millionth of the stiffness
    assert stiffest_frequency(model, forces, gas, without_springs=True) < 1e-3 * stiffest
