"""Bodies of gas at rest: equilibrium at constant pressure, and rest lengths for which that is the drawn shape."""
