"""Words that several threads read and write at once: whole numbers in an int64 array, in kernels only.

What a thread wrote anywhere before it wrote a word with `publish` or `exchanged` is there for a thread that reads the
word afterwards with `observed` or `exchanged`, on every processor (acquire and release).
"""

import ctypes
import sys
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from .simd import place_of

ir = cgutils.ir

_BYTES = 8
#: What tells a processor that a loop waits, by the start of its name: LLVM's intrinsic and its arguments.
_WAITS = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
    "arm64": ("llvm.aarch64.hint", (1,)),
}


@intrinsic  # type: ignore[untyped-decorator]
def observed(typing_context: Any, words: Any, place: Any) -> Any:
    """The word there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(place_of(context, builder, signature, arguments), "acquire", _BYTES)

    return types.int64(words, place), generate


@intrinsic  # type: ignore[untyped-decorator]
def publish(typing_context: Any, words: Any, place: Any, value: Any) -> Any:
    """Write a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], place_of(context, builder, signature, arguments), "release", _BYTES)
        return context.get_dummy_value()

    return types.void(words, place, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def exchanged(typing_context: Any, words: Any, place: Any, expected: Any, value: Any) -> Any:
    """Write a word if it is still what is expected; whether it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = place_of(context, builder, signature, arguments)
        found = builder.cmpxchg(word, arguments[2], arguments[3], "acq_rel", "monotonic")
        return builder.extract_value(found, 1)

    return types.boolean(words, place, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def wait_a_little(typing_context: Any) -> Any:
    """To be called in loops that wait for a word: some ten nanoseconds in which the core saves power."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        name, given = _WAITS.get(builder.module.triple.split("-")[0], ("", ()))
        if name:
            kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * len(given))
            call = cgutils.get_or_insert_function(builder.module, kind, name)
            builder.call(call, [ir.IntType(32)(number) for number in given])
        return context.get_dummy_value()

    return types.void(), generate


def yield_address() -> int:
    """Where the system's function is by which a thread lets others run on its core, for `give_way`; 0 if unknown.

    An address, not a name: machine code is kept in files, and what it names must be there where it is loaded.
    """
    try:
        if sys.platform == "win32":
            function = ctypes.windll.kernel32.SwitchToThread
        else:
            function = ctypes.CDLL(None).sched_yield
    except (AttributeError, OSError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@intrinsic  # type: ignore[untyped-decorator]
def give_way(typing_context: Any, address: Any) -> Any:
    """Let other threads run on this core, if there are any; `address` as `yield_address` said, not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [])
        return context.get_dummy_value()

    return types.void(types.int64), generate
