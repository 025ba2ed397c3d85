"""Every kernel of the forces against its slow twin, every energy against its own finite differences."""

import numpy as np
import pytest
import reference
import shapes
from softpressure_ext.core import ModelBuilder, builder
from softpressure_ext.core.collide.contacts import Contacts
from softpressure_ext.core.forces import bend, contact, friction, gas, stretch
from softpressure_ext.core.linear.conjugate_gradient import Hessian, multiply
from softpressure_ext.core.solvers.energy import evaluate_gas, inertia_energy

AMBIENT = 101_325.0
MODULUS = (2e4, 5e4)
BEND = (0.02, 0.05)
GAUGE = (5e3, 2e4)
MASS = (0.3, 0.8)

#: Kernel and twin do the same sums in another order: a few hundred roundings of 1e-16.
ROUNDING = 1e-11
#: Central differences over 1e-6 of the size: truncation 1e-12 of the third derivative, rounding 1e-16 / 1e-6.
DIFFERENCES = 1e-6


class Scene:
    """Two random bodies: their model (in chunks of a few vertices) and their meshes in the caller's order."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        ball, ring = shapes.icosphere(1, 0.12), shapes.torus(0.2, 0.08, 9, 6, (0.6, 0.0, 0.1))
        self.meshes = [(x + rng.normal(0, 0.006, x.shape), triangles) for x, triangles in (ball, ring)]
        made = ModelBuilder()
        for k, (x, triangles) in enumerate(self.meshes):
            made.add_membrane(
                f"body {k}", x, triangles, mass=MASS[k], stretch_modulus=MODULUS[k], bend_modulus=BEND[k],
                gauge_pressure=GAUGE[k],
            )  # fmt: skip
        made.add_collider("floor", *shapes.grid(2.0, 2, -0.3))
        self.model = made.build()
        self.rng = rng
        # scattered far enough that some springs are longer and some shorter than at rest
        self.moved = [x + rng.normal(0, 0.006, x.shape) for x, _ in self.meshes]

    @property
    def x(self):
        """Moved positions of all points in the model's order."""
        return self.inner([*self.moved, shapes.grid(2.0, 2, -0.3)[0]])

    def inner(self, per_body):
        """From the caller's order to the model's."""
        outer = np.concatenate(per_body)
        inner = np.empty_like(outer)
        inner[self.model.point_of_vertex[: len(outer)]] = outer
        return inner

    def joined(self, hessians):
        """Dense Hessians of the bodies as one matrix in the model's order."""
        n = self.model.vertex_count
        total, first = np.zeros((n, 3, n, 3)), 0
        for hessian in hessians:
            numbers = self.model.point_of_vertex[first : first + len(hessian)]
            for row, i in enumerate(numbers):
                total[i][:, numbers] = hessian[row]
            first += len(hessian)
        return total

    def direction(self):
        return self.rng.standard_normal((self.model.vertex_count, 3))


@pytest.fixture(params=range(3))
def scene(request, monkeypatch):
    monkeypatch.setattr(builder, "CHUNK_SIZE", 16)  # several chunks per body, as in large meshes
    return Scene(request.param)


def close(actual, expected, share):
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=share * np.abs(expected).max())


def smallest_eigenvalue_share(matrix):
    size = int(np.sqrt(matrix.size))
    spectrum = np.linalg.eigvalsh(matrix.reshape(size, size))
    return spectrum[0] / spectrum[-1]


# --- the kernels as functions of positions ----------------------------------------------------------------------


def stretch_terms(scene, x):
    model = scene.model
    tension, block = np.zeros(len(model.edges.points)), np.zeros((len(model.edges.points), 4))
    energy = np.zeros(len(model.chunks.body))
    stretch.evaluate_stretch(x, model.edges, model.chunks, tension, block, energy)
    force = np.array([stretch.stretch_force(i, x, model.edges, tension) for i in range(model.vertex_count)])
    return energy.sum(), force, block


def stretch_times(scene, block, p):
    return np.array([stretch.stretch_product(i, p, scene.model.edges, block) for i in range(len(p))])


