"""Energies of elements: functions of one weighted sum of up to four points.

    E = phi(d),   d = sum w_i x_i - o,   force on point i: -w_i phi',   Hessian between i and j: w_i w_j phi''

A spring to a fixed position has one point, one between two vertices two, an attachment four. Such an energy is a file
with the elements of a model, and phi with its derivatives as a kernel. Only `energies.py` names it. Explicit steps and
the papers' integrators add the forces (`add_element_forces`); XPBD projects one element after the other
(`project_elements`).

Kernels call phi by its address, so that another list of energies needs no new compilation.

Positions, velocities and stiffness are flat here; a point has `stride` numbers, of which the first three count.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.core.types.containers import UniTuple
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..array_types import FloatArray, IntArray
from ..jit import kernel, lean_inline_kernel, lean_kernel
from ..model import Model

#: Types of phi's arguments and result, see `Energy.potential`.
ARGUMENTS = (types.float64[::1], types.int64, types.float64, types.float64, types.float64)
RESULT = UniTuple(types.float64, 10)


class Part(NamedTuple):
    """The elements of one energy."""

    points: IntArray  # the model's points; an unused slot names any point of the element, shape (count, 4)
    weights: FloatArray  # w, 0 in unused slots, shape (count, 4)
    offset: FloatArray  # o [m], shape (count, 3)
    parameters: FloatArray  # what phi reads, shape (count, parameter_count)


class Energy(NamedTuple):
    """An energy of elements.

    `potential(parameters, first, x, y, z)` is phi [J] at d = (x, y, z), its three derivatives [N], and its second ones
    xx, yy, zz, xy, xz, yz [N/m], positive semi-definite: a kernel without arrays of its own that raises nothing. The
    element's parameters begin at `parameters[first]`.
    """

    name: str
    elements: Callable[[Model], Part]
    potential: Callable[..., tuple[float, ...]]
    #: Whether explicit steps and XPBD treat the elements as joints, by impulses (`solvers/explicit/glue.py`).
    is_joint: bool = False
    #: Of joints: o [m] where a step starts at x [m], shape (count, 3), if it is not that of the part.
    offset: Callable[[Model, FloatArray], FloatArray] | None = None


class Elements(NamedTuple):
    """The elements of several energies, for kernels."""

    points: IntArray  # shape (count, 4)
    weights: FloatArray  # shape (count, 4)
    offset: FloatArray  # shape (count, 3)
    parameters: FloatArray  # of all elements, flat
    first: NDArray[np.int64]  # place of each element's first parameter, shape (count,)
    potential: NDArray[np.int64]  # address of phi, shape (count,)


def address_of(potential: Any) -> int:
    """Address of phi's machine code."""
    potential.compile(ARGUMENTS)
    overload = potential.overloads[ARGUMENTS]
    return int(overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name))


@intrinsic  # type: ignore[untyped-decorator]
def call_potential(typing_context: Any, address: Any, parameters: Any, first: Any, x: Any, y: Any, z: Any) -> Any:
    """Call phi by its address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.call_conv.get_function_type(RESULT, ARGUMENTS)
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        _, found = context.call_conv.call_function(builder, function, RESULT, ARGUMENTS, arguments[1:])
        return found

    return RESULT(types.int64, *ARGUMENTS), generate


@lean_inline_kernel
def weighted_sum(elements, e, values, stride, x, y, z):
    """(x, y, z) + sum w_i v_i of element e."""
    for slot in range(4):
        i, w = stride * elements.points[e, slot], elements.weights[e, slot]
        x, y, z = x + w * values[i], y + w * values[i + 1], z + w * values[i + 2]
    return x, y, z


@lean_inline_kernel
def apart(elements, e, x, stride):
    """d of element e [m] at positions x [m]."""
    return weighted_sum(elements, e, x, stride, -elements.offset[e, 0], -elements.offset[e, 1], -elements.offset[e, 2])


@lean_inline_kernel
def terms_at(elements, e, dx, dy, dz):
    """phi of element e with its derivatives at d."""
    return call_potential(elements.potential[e], elements.parameters, elements.first[e], dx, dy, dz)


@lean_kernel
def add_element_forces(elements, x, velocity, inverse_mass, h):
    """Add the impulses of the elements' forces at positions x [m] in a time h [s] to velocities [m/s]; stride 4."""
    for e in range(elements.first.shape[0]):
        dx, dy, dz = apart(elements, e, x, 4)
        terms = terms_at(elements, e, dx, dy, dz)
        apply_impulse(elements, e, -h * terms[1], -h * terms[2], -h * terms[3], velocity, inverse_mass)


@lean_inline_kernel
def apply_impulse(elements, e, jx, jy, jz, velocity, inverse_mass):
    """Apply an impulse j [N s] to element e: w_i j to each point."""
    for slot in range(4):
        i = elements.points[e, slot]
        share = elements.weights[e, slot] * inverse_mass[i]
        velocity[4 * i] += share * jx
        velocity[4 * i + 1] += share * jy
        velocity[4 * i + 2] += share * jz


@lean_kernel
def project_elements(elements, x, velocity, inverse_mass, h):
    """An implicit Euler step of each element by itself, one after the other, on velocities [m/s]; stride 4.

        J = -h phi'(d + h (u + s J)),   s = sum w^2 / m,   u = sum w v

    One Newton step from J = 0: (1 + h^2 s phi'') J = -h phi'(d + h u). XPBD with the compliance 1 / phi'' is the same
    where phi is quadratic.
    """
    for e in range(elements.first.shape[0]):
        yielding = 0.0
        for slot in range(4):
            yielding += elements.weights[e, slot] ** 2 * inverse_mass[elements.points[e, slot]]
        if yielding == 0.0:
            continue
        dx, dy, dz = apart(elements, e, x, 4)
        ux, uy, uz = weighted_sum(elements, e, velocity, 4, 0.0, 0.0, 0.0)
        _, gx, gy, gz, a, b, c, d, f, g = terms_at(elements, e, dx + h * ux, dy + h * uy, dz + h * uz)
        scale = h * h * yielding
        a, b, c, d, f, g = 1.0 + scale * a, 1.0 + scale * b, 1.0 + scale * c, scale * d, scale * f, scale * g
        # solved by cofactors
        xx, yy, zz = b * c - g * g, a * c - f * f, a * b - d * d
        xy, xz, yz = f * g - d * c, d * g - f * b, d * f - g * a
        size = -h / (a * xx + d * xy + f * xz)
        apply_impulse(
            elements, e, size * (xx * gx + xy * gy + xz * gz), size * (xy * gx + yy * gy + yz * gz),
            size * (xz * gx + yz * gy + zz * gz), velocity, inverse_mass,
        )  # fmt: skip


@kernel
def bound_elements(elements, x, stride, stiffness):
    """Add a bound of the elements' stiffness at positions x [m] to that of the vertices [N/m].

    K <= diag(s) as quadratic forms: |w_i| sum |w_j| times the largest row sum of |phi''|.
    """
    for e in range(elements.first.shape[0]):
        dx, dy, dz = apart(elements, e, x, stride)
        terms = terms_at(elements, e, dx, dy, dz)
        xy, xz, yz = abs(terms[7]), abs(terms[8]), abs(terms[9])
        size = max(abs(terms[4]) + xy + xz, max(xy + abs(terms[5]) + yz, xz + yz + abs(terms[6])))
        total = 0.0
        for slot in range(4):
            total += abs(elements.weights[e, slot])
        for slot in range(4):
            i = elements.points[e, slot]
            if i < stiffness.shape[0]:
                stiffness[i] += abs(elements.weights[e, slot]) * total * size
