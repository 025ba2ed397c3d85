"""The rigid motion of a membrane against its twin."""

import numpy as np
import reference
from softpressure_ext.core.solvers.rigid_motion import rigid_motions
from solver_scene import ROUNDING, motions, parts, random_motion, two_bodies


def test_rigid_motion_equals_its_twin():
    model = two_bodies()
    x, v = random_motion(model)
    rows = motions(model, x, v)
    for row, part in zip(rows, parts(model), strict=True):
        centre, velocity, spin = reference.rigid_motion(x[part], v[part], model.vertex_mass[part])
        np.testing.assert_allclose(row[:9], np.concatenate([centre, velocity, spin]), rtol=0, atol=ROUNDING)
        inverse = np.array([[row[9], row[12], row[13]], [row[12], row[10], row[14]], [row[13], row[14], row[11]]])
        tensor = reference.inertia_tensor(x[part], model.vertex_mass[part])
        np.testing.assert_allclose(inverse @ tensor, np.eye(3), rtol=0, atol=ROUNDING)


def test_rigid_motion_of_a_line_is_finite():
    x = np.linspace(0, 1, 7)[:, None] * [1.0, 2.0, -1.0]
    rows = np.zeros((1, 15))
    rigid_motions(x, np.ones_like(x), np.ones(7), np.array([0, 7], np.int32), rows)
    assert np.isfinite(rows).all()
