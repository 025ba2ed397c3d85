"""A skin that crosses itself: who is on the wrong side, where it leaves, and what waits."""

import contact_reference as reference
import numpy as np
import pytest
import shapes
from softpressure_ext.core.contact.untangle.crossings import Crossings


def skin(mesh, thickness=0.01):
    return reference.model_of([mesh], thickness=thickness, self_collision=True)


def test_a_body_inside_out_waits_until_it_is_clear():
    ball = shapes.icosphere(2, 1.0)
    crossings = Crossings(skin(ball, 0.02))
    crossings.find(ball[0] * [1.0, 1.0, -1.0])
    assert crossings.suspended.tolist() == [0] and crossings.listed().tolist() == [[0, 0, 0]]
    crossings.find(0.5 * ball[0])
    assert not len(crossings.suspended) and not len(crossings.listed())


@pytest.mark.parametrize("name", ["tube", "pushed through", pytest.param("cow.obj", marks=pytest.mark.slow)])
def test_who_is_on_the_wrong_side_of_the_own_skin(name):
    if name == "tube":
        x, triangles = shapes.tube(0.3, 0.12, 1.05, 0.2)
    elif name == "cow.obj":
        x, triangles = shapes.foreign_mesh(name)
    else:
        x, triangles = shapes.icosphere(3, 1.0)
        x = np.where(x[:, 2:] > 0.6, x * [1.0, 1.0, -1.5], x)
    model = skin((x, triangles), 0.002 * np.ptp(x))
    crossings = Crossings(model)
    crossings.find(x)
    normal = np.zeros_like(x)
    area = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    for corner in range(3):
        np.add.at(normal, triangles[:, corner], area)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    turns = reference.windings(x + 0.01 * model.thickness[0] * normal, x, triangles)
    wrong = np.flatnonzero(turns)
    assert len(wrong) > 10
    np.testing.assert_array_equal(crossings.pairs, np.stack([wrong, np.zeros_like(wrong)], axis=1))
    np.testing.assert_array_equal(crossings.listed()[:, 2], np.sign(turns[wrong]))


def test_a_crossed_skin_leaves_by_the_other_part_of_it():
    """Both ends of a tube, one through the other: each listed point has one row, with a triangle of the other end."""
    x, triangles = shapes.tube(0.3, 0.12, 1.05, 0.2)
    model = skin((x, triangles), 0.002)
    crossings = Crossings(model)
    crossings.find(x)
    assert len(crossings.suspended) == 0
    contacts = crossings.gaps(x)
    rows = slice(0, len(contacts.gap))
    np.testing.assert_array_equal(contacts.points[rows, 0], crossings.pairs[:, 0])
    assert (contacts.side[rows] == -1).all() and len(contacts.gap) > 10
    turn = len(x) // 2  # points are numbered along the tube
    assert ((contacts.points[rows, 0] < turn) != (contacts.points[rows, 1] < turn)).all()
    assert (contacts.gap[rows] < contacts.thickness[rows]).all()


def test_walls_near_each_other_at_rest_are_parted_by_no_more_than_half_of_it():
    """A tube flattened onto itself by hand: its points keep at most half of what they are apart at rest."""
    x, triangles = shapes.tube(0.3, 0.12, 1.05, 0.2)
    model = skin((x, triangles), 0.5)  # far more than anything is apart
    crossings = Crossings(model)
    crossings.find(x)
    contacts = crossings.gaps(x)
    corners = x[contacts.points[: len(contacts.gap)]]
    apart = np.linalg.norm(
        corners[:, 0] - reference.closest_on_triangle(corners[:, 0], *(corners[:, k] for k in (1, 2, 3))), axis=1
    )
    np.testing.assert_allclose(contacts.thickness[: len(contacts.gap)], np.minimum(1.0, 0.5 * apart), rtol=1e-9)
