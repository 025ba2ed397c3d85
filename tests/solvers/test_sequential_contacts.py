"""Contacts of XPBD: the projection of velocities against dense matrices, and that nothing crosses."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from rigid_scene import block
from scenes import BEACH_BALL, LIVELY, add_ball, played
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.solvers.choice import SOLVERS
from softpressure_ext.core.solvers.explicit.arrays import contacts_of
from softpressure_ext.core.solvers.explicit.carried import start_bodies
from softpressure_ext.core.solvers.explicit.turning import slide_into_line
from softpressure_ext.core.solvers.sequential.contacts import impulses_of, sweep
from softpressure_ext.core.solvers.xpbd.glue import project_glue
from validation import validated

TIME = 1 / 480


class Rows:
    """Random contacts between a ball, two rigid boxes and a plate: four of each, at random places and velocities."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        builder = ModelBuilder()
        add_ball(builder, BEACH_BALL, 1, pinned=[3])
        for number in range(2):
            builder.add_rigid(f"box {number}", *block((0.2, 0.3, 0.4), (1.0 + number, 0.0, 0.0)), mass=0.1 + number)
        builder.add_collider("plate", *shapes.grid(4.0))
        self.model = model = builder.build()
        self.solver = SOLVERS["XPBD"](model, TIME)
        self.scene = scene = self.solver.phase
        self.rigid, self.owner = scene.contact.rigid, model.point_body[self.solver.space.numbering.point]
        self.x = np.zeros((model.point_count, 4))
        self.x[:, :3] = model.rest_positions[self.solver.space.numbering.point]
        self.rigid.pose[:] = 0.0
        self.rigid.pose[:, :3], self.rigid.pose[:, 3] = model.rigid.centre, 1.0
        start_bodies(self.rigid)
        self.velocity = np.zeros_like(self.x)
        free = scene.contact.points.inverse_mass > 0.0
        self.velocity[free, :3] = rng.normal(0.0, 1.0, (free.sum(), 3))
        self.velocity[model.moving_point_count :, :3] = rng.normal(0.0, 1.0, 3)
        self.rigid.velocity[:] = rng.normal(0.0, 1.0, (2, 3))
        self.rigid.momentum[:] = rng.normal(0.0, 1e-3, (2, 3))
        start_bodies(self.rigid)
        sides = [(0, 0), (0, 1), (1, 2), (2, 3)]  # bodies of the vertex and of the triangle
        self.contacts = contacts = contacts_of(4)
        for c, (a, b) in enumerate(sides):
            points = [
                rng.choice(np.flatnonzero(self.owner == a)),
                *rng.choice(np.flatnonzero(self.owner == b), 3, False),
            ]
            contacts.points[4 * c : 4 * c + 4] = 4 * np.array(points)
            contacts.weight[4 * c : 4 * c + 4] = 1.0, *-rng.dirichlet((2.0, 2.0, 2.0))
            normal = rng.normal(0.0, 1.0, 3)
            contacts.normal[4 * c : 4 * c + 3] = normal / np.linalg.norm(normal)
            contacts.carried[c] = {1, 2} & {a, b}
        weight, quad = contacts.weight.reshape(4, 4), contacts.points.reshape(4, 4) // 4
        contacts.share[:] = (weight * scene.contact.points.inverse_mass[quad]).ravel()
        contacts.reach[:], contacts.friction[:] = 1e-3, (0.3, 0.0, 0.6, 5.0)
        self.normal = contacts.normal.reshape(4, 4)[:, :3].copy()
        for c in range(4):
            contacts.normal[4 * c + 3] = self.normal[c] @ self.give(c) @ self.normal[c]
        self.impulses = impulses_of(4)
        scene.contact.run.found[:] = 0, 0, 4, 0
        contact = scene.contact._replace(corners=contacts)
        self.phase = scene._replace(contact=contact, corner_impulses=self.impulses)
        self.arguments = self.phase, self.x.ravel(), self.velocity.ravel()

    def parts(self, c):
        """Weight, point and rigid body (or -1) of the four points of a contact."""
        rows = slice(4 * c, 4 * c + 4)
        for w, i in zip(self.contacts.weight[rows], self.contacts.points[rows] // 4, strict=True):
            yield w, i, self.owner[i] - 1 if self.owner[i] in (1, 2) else -1

    def arms(self, c):
        """Of each rigid body at a contact: its number, sign of its side and lever matrix. It acts where side A is."""
        point = sum(w * self.x[i, :3] for w, i, _ in self.parts(c) if w > 0.0)
        for q in {q for _, _, q in self.parts(c)} - {-1}:
            total = sum(w for w, _, own in self.parts(c) if own == q)
            x, y, z = point - self.rigid.pose[q, :3]
            yield q, total, np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])

    def give(self, c):
        """Generalised inverse mass [1/kg], shape (3, 3)."""
        inverse = self.scene.contact.points.inverse_mass
        matrix = sum(w * w * inverse[i] for w, i, _ in self.parts(c)) * np.eye(3)
        for q, _, arm in self.arms(c):
            matrix = matrix + self.rigid.inverse_mass[q] * np.eye(3) - arm @ self.rigid.tensor[q] @ arm
        return matrix

    def apart(self, c):
        """Relative velocity [m/s]."""
        u = sum(w * self.velocity[i, :3] for w, i, q in self.parts(c) if q < 0) + np.zeros(3)
        for q, sign, arm in self.arms(c):
            u = u + sign * (self.rigid.velocity[q] - arm @ self.rigid.tensor[q] @ self.rigid.momentum[q])
        return u

    def momentum(self):
        """Of what moves, and that of what is given or pinned is not counted."""
        inverse = self.scene.contact.points.inverse_mass
        free = inverse > 0.0
        soft = (self.velocity[free, :3] / inverse[free, None]).sum(axis=0)
        return soft + (self.rigid.velocity / self.rigid.inverse_mass[:, None]).sum(axis=0)


