"""Bodies of gas at rest: the shape that a constant pressure holds, and rest lengths for which that is the drawn one."""
