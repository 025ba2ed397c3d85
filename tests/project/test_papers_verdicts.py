"""What docs/papers.md says of the five texts, recomputed with code of its own: numpy and the listings of the texts."""

import importlib
import math

import numba
import numpy as np
import pytest
import reference
import shapes
from scipy.spatial.transform import Rotation
from softpressure_ext.core import MethodOptions, ModelBuilder, World
from softpressure_ext.core.bodies.lattice.cells import CELL_TETRAHEDRA, tetrahedron_volumes
from softpressure_ext.core.energy.volume import bulk_stiffness

papers = importlib.import_module("softpressure_ext.experiments.run")
flattened, kurmaly, martin, mesit = (papers.PAGE.module(name) for name in ("flattened", "kurmaly", "martin", "mesit"))
VALUES = {name: section["values"] for name, section in papers.PAGE.kept().items()}
H = 1.0 / 60.0


class Skin:
    """Springs and gas of a closed mesh, nothing outside: forces by their formulas."""

    def __init__(self, x, triangles, spring, gas, scaled=False, mass=1.0):
        sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        self.edges, self.triangles, self.spring, self.gas = np.unique(sides, axis=0), triangles, spring, gas
        self.rest = np.linalg.norm(x[self.edges[:, 0]] - x[self.edges[:, 1]], axis=1)
        count = np.bincount(self.edges.ravel(), minlength=len(x))
        self.share, self.mass = (count / count.mean())[:, None] if scaled else 1.0, mass

    def force(self, x):
        i, j = self.edges.T
        d = x[j] - x[i]
        length = np.linalg.norm(d, axis=1)
        pull = (self.spring * (length - self.rest) / length)[:, None] * d
        a, b, c = (x[self.triangles[:, k]] for k in range(3))
        area = np.cross(b - a, c - a) / 6.0
        volume = np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0
        force, push = np.zeros_like(x), np.zeros_like(x)
        np.add.at(force, i, pull)
        np.subtract.at(force, j, pull)
        for corner in range(3):
            np.add.at(push, self.triangles[:, corner], self.gas / volume * area)
        push = self.share * push
        return force + push - push.mean(axis=0)


# --- Martin -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mass", "stays"), [(0.1, True), (0.05, False)])
def test_his_sphere_stands_by_its_mass_and_not_by_its_damping(mass, stays):
    x, triangles = shapes.uv_sphere(8, 8)
    skin, v = Skin(x, triangles, 150.0, 100.0 * 8.314462618, scaled=True, mass=mass), np.zeros_like(x)
    rho = 0.01 + 0.99 * 150.0 / 400.0
    with np.errstate(all="ignore"):
        for _ in range(300):
            x, v = reference.rk4_martin(skin, x, v, H)
            v = v - rho * v  # his damping of 3.1.3
            if not np.abs(x).max() < 10.0:
                break
        calm = bool(np.abs(v).max() < 1e-6)
    assert calm == stays
    assert VALUES["martin"]["light"] == "8"


def test_pressure_by_springs_alone_makes_his_sphere_rounder():
    """3.1.2: gradient descent to the equilibrium of springs and pressure, even and scaled."""
    spread = {}
    for scaled in (False, True):
        x, triangles = shapes.uv_sphere(8, 8)
        skin = Skin(x, triangles, 150.0, 100.0 * 8.314462618, scaled)
        for _ in range(6000):
            x = x + 1e-3 * skin.force(x)
        assert np.abs(skin.force(x)).max() < 1e-3
        away = np.linalg.norm(x - x.mean(axis=0), axis=1)
        spread[scaled] = 100.0 * away.std() / away.mean()
    assert spread[True] < spread[False]
    for scaled, key in ((False, "even"), (True, "scaled")):
        assert float(VALUES["martin"][key]) == pytest.approx(spread[scaled], rel=0.05)  # two digits are told