@pytest.mark.parametrize("seed", range(6))
def test_contacts_separate_and_obey_coulombs_cone(seed):
    rows = Rows(seed)
    impulses = rows.impulses
    impulses.wanted[:] = [rows.normal[c] @ rows.apart(c) + rows.rng.uniform(-0.5, 1.0) for c in range(4)]
    for _ in range(400):
        changed = sweep(*rows.arguments)
    assert changed < 1e-9
    for c in range(4):
        n, u, along, across = rows.normal[c], rows.apart(c), impulses.along[c], impulses.across[c]
        missing = impulses.wanted[c] - n @ u
        assert missing < 1e-9 and (along == 0.0 or abs(missing) < 1e-9)
        limit = rows.contacts.friction[c] * along
        assert np.linalg.norm(across) <= limit * (1.0 + 1e-9) + 1e-12
        if 0.0 < np.linalg.norm(across) < 0.999 * limit:  # it holds
            assert np.linalg.norm(u - (n @ u) * n) < 1e-6


@pytest.mark.parametrize("row", [0, 1, 2])
def test_one_contact_alone_is_solved_at_once_and_keeps_momentum(row):
    rows = Rows(7)
    impulses = rows.impulses
    impulses.wanted[:] = -1e300
    impulses.wanted[row] = rows.normal[row] @ rows.apart(row) + 0.3
    rows.contacts.friction[:] = 0.0
    before = rows.momentum()
    pinned = any(rows.scene.contact.points.inverse_mass[i] == 0.0 and q < 0 for _, i, q in rows.parts(row))
    sweep(*rows.arguments)
    validated(
        "normal velocity of one contact after a sweep", room="solvers/sequential",
        measured=rows.normal[row] @ rows.apart(row), expected=impulses.wanted[row], unit="m/s", abs=1e-12,
        source="the wanted one; effective masses as dense matrices", reason="rounding",
    )  # fmt: skip
    if not pinned:
        np.testing.assert_allclose(rows.momentum(), before, atol=1e-13)


@pytest.mark.parametrize("are_edges", [False, True])
def test_both_points_of_a_contact_lie_on_its_normal(are_edges):
    rng = np.random.default_rng(4)
    contacts = contacts_of(1)
    contacts.points[:], contacts.weight[0] = 4 * np.arange(4), 1.0
    n = rng.normal(0.0, 1.0, 3)
    contacts.normal[:3] = n / np.linalg.norm(n)
    x = np.zeros((4, 4))
    x[:, :3] = rng.normal(0.0, 1.0, (4, 3))
    assert slide_into_line(contacts, 0, are_edges, x.ravel(), 1e9)
    first = 2 if are_edges else 1
    assert contacts.weight[:first].sum() == pytest.approx(1.0) and contacts.weight[first:].sum() == pytest.approx(-1.0)
    away = contacts.weight @ x[:, :3]
    np.testing.assert_allclose(np.cross(away, contacts.normal[:3]), 0.0, atol=1e-12)


