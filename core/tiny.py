"""What rounding may do: the least divisor, and a tolerance for comparisons."""

#: The least divisor: what may be 0 is divided by this much more, or by no less than this, in any unit. Far below
#: anything of physics, and far enough above the least float that its inverse is finite.
TINY = 1e-300
#: Relative tolerance of comparisons that rounding must not decide, and of bounds that it must not exceed [1].
ROUNDING = 1e-9
