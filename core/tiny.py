"""The least divisor: what may be 0 is divided by this much more, or by no less than this, in any unit."""

#: Far below anything of physics, and far enough above the least float that its inverse is finite.
TINY = 1e-300
