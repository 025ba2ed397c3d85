"""Volumes of the cells of a soft solid: its energy besides that of its springs, measured at the corners of each cell.

A corner and its three neighbors in the cell are a tetrahedron (the XPBD page; Macklin et al. 2016) of the volume

    V = (x1 - x0) . (x2 - x0) cross (x3 - x0) / 6,   C = V - V0   (not 6 V as in the page's text)

and 3/4 of the sum of a cell's eight is the cell's volume W by the trapezoid rule. With K [Pa], the bulk stiffness of
the solid less that of its springs (`bodies.lattice.springs`), a cell has the energy

    E = K / (2 W0) ((1 - s) (3/4 sum C)^2 + s 9/2 sum C^2)

A share of it belongs to the cell as a whole, because pressures at each corner alone lock where a nearly incompressible
body bends (selective reduced integration; Hughes 1980). The share s brings back corners that are flat or turned inside
out, with a finite force, as V keeps its sign. Corners are the same in every mirror image of a cell, which the
tetrahedra of the surface are not: a cube that is dropped straight stays where it is.
"""

import numpy as np

from ..array_types import FloatArray
from ..jit import lean_inline_kernel

#: Volume of a tetrahedron over its triple product [1].
SIXTH = 1.0 / 6.0
#: s: share of the bulk stiffness that each corner of a cell has for itself.
CORNER_SHARE = 0.5
#: Corners of a cell, numbered by bits as in `bodies.lattice.cells`, and their neighbors, ordered by a positive volume.
CORNER_TETRAHEDRA = np.array([(c, c ^ 4, c ^ 2, c ^ 1) for c in range(8)], np.int32)
CORNER_TETRAHEDRA[[1, 2, 4, 7], 2:] = CORNER_TETRAHEDRA[[1, 2, 4, 7], :1:-1]
#: Faces of a tetrahedron across from each of its points, counter-clockwise from inside.
FACES = np.array([(1, 3, 2), (0, 2, 3), (0, 3, 1), (0, 1, 2)], np.int32)


def corner_stiffness(bulk: float, volume: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Stiffness [Pa/m^3] of the volume of each corner, and of the sum of eight, in cells of a volume [m^3]."""
    return 4.5 * CORNER_SHARE * bulk / volume, 0.5625 * (1.0 - CORNER_SHARE) * bulk / volume


def bulk_stiffness(corner: FloatArray, of_sum: FloatArray, volume: FloatArray) -> FloatArray:
    """K [Pa] of cells whose corners' tetrahedra have these stiffnesses [Pa/m^3] and together a volume [m^3]."""
    bulk: FloatArray = 0.75 * volume * (corner / 4.5 + of_sum / 0.5625)
    return bulk


@lean_inline_kernel
def corner_volume(t, points, x):
    """V [m^3] of tetrahedron t."""
    i, (gx, gy, gz) = points[t, 0], volume_gradient(t, 1, points, x)
    j = points[t, 1]
    return (x[j, 0] - x[i, 0]) * gx + (x[j, 1] - x[i, 1]) * gy + (x[j, 2] - x[i, 2]) * gz


@lean_inline_kernel
def volume_gradient(t, slot, points, x):
    """dV/dx [m^2] of tetrahedron t for one of its four points."""
    i, j, k = points[t, FACES[slot, 0]], points[t, FACES[slot, 1]], points[t, FACES[slot, 2]]
    ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    return SIXTH * (ay * bz - az * by), SIXTH * (az * bx - ax * bz), SIXTH * (ax * by - ay * bx)


@lean_inline_kernel
def sum_gradient(cell, corner, points, x):
    """dV/dx [m^2] of the sum of a cell's eight volumes for one of its corners."""
    sx = sy = sz = 0.0
    for slot in range(4):
        # a neighbor has the other order of axes
        own = slot if slot < 2 else 5 - slot
        gx, gy, gz = volume_gradient(8 * cell + CORNER_TETRAHEDRA[corner, slot], own, points, x)
        sx, sy, sz = sx + gx, sy + gy, sz + gz
    return sx, sy, sz