def bend_terms(scene, x):
    model = scene.model
    on_hinge, root = np.zeros((2, len(model.hinges.points), 4, 3))
    energy = np.zeros(len(model.chunks.body))
    bend.evaluate_bend(x, model.hinges, model.chunks, on_hinge, root, energy)
    force = np.array([bend.bend_force(i, model.hinges, on_hinge) for i in range(model.vertex_count)])
    return energy.sum(), force, root


def bend_times(scene, root, p):
    hinges = scene.model.hinges
    turned = np.array([bend.hinge_turn(h, p, hinges, root) for h in range(len(root))])
    return np.array([bend.bend_product(i, hinges, turned, root) for i in range(len(p))])


def gas_terms(scene, x, amount):
    model = scene.model
    gradient, chunk_volume = np.zeros((model.vertex_count, 3)), np.zeros(len(model.chunks.body))
    gas.volume_gradient(x, model.body_point_start, model.fans, model.chunks, gradient, chunk_volume)
    volume, pressure, stiffness, energy = np.zeros((4, model.membrane_count))
    evaluate_gas(
        chunk_volume, model.chunks, model.rest_volume, amount, AMBIENT, volume, pressure, stiffness, energy
    )  # fmt: skip
    force = pressure[model.point_body[: model.vertex_count], None] * gradient
    return energy.sum(), force, (gradient, volume, pressure, stiffness)


def gas_times(scene, terms, p):
    """The rank-one product as the conjugate gradients apply it, everything else switched off."""
    gradient, _, _, stiffness = terms
    model = scene.model
    n, edge_count = model.vertex_count, len(model.edges.points)
    hessian = Hessian(
        np.zeros(n), np.zeros(n, bool), np.zeros((edge_count, 4)), np.zeros((0, 4, 3)), gradient, stiffness
    )
    product, factor = np.zeros((n, 3)), np.zeros(model.membrane_count)
    curvature = multiply(
        model.edges, model.hinges, model.chunks, hessian, no_contact(model), 0, p, np.zeros((1, 3)), np.zeros(0),
        product, np.zeros((len(model.chunks.body), 2)), factor,
    )  # fmt: skip
    product += factor[model.point_body[:n], None] * gradient
    assert curvature == pytest.approx(np.vdot(p, product), rel=ROUNDING)
    return product


def no_contact(model):
    record = Contacts(model.vertex_count)
    return contact.ContactTerms(
        record.points, record.weights, record.vertex_start, record.vertex_entry,
        np.zeros(1024, bool), np.zeros((1024, 3)), np.zeros((1024, 6)),
    )  # fmt: skip


# --- topology and masses that the forces rest on -----------------------------------------------------------------


def test_springs_hinges_and_masses_follow_the_rest_mesh(scene):
    model = scene.model
    first = edge = hinge = 0
    for k, (x, triangles) in enumerate(scene.meshes):
        place = model.point_of_vertex[first : first + len(x)]
        close(model.vertex_mass[place], reference.vertex_masses(x, triangles, MASS[k]), ROUNDING)
        edges, lengths, constants = reference.springs(x, triangles, MODULUS[k])
        ours = {tuple(sorted(p)): number for number, p in enumerate(model.edges.points.tolist())}
        number = [ours[tuple(sorted(place[list(pair)].tolist()))] for pair in edges]
        close(model.edges.rest_length[number], lengths, ROUNDING)
        close(model.edges.stiffness[number], constants, ROUNDING)
        points, angles, constants = reference.hinges(x, triangles, BEND[k])
        ours = {tuple(sorted(p[:2])): number for number, p in enumerate(model.hinges.points.tolist())}
        number = [ours[tuple(sorted(place[list(pair)].tolist()))] for pair in points[:, :2]]
        # the arc cosine of the twin loses half the digits near flat
        np.testing.assert_allclose(model.hinges.rest_angle[number], angles, atol=1e-7)
        close(model.hinges.stiffness[number], constants, ROUNDING)
        first, edge, hinge = first + len(x), edge + len(edges), hinge + len(points)
    assert (edge, hinge) == (len(model.edges.points), len(model.hinges.points))


# --- stretch ---------------------------------------------------------------------------------------------------


