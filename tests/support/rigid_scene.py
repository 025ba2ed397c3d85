"""A soft ball and three boxes pressed on each other and on a floor, slipping: for the tests of one stage."""

import contact_reference
import numpy as np
import rigid_reference
import shapes
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.contact.inverse_mass import InverseMass
from softpressure_ext.core.solvers.implicit.stage_energy import StageEnergy
from softpressure_ext.core.state import FrictionSprings, State

TAU = 1.2e-3
MODULUS, BEND, MASS, GAUGE = 2e4, 0.03, 0.2, 8e3
RADIUS, GAP, THICKNESS = 0.1, 1e-3, 1.2e-3
BOX_MASS = (0.5, 2.0, 0.7)


def block(sizes, centre=(0.0, 0.0, 0.0), turn=None, cells=1):
    """Box of edges `sizes` [m], turned about its centre by a matrix."""
    x, triangles = shapes.box(1.0, cells)
    x = x * np.asarray(sizes)
    return (x if turn is None else x @ turn.T) + np.asarray(centre, float), triangles


def height_over(x, triangles, place, gap):
    """Height [m] at which a point over `place` (x, y) is `gap` away from a mesh below it."""
    low, high = x[:, 2].max() - 0.2 * np.ptp(x[:, 2]), x[:, 2].max() + 2.0 * gap
    corners = [x[triangles[:, k]] for k in range(3)]
    for _ in range(60):
        point = np.broadcast_to([*place, 0.5 * (low + high)], corners[0].shape)
        distance = np.linalg.norm(point - contact_reference.closest_on_triangle(point, *corners), axis=1).min()
        inside = contact_reference.inside(point[:1], x, triangles)[0]
        low, high = (point[0, 2], high) if inside or distance < gap else (low, point[0, 2])
    return low


class Pile:
    """Box 0 on the floor, box 1 on box 0, a soft ball at the side of box 0, and box 2 on a corner on the ball."""

    def __init__(self, seed=0):
        self.rng = rng = np.random.default_rng(seed)
        made = ModelBuilder()
        ball = shapes.icosphere(2, RADIUS, (0.1 + GAP + RADIUS, 0.0, RADIUS + 1e-4))
        self.mesh = ball
        tip = (0.1 + GAP + RADIUS + 0.011, 0.006)
        lean = shapes.rotation((1.0, -1.0, 0.0), np.arccos(1.0 / np.sqrt(3.0)))  # a cube on its corner
        cube, triangles = block((0.1, 0.1, 0.1), turn=lean)
        cube += np.array([*tip, height_over(*ball, tip, GAP)]) - cube[np.argmin(cube[:, 2])]
        made.add_membrane(
            "ball", *ball, mass=MASS, gauge_pressure=GAUGE, stretch_modulus=MODULUS, bend_modulus=BEND,
            thickness=THICKNESS, pinned=[7],
        )  # fmt: skip
        boxes = (
            block((0.2, 0.2, 0.15), (0.0, 0.0, 0.075), cells=2),
            block((0.1, 0.12, 0.1), (0.02, 0.01, 0.2 + GAP), shapes.rotation((0, 0, 1), 0.8)),
            (cube, triangles),
        )
        for k, box in enumerate(boxes):
            made.add_rigid(f"box {k}", *box, mass=BOX_MASS[k], thickness=THICKNESS)
        made.add_collider("floor", *shapes.grid(1.0, 4, -GAP), thickness=1e-3)
        self.model = model = made.build()
        self.state, n = State.at_rest(model), model.vertex_count
        noise = [part for _ in range(3) for part in (rng.normal(0, 2e-5, 3), rng.normal(0, 2e-4, 3))]
        self.poses = self.stepped(self.state.rigid.pose, noise)
        self.x = model.rest_positions.copy()
        self.x[:n] += rng.normal(0, 2e-5, (n, 3))
        self.place(self.x, self.poses)
        self.contacts = Contacts(model.moving_point_count)
        self.energy = energy = StageEnergy(model, self.contacts, TAU)
        self.body_scale = np.array([4e4, 3e4, 5e4, 6e4, np.inf])
        ContactSearch(model).search(self.x, np.full(5, 2e-3), self.contacts)
        start = model.rest_positions + rng.normal(0, 2e-5, self.x.shape)
        low = np.flatnonzero(self.x[:, 2] < 2e-3)[::2].astype(np.int32)
        stretch = rng.normal(0, 1e-5, (len(low), 3)) * [1, 1, 0]
        stuck = FrictionSprings(low, np.full(len(low), 4, np.int32), stretch, 0.0)
        energy.start(start)
        energy.update_contacts(self.x, stuck)
        energy.set_contact_scale(self.body_scale, np.zeros(5))
        ahead = [part for _ in range(3) for part in (rng.normal(0, 1e-4, 3), rng.normal(0, 1e-2, 3))]
        self.target = self.stepped(self.poses, ahead)
        energy.begin(self.x[:n] + rng.normal(0, 1e-4, (n, 3)), self.target, self.state.gas, TAU)
        energy.evaluate(self.x, self.poses)
        energy.linearise(self.x)

    def stepped(self, poses, step, share=1.0):
        """Poses after a share of a step, two rows per body."""
        rows = np.asarray(step).reshape(-1, 2, 3)
        return np.array([rigid_reference.moved(pose, row, share) for pose, row in zip(poses, rows, strict=True)])

    def place(self, x, poses):
        """Put the boxes' points where they are in these poses."""
        rigid = self.model.rigid
        for body, pose in enumerate(poses):
            part = slice(rigid.point_start[body], rigid.point_start[body + 1])
            first = rigid.point_start[0]
            x[part] = pose[:3] + rigid.arm[part.start - first : part.stop - first] @ rigid_reference.matrix(pose).T

    def at(self, step, share):
        """Positions and poses after a share of a step of the unknowns."""
        n, x = self.model.vertex_count, self.x.copy()
        x[:n] += share * step[:n]
        poses = self.stepped(self.poses, step[n:], share)
        self.place(x, poses)
        return x, poses

    def residual(self):
        r = np.full((self.model.unknown_count, 3), np.nan)
        self.energy.residual(self.x, r)
        return r

    def turned_inverse(self):
        """Inverse inertia of the boxes in world axes."""
        turns = [rigid_reference.matrix(pose) for pose in self.poses]
        inverse = self.model.rigid.inverse_inertia
        return np.array([turn @ one @ turn.T for turn, one in zip(turns, inverse, strict=True)])

    def mobility(self):
        model = self.model
        with np.errstate(divide="ignore"):
            inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        return InverseMass(
            inverse_mass, model.rigid.unknown, self.energy.arm, 1.0 / model.rigid.mass, self.turned_inverse()
        )  # fmt: skip
