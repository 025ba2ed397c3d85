"""Boxes for the tests of rigid bodies."""

import numpy as np
import shapes


def block(sizes, centre=(0.0, 0.0, 0.0), turn=None, cells=1):
    """Box of edges `sizes` [m], turned about its centre by a matrix."""
    x, triangles = shapes.box(1.0, cells)
    x = x * np.asarray(sizes)
    return (x if turn is None else x @ turn.T) + np.asarray(centre, float), triangles