def test_stretch_equals_its_twin(scene):
    expected = [
        reference.stretch(moved, *reference.springs(x, triangles, MODULUS[k]))
        for k, ((x, triangles), moved) in enumerate(zip(scene.meshes, scene.moved, strict=True))
    ]
    energy, force, block = stretch_terms(scene, scene.x)
    assert energy == pytest.approx(sum(e for e, _, _ in expected), rel=ROUNDING)
    close(force, scene.inner([f for _, f, _ in expected]), ROUNDING)
    p = scene.direction()
    hessian = scene.joined([h for _, _, h in expected])
    close(stretch_times(scene, block, p), np.einsum("iajb,jb->ia", hessian, p), ROUNDING)
    # compressed springs included, no direction is downhill
    assert smallest_eigenvalue_share(hessian) > -1e-12


def test_stretch_force_is_minus_the_gradient(scene):
    check_gradient(lambda x: stretch_terms(scene, x)[:2], scene.x, scene.direction())


def test_stretch_hessian_is_exact_where_all_springs_pull(scene):
    # twice the rest size and the same scatter: no spring is shorter than at rest
    x = 2.0 * scene.model.rest_positions + (scene.x - scene.model.rest_positions) * 0.3
    check_product(lambda y: stretch_terms(scene, y)[1], lambda p: stretch_times(scene, stretch_terms(scene, x)[2], p),
                  x, scene.direction())  # fmt: skip


# --- bend ------------------------------------------------------------------------------------------------------


def test_bend_equals_its_twin(scene):
    expected = [
        reference.bend(moved, x, *reference.hinges(x, triangles, BEND[k]))
        for k, ((x, triangles), moved) in enumerate(zip(scene.meshes, scene.moved, strict=True))
    ]
    energy, force, root = bend_terms(scene, scene.x)
    # the twin's arc cosine: see above
    assert energy == pytest.approx(sum(e for e, _, _ in expected), rel=1e-7)
    close(force, scene.inner([f for _, f, _ in expected]), 1e-7)
    p = scene.direction()
    hessian = scene.joined([h for _, _, h in expected])
    close(bend_times(scene, root, p), np.einsum("iajb,jb->ia", hessian, p), ROUNDING)
    assert smallest_eigenvalue_share(hessian) > -1e-12


def test_bend_force_is_minus_the_gradient(scene):
    check_gradient(lambda x: bend_terms(scene, x)[:2], scene.x, scene.direction())


@pytest.mark.parametrize("size", [1.0, 0.3])
def test_bend_hessian_is_exact_at_the_rest_angles(scene, size):
    # Gauss and Newton leave out what is proportional to the turn, and a scaled rest shape has none
    x = size * scene.model.rest_positions
    check_product(lambda y: bend_terms(scene, y)[1], lambda p: bend_times(scene, bend_terms(scene, x)[2], p),
                  x, scene.direction())  # fmt: skip


def test_a_hinge_measures_its_angle_all_the_way_round():
    rest = np.full(2, 1.0)
    for angle in np.radians([-179.0, -120.0, -30.0, 0.0, 60.0, 90.0, 150.0, 179.0]):
        p = np.array([[0, 0, 0], [1, 0, 0], [0.4, 1, 0], [0.7, -np.cos(angle), -np.sin(angle)]])
        found, _ = bend.hinge_angle(p, np.arange(4), rest, np.zeros((4, 3)), np.zeros((4, 3)))
        assert found == pytest.approx(angle, abs=1e-12)
    assert bend.wrapped(np.radians(350.0)) == pytest.approx(np.radians(-10.0))
    assert bend.wrapped(np.radians(-350.0)) == pytest.approx(np.radians(10.0))


