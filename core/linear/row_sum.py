"""One sparse row times a vector of triples, four lanes at a time.

numba leaves three interleaved sums scalar (its SLP vectoriser is off), which costs three loads, products and
additions per entry where one of each does. So this one loop is written in LLVM's vector type, which every
target has. The fourth lane reads the next triple and is dropped; hence vectors need one spare element.
"""

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

ir = cgutils.ir

_LANES = ir.VectorType(ir.FloatType(), 4)
_INDEX = ir.IntType(64)
_LANE = ir.IntType(32)


@intrinsic  # type: ignore[untyped-decorator]
def row_sum(typing_context: Any, begin: Any, end: Any, other: Any, weight: Any, vector: Any) -> Any:
    """Sum over q in begin .. end of `weight[q] * vector[other[q] : other[q] + 3]`, as three float32.

    begin, end uint32; other uint32 and weight float32 of equal length; vector float32 with one element to spare.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, last = (builder.zext(bound, _INDEX) for bound in arguments[:2])
        others, weights, values = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[2:], arguments[2:], strict=True)
        )
        total = cgutils.alloca_once_value(builder, ir.Constant(_LANES, [0.0] * 4))
        nothing = ir.Constant(_LANES, ir.Undefined)
        with cgutils.for_range_slice(builder, first, last, ir.Constant(_INDEX, 1), _INDEX) as (entry, _):
            column = builder.zext(builder.load(builder.gep(others, [entry])), _INDEX)
            factor = builder.load(builder.gep(weights, [entry]))
            factors = builder.shuffle_vector(
                builder.insert_element(nothing, factor, _LANE(0)),
                nothing,
                ir.Constant(ir.VectorType(_LANE, 4), [0] * 4),
            )
            triple = builder.load(builder.bitcast(builder.gep(values, [column]), _LANES.as_pointer()))
            triple.align = 4
            builder.store(builder.fadd(builder.load(total), builder.fmul(factors, triple)), total)
        result = builder.load(total)
        return cgutils.pack_array(builder, [builder.extract_element(result, _LANE(lane)) for lane in range(3)])

    kinds = types.UniTuple(types.float32, 3)  # type: ignore[attr-defined]
    return kinds(begin, end, other, weight, vector), generate
