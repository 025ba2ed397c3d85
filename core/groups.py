"""Groups of arrays as kernels take them: a named tuple is passed as one pointer.

numba passes a tuple item by item, and an array as seven numbers: a group of 200 arrays has 1 400 arguments, in every
call and in every kernel that hands it on. Most of the time of compiling went there. Here Python's call writes the items
into memory of its own, and kernels read what they use from there. A group never changes during a call, so the compiler
may read an item once and keep it.
"""

import hashlib
import itertools
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.extending import NativeValue, models, register_model, unbox

ir = cgutils.ir

_WORD = ir.IntType(64)
_POINTER = _WORD.as_pointer()


class Group(types.NamedTuple):  # type: ignore[misc,name-defined]
    """numba's type of a named tuple that is passed as a pointer."""

    @property
    def mangling_args(self) -> tuple[str, tuple[()]]:
        """A short name for functions that take the group: that of numba names all arrays."""
        digest = hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest()
        return f"{self.instance_class.__name__}{digest}", ()


def grouped(kind: Any) -> Any:
    """A type with groups in place of named tuples."""
    if isinstance(kind, types.BaseNamedTuple):  # type: ignore[attr-defined]
        return Group([grouped(member) for member in kind.types], kind.instance_class)
    return kind


@register_model(Group)
class _GroupModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Group) -> None:
        super().__init__(manager, kind, _POINTER)


def _count(kind: Any) -> int:
    """Numbers of a type of LLVM; each is in a word of its own."""
    return sum(map(_count, _parts(kind))) if _has_parts(kind) else 1


def _has_parts(kind: Any) -> bool:
    return isinstance(kind, (ir.LiteralStructType, ir.ArrayType))


def _parts(kind: Any) -> list[Any]:
    return list(kind.elements) if isinstance(kind, ir.LiteralStructType) else [kind.element] * kind.count


def _places(context: Any, kind: Group) -> list[int]:
    """The word where each item begins, and the end of the last."""
    sizes = [_count(context.get_value_type(member)) for member in kind.types]
    return [0, *itertools.accumulate(sizes)]


@unbox(Group)  # type: ignore[untyped-decorator]
def _unbox_group(kind: Group, item: Any, c: Any) -> Any:
    builder, places = c.builder, _places(c.context, kind)
    memory = cgutils.alloca_once(builder, ir.ArrayType(_WORD, places[-1] + 1))
    start, failed, natives = builder.bitcast(memory, _POINTER), cgutils.false_bit, []
    for k, member in enumerate(kind.types):
        found, place = c.pyapi.tuple_getitem(item, k), builder.gep(start, [_WORD(places[k])])
        if isinstance(member, types.Array):
            natives.append(NativeValue(None, is_error=builder.call(_writer(c, member), [found, place])))
        else:
            natives.append(c.unbox(member, found))
            _write(builder, natives[-1].value, place, 0)
        failed = builder.or_(failed, natives[-1].is_error)
    # items must not change from here on: what reads them cannot see where they were written
    same = ir.FunctionType(_POINTER, [_POINTER])
    group = builder.asm(same, "", "=r,0,~{memory}", [start], True)

    def cleanup() -> None:
        for place, member, native in zip(places, kind.types, natives, strict=False):
            if native.cleanup is not None:
                native.cleanup()
            if c.context.enable_nrt:
                value = _read(builder, c.context.get_value_type(member), builder.gep(group, [_WORD(place)]), 0)[0]
                c.context.nrt.decref(builder, member, value)

    return NativeValue(group, cleanup=cleanup, is_error=failed)


def _writer(c: Any, kind: Any) -> Any:
    """The function of a module that writes the numbers of an array from Python to a place; it returns if that failed.

    One for all arrays of a type, as a group may have two hundred.
    """
    digest = hashlib.blake2b(str(kind).encode(), digest_size=8).hexdigest()
    signature = ir.FunctionType(ir.IntType(1), [c.pyapi.pyobj, _POINTER])
    function = cgutils.get_or_insert_function(c.builder.module, signature, f"softpressure.array.{digest}")
    if not function.blocks:
        function.linkage = "internal"
        function.attributes.add("noinline")
        builder = ir.IRBuilder(function.append_basic_block())
        native = c.context.get_python_api(builder).to_native_value(kind, function.args[0])
        _write(builder, native.value, function.args[1], 0)
        builder.ret(native.is_error)
    return function


def _write(builder: Any, value: Any, start: Any, place: int) -> int:
    """Write a value's numbers into words from `place` on; returns the place after them."""
    if _has_parts(value.type):
        for k in range(len(_parts(value.type))):
            place = _write(builder, builder.extract_value(value, k), start, place)
        return place
    builder.store(value, builder.bitcast(builder.gep(start, [_WORD(place)]), value.type.as_pointer()))
    return place + 1


@lower_getattr_generic(Group)  # type: ignore[untyped-decorator]
def _item(context: Any, builder: Any, kind: Group, group: Any, name: str) -> Any:
    k = kind.fields.index(name)
    member = kind.types[k]
    start = builder.gep(group, [_WORD(_places(context, kind)[k])])
    value = builder.call(_reader(builder.module, context.get_value_type(member)), [start])
    return impl_ret_borrowed(context, builder, member, value)


def _reader(module: Any, kind: Any) -> Any:
    """The function of a module that reads a value from where it is."""
    digest = hashlib.blake2b(str(kind).encode(), digest_size=8).hexdigest()
    function = cgutils.get_or_insert_function(module, ir.FunctionType(kind, [_POINTER]), f"softpressure.item.{digest}")
    if not function.blocks:
        function.linkage = "linkonce_odr"
        function.attributes.add("alwaysinline")
        function.attributes.add("nounwind")
        builder = ir.IRBuilder(function.append_basic_block())
        builder.ret(_read(builder, kind, function.args[0], 0)[0])
    return function


def _read(builder: Any, kind: Any, start: Any, place: int) -> tuple[Any, int]:
    """The value in words from `place` on, and the place after it.

    Number by number: only of numbers the compiler can be told that they never change.
    """
    if _has_parts(kind):
        value = ir.Constant(kind, ir.Undefined)
        for k, part in enumerate(_parts(kind)):
            read, place = _read(builder, part, start, place)
            value = builder.insert_value(value, read, k)
        return value, place
    number = builder.load(builder.bitcast(builder.gep(start, [_WORD(place)]), kind.as_pointer()))
    number.set_metadata("invariant.load", builder.module.add_metadata([]))
    return number, place + 1
