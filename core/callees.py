"""Kernels that only other kernels call: typed and lowered, then linked into their callers.

numba generates machine code and an entry point from Python for each function that it compiles, also where only other
functions call it, whose machine code contains a copy: most of that work is wasted. `callee` makes a dispatcher for
calls from kernels that omits it. It stores no files, as no machine code refers to it.
"""

from collections.abc import Callable
from typing import Any

import numba
from numba import _dynfunc
from numba.core import codegen, compiler
from numba.core.types.misc import unliteral


def callee(function: Callable[..., Any], **options: Any) -> Any:
    """A dispatcher of a function that kernels call; Python cannot."""
    made: Any = numba.njit(no_cpython_wrapper=True, pipeline_class=_Compiler, **options)(function)
    made._compiler._customize_flags = Flags
    made.get_call_template = _for_one_type(made.get_call_template)
    return made


class Flags(compiler.Flags):  # type: ignore[misc]
    """A kernel's options with a fast hash and comparison.

    numba compares them for each overload of an operator whenever one is resolved, and builds a table of all options
    each time.
    """

    _HASH = hash(compiler.Flags())

    def __hash__(self) -> int:
        return self._HASH

    def __eq__(self, other: object) -> bool:
        return bool(self._values == other._values if isinstance(other, Flags) else super().__eq__(other))


def _for_one_type(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Resolve a call with a constant to the kernel for the constant's type.

    numba treats the constants 0 and False as types of their own, and would compile the kernel once more for each.
    """

    def get_call_template(args: Any, kws: Any) -> Any:
        return resolve(tuple(unliteral(one) for one in args), {name: unliteral(one) for name, one in kws.items()})

    return get_call_template


class _Compiler(compiler.Compiler):  # type: ignore[misc]
    """numba's passes, with `_Library` for their result."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.targetctx.get_executable = _identity  # a context of this compilation alone

    def compile_extra(self, func: Any) -> Any:
        self.state.library = _Library(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class _Library(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A function before it is optimized, to be linked into its callers."""

    def _optimize_final_module(self) -> None:
        """Its callers' libraries do it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def _identity(library: Any, fndesc: Any, env: Any) -> Any:
    """What numba knows a compiled function by, instead of its machine code."""
    return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, env, (library,))