def test_a_hinge_fades_out_before_its_triangle_turns_over(scene):
    # one vertex is drawn through the opposite edge of its triangle: the energy stays continuous where normals flip
    model, x = scene.model, scene.model.rest_positions
    i, j, k, _ = model.hinges.points[0]
    middle = 0.5 * (x[i] + x[j])
    energies = []
    for share in (1e-7, -1e-7):
        y = x.copy()
        y[k] = middle + share * (x[k] - middle)
        energies.append(bend_terms(scene, y)[0])
    # the other hinges of the vertex hardly change over 2e-7 of the height
    assert energies[0] == pytest.approx(energies[1], rel=1e-5)


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
    assert energy == pytest.approx(sum(e for e, *_ in expected), rel=ROUNDING)
    close(force, scene.inner([f for _, f, *_ in expected]), ROUNDING)
    for number in range(3):
        close(terms[1 + number], [values[number] for *_, values in expected], ROUNDING)
    p = scene.direction()
    hessian = scene.joined([h for _, _, h, _ in expected])
    close(gas_times(scene, terms, p), np.einsum("iajb,jb->ia", hessian, p), ROUNDING)
    assert smallest_eigenvalue_share(hessian) > -1e-12


@pytest.mark.parametrize("scale", [1.0, 0.3, -0.8])
def test_gas_force_is_minus_the_gradient(scene, scale):
    check_gradient(lambda x: gas_terms(scene, x, amounts(scene))[:2], scale * scene.x, scene.direction())


def test_gas_hessian_is_exact_without_gauge_pressure(scene):
    # what is left out is gauge pressure times d2V
    x = scene.x
    even = AMBIENT * gas_terms(scene, x, amounts(scene))[2][1]
    check_product(lambda y: gas_terms(scene, y, even)[1], lambda p: gas_times(scene, gas_terms(scene, x, even)[2], p),
                  x, scene.direction())  # fmt: skip


def test_gas_law_is_smooth_where_the_parabola_begins():
    for rest_volume in (1.0, 1e-3):
        edge = gas.SMALLEST_VOLUME_SHARE * rest_volume
        above, below = (gas.gas_law(edge * (1 + s), rest_volume, 500.0, AMBIENT) for s in (1e-9, -1e-9))
        # a step of 2e-9 of the volume changes 1/V^2 by 4e-9 of itself
        np.testing.assert_allclose(above, below, rtol=1e-8)


def test_gas_pushes_a_closed_skin_neither_away_nor_round(scene):
    force = gas_terms(scene, scene.x, amounts(scene))[1]
    model = scene.model
    for body in range(2):
        own = slice(model.body_point_start[body], model.body_point_start[body + 1])
        size = np.abs(force[own]).sum()
        assert np.abs(force[own].sum(axis=0)).max() < ROUNDING * size
        assert np.abs(np.cross(scene.x[own], force[own]).sum(axis=0)).max() < ROUNDING * size


def test_gas_is_as_accurate_a_kilometre_away(scene):
    _, force, (_, volume, _, _) = gas_terms(scene, scene.x, amounts(scene))
    far = gas_terms(scene, scene.x + [1000.0, -700.0, 300.0], amounts(scene))
    # positions are rounded to 1e-13 m, edges of 0.05 m to 2e-12 of themselves
    np.testing.assert_allclose(far[2][1], volume, rtol=1e-11)
    close(far[1], force, 1e-9)


# --- contact ---------------------------------------------------------------------------------------------------


def test_contact_equals_its_twin_over_several_blocks():
    rng = np.random.default_rng(0)
    count = 3 * contact.BLOCK_SIZE + 17
    gap, thickness, scale = (
        rng.uniform(-2e-3, 6e-3, count),
        rng.uniform(1e-3, 4e-3, count),
        rng.uniform(1e3, 1e5, count),
    )
    gap[::7] = np.inf
    force, stiffness, energy = np.zeros(count), np.zeros(count), np.zeros(4)
    contact.evaluate_contact(count, gap, thickness, scale, force, stiffness, energy)
    expected = np.array([reference.contact(*row) for row in zip(gap, thickness, scale, strict=True)])
    assert energy.sum() == pytest.approx(expected[:, 0].sum(), rel=ROUNDING)
    close(force, expected[:, 1], ROUNDING)
    close(stiffness, expected[:, 2], ROUNDING)
    assert 50 < np.count_nonzero(force) < count