def test_attachments_have_their_compliance():
    builder = ModelBuilder()
    ball = add_ball(builder, BEACH_BALL, 1)
    box = builder.add_rigid("box", *block((0.1, 0.1, 0.1), (0.0, 0.0, 0.4)), mass=0.5)
    builder.attach_to_rigid(ball, [0], box)
    solver = SOLVERS["XPBD"](builder.build(), TIME)
    scene, model = solver.phase, solver.model
    contact = scene.contact
    x, velocity = np.zeros((model.point_count, 4)), np.zeros((model.point_count, 4))
    x[:, :3] = model.rest_positions[solver.space.numbering.point]
    contact.rigid.pose[:, :3], contact.rigid.pose[:, 3] = model.rigid.centre, 1.0
    start_bodies(contact.rigid)
    i, anchor = scene.glue.rows.points[:2] // 4
    away = np.array([0.01, -0.02, 0.03])
    x[i, :3] += away
    unit, k = away / np.linalg.norm(away), model.attachments.stiffness[0]
    arm = np.cross(x[anchor, :3] - model.rigid.centre[0], unit)
    give = contact.points.inverse_mass[i] + 1.0 / 0.5 + arm @ contact.rigid.tensor[0] @ arm
    impulse = -away / (TIME * give + 1.0 / (k * TIME))
    project_glue(contact, scene.glue, x.ravel(), velocity.ravel(), TIME)
    validated(
        "velocity by which an attachment gives way in a substep", room="solvers/sequential", measured=velocity[i, :3],
        expected=contact.points.inverse_mass[i] * impulse, unit="m/s", rel=1e-12,
        source="impulse -d / (h w + 1 / k h), w by dense matrices", reason="rounding",
    )  # fmt: skip
    np.testing.assert_allclose(contact.rigid.velocity[0], -impulse / 0.5, rtol=1e-12)


def world_of(builder):
    return World(builder.build(), frame_rate=24.0, substeps=20, solver="XPBD", threads=1)


def thrown_together():
    """Two balls and a box that meet in the air, fast."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (-0.3, 0.0, 0.5), velocity=(6.0, 0.0, 0.0), **LIVELY)
    add_ball(builder, BEACH_BALL, 2, (0.3, 0.1, 0.5), velocity=(-6.0, 0.0, 0.0), **LIVELY)
    builder.add_rigid("box", *block((0.2, 0.2, 0.1), (0.0, 0.0, 1.2)), mass=0.3, velocity=(0.0, 0.0, -4.0))
    builder.add_collider("floor", *shapes.grid(8.0, 4))
    return world_of(builder)


def crumpled():
    """A slack bag that falls flat on itself."""
    builder = ModelBuilder()
    mesh = shapes.icosphere(3, 0.3, (0.0, 0.0, 0.4))
    builder.add_membrane(
        "bag", *mesh, mass=0.3, stretch_modulus=1e3, bend_modulus=1e-4, self_collision=True, damping=5.0
    )
    builder.add_collider("floor", *shapes.grid(8.0, 4))
    return world_of(builder)


def through_a_ring():
    """A ring that falls over a box."""
    builder = ModelBuilder()
    mesh = shapes.torus(0.3, 0.1, 32, 16, (0.0, 0.0, 0.8))
    builder.add_membrane("ring", *mesh, mass=0.5, gauge_pressure=300.0, stretch_modulus=5e3, self_collision=True)
    builder.add_rigid("post", *block((0.25, 0.25, 0.5), (0.02, 0.0, 0.26)), mass=5.0)
    builder.add_collider("floor", *shapes.grid(8.0, 4))
    return world_of(builder)


@pytest.mark.parametrize("scene", [thrown_together, crumpled, through_a_ring])
def test_nothing_crosses(scene):
    world = scene()
    for _ in played(world, 36):
        assert_nothing_crosses(world)
