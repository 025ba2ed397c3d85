"""Rotations against scipy, and free flight: energy, momentum, order, precession and the tumbling of a middle axis."""

import numpy as np
import pytest
import rigid_reference as reference
from scipy.spatial.transform import Rotation
from softpressure_ext.core.bodies.rigid import motion
from validation import validated

#: A few roundings of numbers of the size one.
ROUNDING = 1e-14


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def rotation(pose):
    return Rotation.from_quat(np.roll(pose[3:], -1))


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 0.99e-4, 1.01e-4, 0.3, 3.0, np.pi, 5.0, 40.0])
def test_quaternions_of_rotation_vectors(rng, angle):
    axis = rng.standard_normal(3)
    vector = angle * axis / np.linalg.norm(axis)
    expected = Rotation.from_rotvec(vector).as_matrix()
    pose = motion.start_poses(np.zeros((1, 3)))[0]
    motion.turn_pose(pose, *vector, pose)
    validated(
        "rotation matrix of a rotation vector", room="bodies/rigid", measured=rotation(pose).as_matrix(),
        expected=expected, abs=ROUNDING * max(1.0, angle), source="scipy",
        reason="rounding; the sine of a large angle has the angle's",
    )  # fmt: skip


def test_matrices_steps_and_their_inverse(rng):
    poses = reference.random_poses(rng, 20)
    step = rng.normal(0, 0.5, (40, 3))
    step[5], step[7] = 0.0, 1e-9  # no turn, and hardly any
    out, back = np.zeros_like(poses), np.zeros_like(step)
    motion.move_poses(poses, step, 0.7, out)
    for body in range(20):
        matrix = np.zeros((3, 3))
        motion.set_matrix(poses[body], matrix)
        np.testing.assert_allclose(matrix, reference.matrix(poses[body]), rtol=0, atol=ROUNDING)
        expected = reference.moved(poses[body], step[2 * body : 2 * body + 2], 0.7)
        np.testing.assert_allclose(out[body, :3], expected[:3], rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(reference.matrix(out[body]), reference.matrix(expected), rtol=0, atol=ROUNDING)
        assert np.linalg.norm(out[body, 3:]) == pytest.approx(1.0, abs=ROUNDING)
    motion.steps_between(poses, out, back)
    np.testing.assert_allclose(back, 0.7 * step, rtol=0, atol=10 * ROUNDING)


def test_the_way_between_two_orientations_is_the_short_one(rng):
    pose = reference.random_poses(rng, 1)[0]
    for angle in (3.1, 3.2, 6.2, 6.29, 12.0):
        axis = np.array([0.6, 0.0, 0.8])
        there = reference.moved(pose, np.array([np.zeros(3), angle * axis]))
        there[3:] *= rng.choice([-1.0, 1.0])  # both quaternions are the same rotation
        expected = (rotation(there) * rotation(pose).inv()).as_rotvec()
        np.testing.assert_allclose(motion.turn_between(pose, there), expected, rtol=0, atol=1e-13)
        assert np.linalg.norm(expected) <= np.pi


# --- free flight ---------------------------------------------------------------------------------------------


class Spinning:
    """One body with principal moments of inertia [kg m^2] in start axes, spinning at w [1/s]."""

    def __init__(self, moments, spin, pose=None):
        self.inertia = np.diag(np.asarray(moments, float))
        self.pose = np.array([[0.0, 0, 0, 1, 0, 0, 0]]) if pose is None else pose.reshape(1, 7).copy()
        turn = reference.matrix(self.pose[0])
        self.momentum = (turn @ self.inertia @ turn.T @ np.asarray(spin, float)).reshape(1, 3)

    def fly(self, time, steps):
        for _ in range(steps):
            out = self.pose.copy()
            motion.free_flight(self.pose, self.momentum, np.linalg.inv(self.inertia)[None], time / steps, out)
            self.pose = out

    def spin(self):
        """Angular velocity in the body's axes [1/s]."""
        return np.linalg.solve(self.inertia, reference.matrix(self.pose[0]).T @ self.momentum[0])

    def energy(self):
        return 0.5 * self.spin() @ self.inertia @ self.spin()


@pytest.mark.parametrize("speed", [1.0, 30.0, 300.0])
def test_a_tumbling_body_keeps_its_energy(speed):
    """Of |L| there is nothing to lose: it is what is kept. Ten seconds in steps of 1/500 s."""
    body = Spinning((1.0, 2.0, 2.9), speed * np.array([0.3, 0.9, 0.4]))
    before = body.energy()
    body.fly(10.0, 5000)
    validated(
        "energy of a body that tumbles for 10 s", room="bodies/rigid", measured=body.energy(), expected=before,
        unit="J", rel={1.0: 1e-12, 30.0: 1e-6, 300.0: 1e-5}[speed], source="conserved",
        reason="a step of at most 0.05 rad errs by 0.05⁵ / 120 = 3e-9, and these sum up",
    )  # fmt: skip


def test_the_order_of_free_flight_is_four():
    """Steps small enough to be taken whole; the exact end by more of them, whose error is 1/300 of the smallest."""
    ends = []
    for steps in (240, 480, 960, 4000):
        body = Spinning((1.0, 2.0, 2.9), (3.0, 9.0, 4.0))
        body.fly(1.0, steps)
        ends.append(rotation(body.pose[0]))
    errors = [(end * ends[-1].inv()).magnitude() for end in ends[:-1]]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    validated(
        "order of free rotation", room="bodies/rigid", measured=orders, expected=4.0, abs=0.3,
        source="composition of fourth order", reason="4 in the limit; the finest run stands for the exact one",
    )  # fmt: skip
    assert errors[0] < 1e-6


def test_steady_spin_about_a_principal_axis_is_exact():
    for axis in np.eye(3):
        body = Spinning((1.0, 2.0, 2.9), 7.0 * axis)
        body.fly(2.0, 100)
        expected = Rotation.from_rotvec(14.0 * axis).as_matrix()
        validated(
            "rotation after 2 s of spin about a principal axis", room="bodies/rigid",
            measured=reference.matrix(body.pose[0]), expected=expected, abs=1e-12, source="turn by ω t",
            reason="rounding of 100 steps",
        )  # fmt: skip


def test_a_symmetric_top_precesses_at_the_closed_form():
    """About L at L / I_across; in the body's axes its spin turns at (I_along / I_across - 1) w_along."""
    across, along = 2.0, 3.1
    spin = np.array([1.0, 0.0, 12.0])
    body = Spinning((across, across, along), spin)
    size = np.linalg.norm(body.momentum[0])
    time = 3.0
    body.fly(time, 3000)
    direction = body.momentum[0] / size
    expected = Rotation.from_rotvec(time * size / across * direction).apply([0.0, 0.0, 1.0])
    validated(
        "axis of a symmetric top after 3 s", room="bodies/rigid", measured=reference.matrix(body.pose[0])[:, 2],
        expected=expected, abs=1e-8, source="precession about L at L / I₁", reason="fourth order, 3 000 steps",
    )  # fmt: skip
    turn = (along / across - 1.0) * spin[2] * time
    validated(
        "angular velocity of a symmetric top in its own axes", room="bodies/rigid", measured=body.spin(),
        expected=[np.cos(turn), np.sin(turn), spin[2]], unit="1/s", abs=1e-7, source="turns at (I₃ / I₁ - 1) ω₃",
        reason="fourth order, 3 000 steps",
    )  # fmt: skip


@pytest.mark.parametrize(("axis", "flips"), [(0, False), (1, True), (2, False)])
def test_only_the_middle_axis_turns_over(axis, flips):
    """The theorem of the tennis racket, at 10 rad/s with a hundredth of it across, for ten seconds."""
    spin = np.full(3, 0.1)
    spin[axis] = 10.0
    body, along = Spinning((1.0, 2.0, 3.0), spin), []
    for _ in range(1000):
        body.fly(0.01, 1)
        along.append(body.spin()[axis])
    if flips:
        # growing as exp(w sqrt((I2 - I1)(I3 - I2) / (I1 I3)) t) = exp(5.8 t) from 0.01: over within a second and back
        along = np.sign(along)
        assert 3 <= np.count_nonzero(np.diff(along)) <= 12 and along[200:].min() < 0.0 < along[200:].max()
    else:
        assert np.min(along) > 9.9
