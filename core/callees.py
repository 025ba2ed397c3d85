"""Kernels that only other kernels call: typed and lowered, then linked into their callers.

numba generates machine code and an entry point from Python for each function that it compiles, also where only other
functions call it, whose machine code contains a copy: most of that work is wasted. `callee` makes a dispatcher for
calls from kernels that omits it. It stores no files, as no machine code refers to it.
"""

from collections.abc import Callable
from typing import Any

import numba
from numba import _dynfunc
from numba.core import codegen, compiler, types
from numba.core.targetconfig import ConfigStack
from numba.core.types.misc import unliteral

_FUNCTION: Any = types.BaseFunction  # type: ignore[attr-defined]
#: Of `_resolved`: signatures by function, argument types and whether references are counted.
_kept = dict[Any, Any]()


def callee(function: Callable[..., Any], **options: Any) -> Any:
    """A dispatcher of a function that kernels call; Python cannot."""
    made: Any = numba.njit(no_cpython_wrapper=True, pipeline_class=_Compiler, **options)(function)
    made.get_call_template = _for_one_type(made.get_call_template)
    return made


def _for_one_type(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Resolve a call with a constant, or a number of 32 bits, to the kernel for the constant's type, or for 64 bits.

    numba treats the constants 0 and False as types of their own, and would compile the kernel once more for each, and
    once more for an index from an array than for one of a loop.
    """

    def get_call_template(args: Any, kws: Any) -> Any:
        return resolve(tuple(_usual(one) for one in args), {name: _usual(one) for name, one in kws.items()})

    return get_call_template


def _usual(kind: Any) -> Any:
    """The type that kernels have for values of a type."""
    kind = unliteral(kind)
    return types.int64 if kind == types.int32 else kind


class Compiler(compiler.Compiler):  # type: ignore[misc]
    """numba's passes; here and for what is compiled in between, calls are resolved by `_resolved`."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, under numba's lock."""
        before, _FUNCTION.get_call_type = _FUNCTION.get_call_type, _resolved
        try:
            return super().compile_extra(func)
        finally:
            _FUNCTION.get_call_type = before


class _Compiler(compiler.Compiler):  # type: ignore[misc]
    """numba's passes, with `_Library` for their result."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.targetctx.get_executable = _identity  # a context of this compilation alone

    def compile_extra(self, func: Any) -> Any:
        self.state.library = _Library(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


_resolve = _FUNCTION.get_call_type


def _resolved(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The signature of a call, resolved once.

    numba tries all overloads of an operator for each a + b again, which takes a seventh of the time of compiling.
    """
    key = (function, args, *kws.items(), ConfigStack.top_or_none().nrt)
    if key not in _kept:
        _kept[key] = _resolve(function, context, args, kws)
    return _kept[key]


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