@pytest.mark.parametrize(("sides", "error"), [((3.0, 2.0, 1.0), 0.0186), ((1.0, 1.0, 1.0), 0.0)])
def test_rigid_bodies_as_printed(sides, error):
    """A constant omega: energy stays, and I(t) omega is that of the orientation exp(omega t), in closed form."""
    sides, omega = np.array(sides), np.array([0.1, 2.0 * np.pi, 0.1])
    inertia = np.diag(sides @ sides - sides**2) / 12.0
    turns = Rotation.from_rotvec(np.outer(np.arange(601) * H, omega)).as_matrix()
    spin = turns @ inertia @ np.swapaxes(turns, 1, 2) @ omega
    worst = np.linalg.norm(spin - spin[0], axis=1).max() / np.linalg.norm(spin[0])
    assert worst == pytest.approx(error, abs=1e-4)
    energy, momentum = martin.euler_cromer(sides, 10.0)
    assert np.abs(energy).max() < 1e-12
    assert np.abs(momentum).max() == pytest.approx(worst, abs=1e-12)


def test_the_gyroscopic_term_that_he_does_not_have_makes_euler_cromer_drift():
    """Euler's equations in the body, one step of Euler's method each: 35 % in energy, 16 % in angular momentum."""
    inertia, omega, turn = np.array([5.0, 10.0, 13.0]) / 12.0, np.array([0.1, 2.0 * np.pi, 0.1]), Rotation.identity()
    start, errors = inertia * omega, [(0.0, 0.0)]
    for _ in range(600):
        omega = omega - H * np.cross(omega, inertia * omega) / inertia
        turn = turn * Rotation.from_rotvec(H * omega)
        spin = inertia * omega
        errors.append((omega @ spin / (start @ (start / inertia)) - 1.0, np.linalg.norm(turn.apply(spin) - start)))
    energy, momentum = np.abs(errors).max(axis=0)
    assert energy == pytest.approx(0.35, abs=0.01) and momentum / np.linalg.norm(start) == pytest.approx(0.16, abs=0.01)
    found = martin.euler_cromer(martin.BOX, 10.0, gyroscopic=True)
    assert [np.abs(part).max() for part in found] == pytest.approx([energy, momentum / np.linalg.norm(start)], rel=1e-6)


# --- Kurmaly and Wu ---------------------------------------------------------------------------------------------------