@pytest.mark.parametrize("s", [-0.5, 0.02, 0.3, 0.7, 0.9, 0.96, 1.0, 3.0])
def test_barrier_derivatives(s):
    h = 1e-5
    (below, slope_below, _), (above, slope_above, _) = contact.barrier(s - h), contact.barrier(s + h)
    _, slope, curvature = contact.barrier(s)
    # central differences: h^2 times the third and fourth derivative, which reach 1e5 at s = 0.9
    assert slope == pytest.approx((above - below) / (2 * h), rel=1e-5, abs=1e-9)
    assert curvature == pytest.approx((slope_above - slope_below) / (2 * h), rel=1e-5, abs=1e-9)
    assert curvature >= 0.0


def contact_record(scene, count=2 * contact.BLOCK_SIZE + 9):
    """Random contacts between vertices and triangles of the model, colliders included, all terms of them."""
    model, rng = scene.model, scene.rng
    record = Contacts(model.vertex_count, count)
    record.count = count
    for row in range(count):
        record.points[row] = rng.choice(model.point_count, 4, replace=False)
    record.weights[:, 0] = 1.0
    record.weights[:, 1:] = -rng.dirichlet(np.ones(3), count)
    normal = rng.standard_normal((count, 3))
    record.normal[:] = normal / np.linalg.norm(normal, axis=1)[:, None]
    record.index_vertices()
    return record


def friction_terms(scene, record, x, start, limit, spring, held, normal_force, stiffness):
    count = record.count
    blocks = (count + contact.BLOCK_SIZE - 1) // contact.BLOCK_SIZE
    lag = friction.FrictionLag(record.points, record.weights, record.normal, limit, held)
    active, force, matrix, energy = np.zeros(count, bool), np.zeros((count, 3)), np.zeros((count, 6)), np.zeros(blocks)
    friction.evaluate_friction(
        count, x, start, lag, spring, stiffness, normal_force, active, force, matrix, energy
    )  # fmt: skip
    again = np.zeros(blocks)
    friction.friction_energy(count, x, start, lag, spring, again)
    assert again.sum() == pytest.approx(energy.sum(), rel=ROUNDING)
    terms = contact.ContactTerms(
        record.points, record.weights, record.vertex_start, record.vertex_entry, active, force, matrix
    )  # fmt: skip
    on_vertices = np.array([contact.contact_force(i, terms) for i in range(scene.model.vertex_count)])
    return energy.sum(), on_vertices, terms


def friction_input(scene, record):
    rng, count = scene.rng, record.count
    start = scene.x + rng.normal(0, 1e-4, scene.x.shape)
    limit, spring = rng.uniform(0.5, 4.0, count), rng.uniform(5e3, 2e4, count)
    held = rng.normal(0, 1e-4, (count, 3))
    normal_force = np.where(rng.random(count) < 0.8, rng.uniform(1.0, 9.0, count), 0.0)
    limit[normal_force == 0.0] = 0.0
    return start, limit, spring, held, normal_force, rng.uniform(1e3, 1e5, count)


def contact_times(terms, p):
    stretched = np.array([contact.contact_stretch(c, p, terms) for c in range(len(terms.points))])
    return np.array([contact.contact_product(i, terms, stretched) for i in range(len(p))])


def test_friction_and_the_gathers_of_contact_equal_their_twins(scene):
    record = contact_record(scene)
    start, limit, spring, held, normal_force, stiffness = friction_input(scene, record)
    n = scene.model.vertex_count
    energy, force, hessian, yielding = 0.0, np.zeros((n, 3)), np.zeros((n, 3, n, 3)), 0
    for c in range(record.count):
        if normal_force[c] == 0.0:
            continue
        points, weights, normal = record.points[c], record.weights[c], record.normal[c]
        slip = reference.tangent(normal) @ (held[c] + weights @ (scene.x - start)[points])
        stored, along, matrix = reference.friction(slip, limit[c], spring[c])
        across = reference.tangent(normal)
        matrix = stiffness[c] * np.outer(normal, normal) + across @ matrix @ across
        energy += stored
        yielding += spring[c] * np.linalg.norm(slip) > limit[c]
        for a in range(4):
            if points[a] < n:
                force[points[a]] += weights[a] * (normal_force[c] * normal + along)
                for b in range(4):
                    if points[b] < n:
                        hessian[points[a], :, points[b]] += weights[a] * weights[b] * matrix
    assert 20 < yielding < record.count - 50  # both laws are met
    got_energy, got_force, terms = friction_terms(
        scene, record, scene.x, start, limit, spring, held, normal_force, stiffness
    )  # fmt: skip
    assert got_energy == pytest.approx(energy, rel=ROUNDING)
    close(got_force, force, ROUNDING)
    p = scene.direction()
    close(contact_times(terms, p), np.einsum("iajb,jb->ia", hessian, p), ROUNDING)
    diagonal = np.zeros((n, 3))
    contact.contact_diagonal(scene.model.chunks, terms, diagonal)
    close(diagonal, np.einsum("iaia->ia", hessian), ROUNDING)
    assert smallest_eigenvalue_share(hessian) > -1e-12


