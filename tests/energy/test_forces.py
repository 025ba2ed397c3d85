"""Every kernel of the forces against its slow twin, every energy against its own finite differences.

Bending is in `test_bend.py`.
"""

import numpy as np
import pytest
import reference
from force_scene import (
    AMBIENT,
    GAUGE,
    MASS,
    MODULUS,
    ROUNDING,
    Scene,
    check_gradient,
    close,
    skins_at,
    spring_energies,
)
from softpressure_ext.core.energy import gas
from validation import validated


@pytest.fixture(params=range(3))
def scene(request):
    return Scene(request.param)


# --- the kernels as functions of positions ----------------------------------------------------------------------


def stretch_terms(scene, x):
    return spring_energies(scene.model, x).sum(), skins_at(scene.model, x)[1][0]


def gas_terms(scene, x, amount):
    model = scene.model
    skins, (_, _, gradient) = skins_at(model, x, amount)
    volume, pressure = skins.gas.volume, skins.gas.pressure
    law = volume, model.rest_volume, amount, model.gas_base, model.gas_exponent
    _, stiffness, energy = np.transpose([gas.gas_law(*each) for each in zip(*law, strict=True)])
    force = pressure[model.point_body[: model.vertex_count], None] * gradient
    return energy.sum(), force, (gradient, volume, pressure, stiffness)


# --- topology and masses that the forces rest on -----------------------------------------------------------------


def test_springs_and_masses_follow_the_rest_mesh(scene):
    model = scene.model
    first = edge = 0
    for k, (x, triangles) in enumerate(scene.meshes):
        place = model.point_of_vertex[first : first + len(x)]
        close(model.vertex_mass[place], reference.vertex_masses(x, triangles, MASS[k]), ROUNDING)
        edges, lengths, constants = reference.springs(x, triangles, MODULUS[k])
        ours = {tuple(sorted(p)): number for number, p in enumerate(model.edges.points.tolist())}
        number = [ours[tuple(sorted(place[list(pair)].tolist()))] for pair in edges]
        close(model.edges.rest_length[number], lengths, ROUNDING)
        close(model.edges.stiffness[number], constants, ROUNDING)
        first, edge = first + len(x), edge + len(edges)
    assert edge == len(model.edges.points)


# --- stretch ---------------------------------------------------------------------------------------------------


def test_stretch_equals_its_twin(scene):
    expected = [
        reference.stretch(moved, *reference.springs(x, triangles, MODULUS[k]))
        for k, ((x, triangles), moved) in enumerate(zip(scene.meshes, scene.moved, strict=True))
    ]
    energy, force = stretch_terms(scene, scene.x)
    validated(
        "energy of stretch", room="energy", measured=energy, expected=sum(e for e, _ in expected), unit="J",
        rel=ROUNDING, source="springs one by one in plain numpy", reason="rounding",
    )  # fmt: skip
    close(force, scene.inner([f for _, f in expected]), ROUNDING)


def test_stretch_force_is_minus_the_gradient(scene):
    check_gradient(lambda x: stretch_terms(scene, x), scene.x, scene.direction())


# --- gas -------------------------------------------------------------------------------------------------------


def amounts(scene):
    return (np.array(GAUGE) + AMBIENT) * scene.model.rest_volume


# full, squeezed below a twentieth of its volume (0.3^3), and inside out
@pytest.mark.parametrize("scale", [1.1, 0.3, -0.8])
def test_gas_equals_its_twin(scene, scale):
    expected = []
    for k, ((x, triangles), moved) in enumerate(zip(scene.meshes, scene.moved, strict=True)):
        rest_volume = reference.volume(x, triangles)
        assert scene.model.rest_volume[k] == pytest.approx(rest_volume, rel=ROUNDING)
        expected.append(reference.gas(scale * moved, triangles, rest_volume, amounts(scene)[k], AMBIENT))
    energy, force, terms = gas_terms(scene, scale * scene.x, amounts(scene))
    validated(
        "energy of gas", room="energy", measured=energy, expected=sum(e for e, *_ in expected), unit="J",
        rel=ROUNDING, source="-nRT ln(V / V0) + pa (V - V0) in plain numpy", reason="rounding",
    )  # fmt: skip
    close(force, scene.inner([f for _, f, *_ in expected]), ROUNDING)
    for number in range(3):
        close(terms[1 + number], [values[number] for *_, values in expected], ROUNDING)


@pytest.mark.parametrize("scale", [1.0, 0.3, -0.8])
def test_gas_force_is_minus_the_gradient(scene, scale):
    check_gradient(lambda x: gas_terms(scene, x, amounts(scene))[:2], scale * scene.x, scene.direction())


def test_gas_law_is_smooth_where_the_parabola_begins():
    for rest_volume, exponent in ((1.0, 1.0), (1e-3, 1.0), (1e-3, 1.4), (1.0, 0.0)):
        edge = gas.SMALLEST_VOLUME_SHARE * rest_volume
        above, below = (gas.gas_law(edge * (1 + s), rest_volume, 500.0, AMBIENT, exponent) for s in (1e-9, -1e-9))
        # a step of 2e-9 of the volume changes 1/V^2 by 4e-9 of itself
        np.testing.assert_allclose(above, below, rtol=1e-8)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.4])
@pytest.mark.parametrize("volume", [0.02, 0.5, 1.7])
def test_the_pressure_is_the_slope_of_the_energy_of_a_gas_and_the_stiffness_that_of_the_pressure(volume, exponent):
    low, now, high = (gas.gas_law(volume + step, 1.0, 500.0, AMBIENT, exponent) for step in (-1e-6, 0.0, 1e-6))
    assert now[0] == pytest.approx((low[2] - high[2]) / 2e-6, rel=1e-6)
    assert now[1] == pytest.approx((low[0] - high[0]) / 2e-6, rel=1e-5, abs=1e-4)


def test_gas_is_as_accurate_a_kilometre_away(scene):
    _, force, (_, volume, _, _) = gas_terms(scene, scene.x, amounts(scene))
    far = gas_terms(scene, scene.x + [1000.0, -700.0, 300.0], amounts(scene))
    # positions are rounded to 1e-13 m, edges of 0.05 m to 2e-12 of themselves
    validated(
        "volume of a skin a kilometre away", room="energy", measured=far[2][1], expected=volume, unit="m³", rel=1e-11,
        source="at the origin", reason="positions are rounded to 1e-13 m there",
    )  # fmt: skip
    close(far[1], force, 1e-9)