def areas_of(outline):
    """Box and fan over the shoelace area, and whether the box's centre is inside, by the winding of its angles."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    a = outline - 0.5 * (low + high)
    b = np.roll(a, -1, axis=0)
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    angle = np.arctan2(cross, np.einsum("ij,ij->i", a, b)).sum()
    exact = abs(cross.sum())
    return 2.0 * np.prod(high - low) / exact, np.abs(cross).sum() / exact, abs(angle) > np.pi


def test_areas_by_box_and_fan():
    found, nearer, outside = kurmaly.areas(), [], []
    for name, outline in kurmaly.outlines().items():
        box, fan, inside = areas_of(outline)
        assert found[name]["EXACT"] == pytest.approx(1.0, abs=1e-12)
        assert found[name]["BOUNDING_BOX"] == pytest.approx(box) and found[name]["CENTRE_FAN"] == pytest.approx(fan)
        assert kurmaly.has_centre(outline) == inside
        if not inside:
            outside.append(name)
            nearer += [name] if fan < box else []
    assert (found["letter L"]["BOUNDING_BOX"], found["letter L"]["CENTRE_FAN"]) == pytest.approx((9 / 5, 7 / 5))
    assert 0 < len(nearer) < len(outside)  # neither is right of all, as the page says
    told = VALUES["kurmaly"]
    assert (int(told["nearer"]), int(told["outside"])) == (len(nearer), len(outside))


@pytest.mark.parametrize("substeps", [10, 80])
def test_reflection_adds_energy_at_the_first_bounce_for_sure(substeps):
    """The truss in the plane by Kutta's method and mirror images: what it has gained after each bounce."""
    model = kurmaly.truss_model(0.0, 0.0, damping=0.0, gap=kurmaly.BOUNCE_DROP)
    pairs, first = np.unique(np.sort(model.edges.points // 2, axis=1), axis=0, return_inverse=True)
    n, (i, j), h = model.vertex_count, pairs.T, H / substeps
    spring = np.bincount(first.ravel(), model.edges.stiffness)  # both copies of an edge
    x = 0.5 * (model.rest_positions[:n:2] + model.rest_positions[1:n:2])[:, [0, 2]]
    mass, v = 2.0 * model.vertex_mass[::2, None], np.zeros_like(x)
    rest = np.linalg.norm(x[j] - x[i], axis=1)

    def acceleration(x):
        d = x[j] - x[i]
        length = np.linalg.norm(d, axis=1)
        pull, force = (spring * (length - rest) / length)[:, None] * d, np.zeros_like(x)
        np.add.at(force, i, pull)
        np.subtract.at(force, j, pull)
        return force / mass - (0.0, kurmaly.GRAVITY)

    def energy():
        stretch = np.linalg.norm(x[j] - x[i], axis=1) - rest
        height = kurmaly.GRAVITY * (mass[:, 0] @ x[:, 1])
        return 0.5 * (mass * v * v).sum() + height + 0.5 * spring @ stretch**2

    start, gains = energy(), []
    for _ in range(66):
        for _ in range(substeps):
            k1, a1 = v, acceleration(x)
            k2, a2 = v + h / 2 * a1, acceleration(x + h / 2 * k1)
            k3, a3 = v + h / 2 * a2, acceleration(x + h / 2 * k2)
            k4, a4 = v + h * a3, acceleration(x + h * k3)
            x, v = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            below = x[:, 1] < 0.0
            x[below, 1], v[below, 1] = -x[below, 1], -v[below, 1]
        gains.append((energy() - start) / (kurmaly.MASS * kurmaly.GRAVITY * kurmaly.BOUNCE_DROP))
    after = [gains[round(60 * seconds) - 1] for seconds in kurmaly.FLIGHTS]
    place = list(kurmaly.BOUNCE_SUBSTEPS).index(substeps)
    told = [float(VALUES["kurmaly"][key].split(", ")[place]) / 100.0 for key in ("first", "second", "flown")]
    assert after[0] == pytest.approx(0.0, abs=1e-6)  # it has not touched the ground
    assert after[1] == pytest.approx(told[0], rel=0.02, abs=0.005) and after[1] > 0.0  # two digits are told
    assert after[3] == pytest.approx(told[1], rel=0.1)  # what rings is sensitive to rounding by then
    assert after[1] - after[2] == pytest.approx(told[2], rel=0.1, abs=0.005)
    assert (told[2] > 0.03) == (substeps == 10)  # RK4 damps what rings near its limit


# --- the XPBD page ----------------------------------------------------------------------------------------------------


@numba.njit
def slope(x, p, q, r, g):
    """A sixth of (q - p) x (r - p), to g; returns its square."""
    total = 0.0
    for k in range(3):
        m, n = (k + 1) % 3, (k + 2) % 3
        g[k] = ((x[q, m] - x[p, m]) * (x[r, n] - x[p, n]) - (x[q, n] - x[p, n]) * (x[r, m] - x[p, m])) / 6.0
        total += g[k] * g[k]
    return total


@numba.njit
def page_substep(x, v, mass, edges, lengths, edge_alpha, cells, volumes, cell_alpha, h, calm):
    """The page's listing: predict, all edges, all volumes of compliances alpha, velocities from positions."""
    before, g = x.copy(), np.empty((4, 3))
    x += h * v
    for e in range(len(edges)):
        a, b, square = edges[e, 0], edges[e, 1], 0.0
        for k in range(3):
            square += (x[a, k] - x[b, k]) ** 2
        length = math.sqrt(square)
        if length > 0.0:
            s = -(length - lengths[e]) / (1.0 / mass[a] + 1.0 / mass[b] + edge_alpha[e] / h**2) / length
            for k in range(3):
                d = s * (x[a, k] - x[b, k])
                x[a, k] += d / mass[a]
                x[b, k] -= d / mass[b]
    for t in range(len(cells)):
        p, q, r, u = cells[t, 0], cells[t, 1], cells[t, 2], cells[t, 3]
        w = slope(x, p, r, u, g[1]) / mass[q] + slope(x, p, u, q, g[2]) / mass[r] + slope(x, p, q, r, g[3]) / mass[u]
        volume = 0.0
        for k in range(3):
            g[0, k] = -g[1, k] - g[2, k] - g[3, k]
            w += g[0, k] * g[0, k] / mass[p]
            volume += g[1, k] * (x[q, k] - x[p, k])
        if w > 0.0:
            s = -(volume - volumes[t]) / (w + cell_alpha[t] / h**2)
            for c in range(4):
                for k in range(3):
                    x[cells[t, c], k] += s / mass[cells[t, c]] * g[c, k]
    v[:] = calm * (x - before) / h


@pytest.mark.parametrize(
    ("cell", "rigid", "is_shuffled", "least", "most"),
    [
        (0.2, True, True, 5, 8), (0.2, True, False, 0, 2), (0.2, False, True, 6, 8),
        pytest.param(0.12, True, True, 0, 2, marks=pytest.mark.slow),
        pytest.param(0.12, False, True, 8, 8, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_infinite_stiffness_never_diverges_but_not_every_ball_recovers(cell, rigid, is_shuffled, least, most):
    """The page's own listing from the seeds of ours: springs and cells in random order, or in that of the lattice.

    With the compliance of Young's modulus and Poisson's ratio all or nearly all balls come back.
    """
    model, rng = flattened.model(cell=cell), np.random.default_rng(0)
    n, h, edges, given = model.vertex_count, 1.0 / (24.0 * 20), model.edges, model.tetrahedra
    cells = model.cells[:, CELL_TETRAHEDRA].reshape(-1, 4)
    cells = cells[np.argsort(cells[:, 0], kind="stable")]
    volume = tetrahedron_volumes(model.rest_positions, cells)
    bulk = bulk_stiffness(given.stiffness[0], given.sum_stiffness[0], given.rest_volume[:8].sum())
    e, t = np.arange(len(edges.points)), np.arange(len(cells))
    if is_shuffled:
        e, t = rng.permutation(e), rng.permutation(t)
    edge_alpha, cell_alpha = (0.0 if rigid else 1.0) / edges.stiffness[e], (0.0 if rigid else 1.0) * volume[t] / bulk
    rest, calm, recovered = model.rest_positions[:n], np.exp(-flattened.DAMPING * h), 0
    for seed in flattened.SEEDS:
        x, v = flattened.scrambled(rest, seed), np.zeros((n, 3))
        for _ in range(960):
            page_substep(x, v, model.vertex_mass, edges.points[e], edges.rest_length[e], edge_alpha, cells[t],
                         volume[t], cell_alpha, h, calm)  # fmt: skip
        assert np.isfinite(x).all() and np.abs(x).max() < 10.0
        recovered += bool((tetrahedron_volumes(x, cells) > 0.0).all())
    assert least <= recovered <= most
    if is_shuffled and rigid:  # ours are coloured, which is no order of the lattice either
        told = int(VALUES["flattened"]["coarse" if cell == 0.2 else "fine"].split(" of ")[0])
        assert least <= told <= most


def test_heuns_step_without_damping_is_a_choice_of_what_counts_as_growth():
    """|R|^2 = 1 + z^4 / 4: a ten-thousandth a step is z = 0.168, over Euler's 2 it is 0.08."""
    limit = (4.0 * (1.0001**2 - 1.0)) ** 0.25
    assert float(VALUES["matyka"]["undamped"]) == pytest.approx(limit / 2.0, abs=0.005)
    builder = ModelBuilder(gravity=(0, 0, 0), ambient_pressure=0.0)
    x, triangles = shapes.icosphere(0, 0.2)
    builder.add_membrane("ball", x, triangles, spring_constant=10.0, point_mass=0.1, gauge_pressure=0.0, damping=0.0)
    world = World(builder.build(), frame_rate=60.0, solver="HEUN", threads=1, options=MethodOptions())
    world.advance_frame()
    assert np.abs(world.positions(0) - x).max() < 1e-9  # nothing oscillates, nothing grows