def test_friction_derivatives(scene):
    record = contact_record(scene, 40)
    start, limit, spring, held, normal_force, _ = friction_input(scene, record)
    normal_force[:] = 1e-300  # active, but friction alone: the gap is not part of this energy
    limit[:] = scene.rng.uniform(0.5, 4.0, record.count)
    x, nothing = scene.x, np.zeros(record.count)

    def at(y):
        return friction_terms(scene, record, y, start, limit, spring, held, normal_force, nothing)

    def padded(direction):
        full = np.zeros_like(x)
        full[: len(direction)] = direction
        return full

    direction = padded(scene.direction())
    check_gradient(lambda y: at(y)[:2], x, direction, step=1e-9)
    check_product(
        lambda y: at(y)[1], lambda p: contact_times(at(x)[2], p), x, direction[: scene.model.vertex_count], step=1e-9
    )  # fmt: skip


def test_a_spring_keeps_no_more_stretch_than_its_limit_holds(scene):
    record = contact_record(scene)
    start, limit, spring, held, _, _ = friction_input(scene, record)
    lag = friction.FrictionLag(record.points, record.weights, record.normal, limit, held)
    kept = np.zeros((record.count, 3))
    friction.settle_friction(record.count, scene.x, start, lag, spring, kept)
    for c in range(record.count):
        across = reference.tangent(record.normal[c])
        slip = across @ (held[c] + record.weights[c] @ (scene.x - start)[record.points[c]])
        _, force, _ = reference.friction(slip, limit[c], spring[c]) if limit[c] > 0 else (0, np.zeros(3), 0)
        np.testing.assert_allclose(spring[c] * kept[c], -force, atol=1e-11)


# --- inertia ---------------------------------------------------------------------------------------------------


def test_inertia_equals_its_twin(scene):
    model = scene.model
    target = scene.x[: model.vertex_count] + scene.rng.normal(0, 1e-3, (model.vertex_count, 3))
    energy = np.zeros(len(model.chunks.body))
    inertia_energy(scene.x, target, model.vertex_mass / 0.004**2, model.chunks, energy)
    expected, _, _ = reference.inertia(scene.x[: model.vertex_count], target, model.vertex_mass, 0.004)
    assert energy.sum() == pytest.approx(expected, rel=ROUNDING)


# --- finite differences ------------------------------------------------------------------------------------------


def check_gradient(energy_and_force, x, direction, step=1e-7):
    """E(x + h d) - E(x - h d) = -2 h f . d; the energies of a scene are large, so rounding limits this to 1e-6."""
    along = np.zeros_like(x)
    along[: len(direction)] = direction
    difference = (energy_and_force(x + step * along)[0] - energy_and_force(x - step * along)[0]) / (2 * step)
    force = energy_and_force(x)[1]
    expected = -np.vdot(force, along[: len(force)])
    assert abs(difference - expected) < 1e-6 * np.abs(force * along[: len(force)]).sum()


def check_product(force_at, product, x, direction, step=1e-7):
    along = np.zeros_like(x)
    along[: len(direction)] = direction
    difference = (force_at(x - step * along) - force_at(x + step * along)) / (2 * step)
    close(product(direction), difference, DIFFERENCES)
