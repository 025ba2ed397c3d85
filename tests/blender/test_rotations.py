"""Rotations as Blender stores them: exact, and continuous where a body turns steadily."""

import itertools
from typing import Any

import bpy  # noqa: F401 - brings mathutils
import numpy as np
import pytest
from mathutils import Euler, Quaternion
from softpressure_ext.softpressure.scene_io import rotations

ORDERS = ["".join(letters) for letters in itertools.permutations("XYZ")]
AXES = np.eye(3)


def about(axis: Any, angle: float) -> Any:
    axis = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    return rotations.from_quaternion(np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * axis)]))


def tumbling() -> Any:
    """400 steps of up to 0.3 rad about a wandering axis."""
    generator = np.random.default_rng(4)
    turns = [np.eye(3)]
    for _ in range(400):
        turns.append(about(generator.normal(size=3), generator.uniform(0.05, 0.3)) @ turns[-1])
    return np.array(turns)


def test_quaternions_and_axis_angles_are_those_of_blender() -> None:
    turns = tumbling()
    quaternions, axis_angles = rotations.quaternions(turns), rotations.axis_angles(turns)
    for turn, quaternion, (angle, *axis) in zip(turns, quaternions, axis_angles, strict=True):
        # mathutils computes in float32
        np.testing.assert_allclose(Quaternion(quaternion).to_matrix(), turn, atol=1e-6)
        np.testing.assert_allclose(Quaternion(axis, angle).to_matrix(), turn, atol=3e-6)
    assert (np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]) > np.cos(0.16)).all()


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_are_those_of_blender_in_gimbal_lock_too(order: str) -> None:
    generator = np.random.default_rng(5)
    first, middle, _ = ("XYZ".index(letter) for letter in order)
    turns = list(tumbling())
    for angle in generator.uniform(-3.0, 3.0, 20):
        for quarter in (0.5 * np.pi, -0.5 * np.pi):
            angles = np.zeros(3)
            angles[first], angles[middle] = angle, quarter
            turns.append(rotations.from_euler(angles, order))
    found = rotations.eulers(np.array(turns), order)
    for turn, angles in zip(turns, rotations.angles(np.array(turns), order), strict=True):
        np.testing.assert_allclose(rotations.from_euler(angles, order), turn, atol=1e-8)
    for turn, angles in zip(turns, found, strict=True):
        np.testing.assert_allclose(rotations.from_euler(angles, order), turn, atol=1e-8)
        np.testing.assert_allclose(Euler(angles, order).to_matrix(), turn, atol=1e-5)  # float32 angles of up to 40 rad


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_steady_turn_about_one_axis_is_one_growing_angle(order: str, place: int) -> None:
    axis = "XYZ".index(order[place])
    angles = np.linspace(0.0, 15.0, 101)
    found = rotations.eulers(np.array([about(AXES[axis], angle) for angle in angles]), order)
    expected = np.outer(angles, AXES[axis])
    np.testing.assert_allclose(found, expected, atol=1e-7)  # also past a quarter turn of the middle axis
