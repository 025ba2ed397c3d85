"""Vectors of four numbers in kernels, for x, y and z or for four elements at a time.

numba leaves sums over x, y and z scalar (its SLP vectoriser is off): three loads, products and additions instead of one
of each. `Lanes` is LLVM's vector of four float32 or float64, available on every target. It has +, -, * and / lane by
lane, also with a number, with the rounding of scalars. Arrays must be contiguous; `first` is the index of an element in
the flat array. Where only three lanes are in memory the fourth reads 0 and is not written.

Kernels only: lanes cannot leave compiled code, `lane` takes a number out.
"""

import operator
from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

ir = cgutils.ir

_COUNT = 4
_LANE = ir.IntType(32)


class Lanes(types.Type):
    """numba's type of four numbers, `element` float32 or float64."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"lanes({element})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, ir.VectorType(_scalar(kind.element), _COUNT))


def _scalar(element: Any) -> Any:
    return ir.FloatType() if element == types.float32 else ir.DoubleType()


def _vector(element: Any) -> Any:
    return ir.VectorType(_scalar(element), _COUNT)


def _spread(builder: Any, value: Any) -> Any:
    """A number in all lanes."""
    nothing = ir.Constant(ir.VectorType(value.type, _COUNT), ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(nothing, value, _LANE(0)), nothing, ir.Constant(ir.VectorType(_LANE, _COUNT), [0] * 4)
    )


def _mixed(builder: Any, one: Any, other: Any, order: list[int]) -> Any:
    """Lanes of two vectors by their numbers, those of the second from 4 on."""
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(_LANE, len(order)), order))


def _rotated(builder: Any, one: Any) -> Any:
    return _mixed(builder, one, one, [1, 2, 0, 3])


def _sum_spread(builder: Any, total: Any) -> Any:
    for order in ([1, 0, 3, 2], [2, 3, 0, 1]):
        total = builder.fadd(total, _mixed(builder, total, total, order))
    return total


def _filled(builder: Any, start: Any, numbers: tuple[Any, ...]) -> Any:
    """Lanes with the first ones set to numbers."""
    value = ir.Constant(ir.VectorType(numbers[0].type, _COUNT), start)
    for place, number in enumerate(numbers):
        value = builder.insert_element(value, number, _LANE(place))
    return value


def _emitted(emit: Callable[..., Any]) -> Callable[..., Any]:
    """Code of an intrinsic that needs no more than LLVM's builder and the values."""
    return lambda context, builder, signature, arguments: emit(builder, *arguments)


def _register(operation: Callable[..., Any], emit: str) -> None:
    @type_callable(operation)  # type: ignore[untyped-decorator]
    def type_operation(context: Any) -> Callable[..., Any]:
        def result(a: Any, b: Any) -> Any:
            if isinstance(a, Lanes) and (a == b or isinstance(b, types.Number)):
                return a
            return b if isinstance(b, Lanes) and isinstance(a, types.Number) else None

        return result

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.return_type
        values = [
            value if given == kind else _spread(builder, context.cast(builder, value, given, kind.element))
            for given, value in zip(signature.args, arguments, strict=True)
        ]
        return getattr(builder, emit)(*values)

    for first, second in ((Lanes, Lanes), (Lanes, types.Number), (types.Number, Lanes)):
        lower_builtin(operation, first, second)(lower)


_register(operator.add, "fadd")
_register(operator.sub, "fsub")
_register(operator.mul, "fmul")
_register(operator.truediv, "fdiv")


@type_callable(operator.neg)  # type: ignore[untyped-decorator]
def _type_neg(context: Any) -> Callable[..., Any]:
    return lambda value: value if isinstance(value, Lanes) else None


