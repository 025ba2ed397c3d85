"""The only place with numba options.

Kernels are serial functions; threads share the blocks of a long call (`team.py`). Blocks are fixed by the mesh, never
by the thread count, and each block's sums are added in their order, so one thread and two give the same bits.

* `error_model="numpy"`: no zero-division branches inside loops; callers guard where it matters.
* machine code is stored in files (`kernel_store.py`).
* lean kernels compile without numba's reference counts (`_nrt=False`): they must not allocate arrays.
* no `fastmath`: reassociation would make results depend on the vector width the compiler picks.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numba

from .callees import Compiler, callee
from .groups import grouped
from .kernel_store import KernelStore

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a serial kernel (scalars and arrays in, outputs last)."""
    return _compiled(function, nogil=True, _nrt=True)


def inline_kernel(function: F) -> F:
    """Compile a small scalar helper that LLVM inlines into the kernels that call it.

    numba's `inline="always"` does so before types are known: each caller is then typed and lowered with a copy.
    """
    return _compiled(function, forceinline=True, _nrt=True)


def lean_kernel(function: F) -> F:
    """Compile a serial kernel that allocates no arrays, without reference counts.

    For groups of arrays as arguments, counting takes several times as long as a small kernel.
    """
    return _compiled(function, nogil=True, _nrt=False)


def lean_inline_kernel(function: F) -> F:
    """The same for a helper that LLVM inlines."""
    return _compiled(function, forceinline=True, _nrt=False)


def _compiled(function: F, **options: Any) -> F:
    # all of them explicit: what is not set is inherited from the first caller
    options = {"forceinline": False, "error_model": "numpy", "no_cfunc_wrapper": True} | options
    compiled: Any = numba.njit(pipeline_class=Compiler, **options)(function)
    if numba.config.DISABLE_JIT:
        return compiled  # type: ignore[no-any-return]
    compiled._cache = KernelStore(function)
    typeof = compiled.typeof_pyval
    compiled.typeof_pyval = lambda value: grouped(typeof(value))
    inner = functools.cache(lambda: callee(function, **options))  # made when a caller is compiled
    compiled.get_call_template = lambda *given: inner().get_call_template(*given)
    compiled.get_overload = lambda signature: inner().get_overload(signature)
    return compiled  # type: ignore[no-any-return]


class Repeated:
    """A kernel for repeated calls with the same group of arrays, and further arguments of the same types.

    numba determines the types of all arguments in each call: for 200 arrays in named tuples that takes 20 us, five
    times as long as passing them. A tuple is immutable, so the same one is passed to the machine code directly.
    """

    def __init__(self, function: Callable[..., Any], place: int = 0) -> None:
        """`place` of the group among the arguments."""
        self._function, self._place, self._group, self._entry = function, place, (), function

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel."""
        if arguments[self._place] is self._group or numba.config.DISABLE_JIT:
            return self._entry(*arguments)
        function: Any = self._function
        result = function(*arguments)  # which determines the types, in C
        compiled = list(dict.values(function.overloads))  # its own method hashes the types, which takes 1 ms
        self._entry = compiled[0].entry_point if len(compiled) == 1 else function
        self._group = arguments[self._place]
        return result
