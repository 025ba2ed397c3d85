"""Four sparse rows at once times a vector of four numbers per row.

Entry by entry, the four rows' weights come with one load and their columns with two, which leaves little more than the
loads of the vector itself; the additions of one row need not wait for each other's. The sums are those of one row
after the other, bit by bit. Sixteen lanes are LLVM's vector type, which targets without such registers split.
"""

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from ..simd import Lanes

ir = cgutils.ir

_INDEX, _PAIR, _LANE = ir.IntType(64), ir.IntType(64), ir.IntType(32)
_FOUR, _SIXTEEN = ir.VectorType(ir.FloatType(), 4), ir.VectorType(ir.FloatType(), 16)


def _order(lanes: Any) -> Any:
    lanes = list(lanes)
    return ir.Constant(ir.VectorType(_LANE, len(lanes)), lanes)


@intrinsic  # type: ignore[untyped-decorator]
def four_sums(typing_context: Any, begin: Any, end: Any, other: Any, weight: Any, vector: Any) -> Any:
    """Sums over k in begin .. end of `weight[4 k + r] * vector[other[4 k + r] ...]` for r = 0 .. 3, each as lanes.

    begin, end uint32; other uint32 and weight float32 of equal length, `other` the first of four elements of the
    vector, float32. All contiguous.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, last = (builder.zext(bound, _INDEX) for bound in arguments[:2])
        others, weights, values = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[2:], arguments[2:], strict=True)
        )
        total = cgutils.alloca_once_value(builder, ir.Constant(_SIXTEEN, [0.0] * 16))
        with cgutils.for_range_slice(builder, first, last, ir.Constant(_INDEX, 1), _INDEX) as (entry, _):
            place = builder.mul(entry, _INDEX(4))
            factors = builder.load(builder.bitcast(builder.gep(weights, [place]), _FOUR.as_pointer()))
            factors.align = 4
            factors = builder.shuffle_vector(factors, factors, _order(lane // 4 for lane in range(16)))
            rows = []
            for half in (0, 2):
                pair = builder.gep(others, [builder.add(place, _INDEX(half))])
                pair = builder.load(builder.bitcast(pair, _PAIR.as_pointer()))
                pair.align = 4
                # every platform that Blender runs on is little-endian
                for column in (builder.and_(pair, _PAIR(0xFFFFFFFF)), builder.lshr(pair, _PAIR(32))):
                    row = builder.load(builder.bitcast(builder.gep(values, [column]), _FOUR.as_pointer()))
                    row.align = 4
                    rows.append(row)
            halves = [builder.shuffle_vector(*rows[half : half + 2], _order(range(8))) for half in (0, 2)]
            products = builder.fmul(factors, builder.shuffle_vector(*halves, _order(range(16))))
            builder.store(builder.fadd(builder.load(total), products), total)
        result = builder.load(total)
        sums = [builder.shuffle_vector(result, result, _order(range(4 * r, 4 * r + 4))) for r in range(4)]
        return context.make_tuple(builder, signature.return_type, sums)

    four = types.UniTuple(Lanes(types.float32), 4)  # type: ignore[attr-defined]
    return four(begin, end, other, weight, vector), generate