@lower_builtin(operator.neg, Lanes)  # type: ignore[untyped-decorator]
def _lower_neg(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.fneg(arguments[0])


def place_of(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Pointer to an element of an array; the first two arguments are the array and the element's number."""
    kind, index = signature.args[:2]
    data = context.data_model_manager[kind].get(builder, arguments[0], "data")
    return builder.gep(data, [context.cast(builder, arguments[1], index, types.intp)])


def _check(array: Any, first: Any) -> None:
    is_flat = isinstance(array, types.Array) and array.layout == "C" and isinstance(array.dtype, types.Float)
    if not is_flat or not isinstance(first, types.Integer):
        raise TypingError(f"lanes are read from contiguous arrays of numbers, not from {array} at {first}")


@intrinsic  # type: ignore[untyped-decorator]
def load4(typing_context: Any, array: Any, first: Any) -> Any:
    """Elements first .. first + 3."""
    _check(array, first)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = place_of(context, builder, signature, arguments)
        value = builder.load(builder.bitcast(place, _vector(array.dtype).as_pointer()))
        value.align = array.dtype.bitwidth // 8
        return value

    return Lanes(array.dtype)(array, first), generate


@intrinsic  # type: ignore[untyped-decorator]
def load3(typing_context: Any, array: Any, first: Any) -> Any:
    """Elements first .. first + 2, and 0."""
    _check(array, first)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector, bits = _vector(array.dtype), array.dtype.bitwidth
        pointer, mask = vector.as_pointer(), ir.VectorType(ir.IntType(1), _COUNT)
        read = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(vector, [pointer, _LANE, mask, vector]),
            f"llvm.masked.load.v4f{bits}.p0v4f{bits}",
        )
        place = builder.bitcast(place_of(context, builder, signature, arguments), pointer)
        return builder.call(
            read, [place, _LANE(bits // 8), ir.Constant(mask, [1, 1, 1, 0]), ir.Constant(vector, [0.0] * 4)]
        )

    return Lanes(array.dtype)(array, first), generate


@intrinsic  # type: ignore[untyped-decorator]
def store4(typing_context: Any, array: Any, first: Any, value: Any) -> Any:
    """Write elements first .. first + 3."""
    _check(array, first)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = place_of(context, builder, signature, arguments)
        stored = builder.store(arguments[2], builder.bitcast(place, _vector(array.dtype).as_pointer()))
        stored.align = array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, first, Lanes(array.dtype)), generate


@intrinsic  # type: ignore[untyped-decorator]
def store3(typing_context: Any, array: Any, first: Any, value: Any) -> Any:
    """Write elements first .. first + 2."""
    _check(array, first)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = place_of(context, builder, signature, arguments)
        value = arguments[2]
        pair = builder.shuffle_vector(value, value, ir.Constant(ir.VectorType(_LANE, 2), [0, 1]))
        stored = builder.store(pair, builder.bitcast(place, pair.type.as_pointer()))
        stored.align = array.dtype.bitwidth // 8
        builder.store(builder.extract_element(value, _LANE(2)), builder.gep(place, [ir.IntType(64)(2)]))
        return context.get_dummy_value()

    return types.void(array, first, Lanes(array.dtype)), generate


@intrinsic  # type: ignore[untyped-decorator]
def spread(typing_context: Any, value: Any) -> Any:
    """A float32 or float64 in all lanes."""
    return Lanes(value)(value), lambda context, builder, signature, arguments: _spread(builder, arguments[0])


@intrinsic  # type: ignore[untyped-decorator]
def triple(typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """Three float64 and 0."""
    return Lanes(x)(x, x, x), _emitted(lambda builder, *given: _filled(builder, [0.0] * _COUNT, given))


@intrinsic  # type: ignore[untyped-decorator]
def lane(typing_context: Any, value: Any, number: Any) -> Any:
    """Lane `number` as a number."""
    emit = _emitted(lambda builder, one, place: builder.extract_element(one, builder.trunc(place, _LANE)))
    return value.element(value, types.intp), emit


@intrinsic  # type: ignore[untyped-decorator]
def sum_spread(typing_context: Any, value: Any) -> Any:
    """Sum of all lanes, (0 + 1) + (2 + 3), in all lanes."""
    return value(value), _emitted(_sum_spread)


@intrinsic  # type: ignore[untyped-decorator]
def four(typing_context: Any, x: Any, y: Any, z: Any, w: Any) -> Any:
    """Four float64."""
    return Lanes(x)(x, x, x, x), _emitted(lambda builder, *given: _filled(builder, ir.Undefined, given))


@intrinsic  # type: ignore[untyped-decorator]
def where_larger(typing_context: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Lane by lane c where a > b, else d."""

    def emit(builder: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", a, b), c, d)

    return a(a, b, c, d), _emitted(emit)


@intrinsic  # type: ignore[untyped-decorator]
def spread_each(typing_context: Any, value: Any) -> Any:
    """Four times four numbers: the first lane in all lanes, the second, the third, the fourth."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        all_ = [_mixed(builder, arguments[0], arguments[0], [k] * 4) for k in range(_COUNT)]
        return context.make_tuple(builder, signature.return_type, all_)

    return types.UniTuple(value, _COUNT)(value), generate  # type: ignore[attr-defined]


@intrinsic  # type: ignore[untyped-decorator]
def transposed(typing_context: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The first lanes of all four, the second, the third, the fourth."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second, third, fourth = arguments
        pairs = [
            (_mixed(builder, first, second, order), _mixed(builder, third, fourth, order))
            for order in ([0, 4, 2, 6], [1, 5, 3, 7])
        ]
        all_ = [_mixed(builder, *pair, order) for order in ([0, 1, 4, 5], [2, 3, 6, 7]) for pair in pairs]
        return context.make_tuple(builder, signature.return_type, all_)

    return types.UniTuple(a, _COUNT)(a, a, a, a), generate  # type: ignore[attr-defined]


@intrinsic  # type: ignore[untyped-decorator]
def dot(typing_context: Any, a: Any, b: Any) -> Any:
    """Sum of the products of all lanes, as a number."""

    def emit(builder: Any, a: Any, b: Any) -> Any:
        return builder.extract_element(_sum_spread(builder, builder.fmul(a, b)), _LANE(0))

    return a.element(a, a), _emitted(emit)


@intrinsic  # type: ignore[untyped-decorator]
def rotated(typing_context: Any, value: Any) -> Any:
    """The lanes x, y, z as y, z, x, the fourth as it is."""
    return value(value), _emitted(_rotated)


@intrinsic  # type: ignore[untyped-decorator]
def cross(typing_context: Any, a: Any, b: Any) -> Any:
    """a x b of two vectors x, y, z."""

    def emit(builder: Any, a: Any, b: Any) -> Any:
        first, second = builder.fmul(a, _rotated(builder, b)), builder.fmul(_rotated(builder, a), b)
        return _rotated(builder, builder.fsub(first, second))

    return a(a, a), _emitted(emit)


@intrinsic  # type: ignore[untyped-decorator]
def root(typing_context: Any, value: Any) -> Any:
    """Square root of each lane, or of a number."""

    def emit(builder: Any, one: Any) -> Any:
        if isinstance(value, Lanes):
            kind, name = _vector(value.element), f"llvm.sqrt.v4f{value.element.bitwidth}"
        else:
            kind, name = _scalar(value), f"llvm.sqrt.f{value.bitwidth}"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), name)
        return builder.call(function, [one])

    return value(value), _emitted(emit)


@intrinsic  # type: ignore[untyped-decorator]
def any_larger(typing_context: Any, a: Any, b: Any) -> Any:
    """Whether a > b in any lane."""

    def emit(builder: Any, a: Any, b: Any) -> Any:
        found = builder.bitcast(builder.fcmp_ordered(">", a, b), ir.IntType(_COUNT))
        return builder.icmp_unsigned("!=", found, ir.Constant(ir.IntType(_COUNT), 0))

    return types.boolean(a, b), _emitted(emit)


@intrinsic  # type: ignore[untyped-decorator]
def four_sums3(typing_context: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """(0 + 1) + 2 of each of four vectors whose fourth lane is 0."""

    def emit(builder: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        first, second = (
            builder.fadd(_mixed(builder, one, other, [0, 4, 2, 6]), _mixed(builder, one, other, [1, 5, 3, 7]))
            for one, other in ((a, b), (c, d))
        )
        return builder.fadd(_mixed(builder, first, second, [0, 1, 4, 5]), _mixed(builder, first, second, [2, 3, 6, 7]))

    return a(a, a, a, a), _emitted(emit)


@intrinsic  # type: ignore[untyped-decorator]
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """The larger of both in each lane; b where a is not a number."""
    return a(a, a), _emitted(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


@intrinsic  # type: ignore[untyped-decorator]
def smaller(typing_context: Any, a: Any, b: Any) -> Any:
    """The smaller of both in each lane; b where a is not a number."""
    return a(a, a), _emitted(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))


@intrinsic  # type: ignore[untyped-decorator]
def positive(typing_context: Any, value: Any) -> Any:
    """One bit for each lane that is above 0: 1 for the first, 8 for the fourth."""

    def emit(builder: Any, one: Any) -> Any:
        found = builder.fcmp_ordered(">", one, ir.Constant(one.type, [0.0] * _COUNT))
        return builder.zext(builder.bitcast(found, ir.IntType(_COUNT)), ir.IntType(64))

    return types.int64(value), _emitted(emit)
