"""Quantities in words, with the prefix of the unit that fits."""

#: Prefixes of units, and what they stand for.
_PREFIXES = (("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6))
#: A value from this share of a prefix on is rounded to at least 1.
_ROUNDED_UP = 0.9995
#: Units that take no prefix.
_PLAIN = ("", "%")


def prefix_of(value: float, unit: str) -> tuple[str, float]:
    """The prefix that makes a value 1 to 1000, and what it stands for; none below a millionth."""
    if unit not in _PLAIN:
        for prefix, size in _PREFIXES:
            if abs(value) >= _ROUNDED_UP * size:
                return prefix, size
    return "", 1.0


def quantity_text(value: float, unit: str, sign: str = "-") -> str:
    """Three digits with the prefix that fits: `9.81 kN`; 0 below a millionth. `sign`: "+" writes that, too."""
    if unit in _PLAIN:
        return f"{value:{sign}.4g} {unit}".rstrip()
    prefix, size = prefix_of(value, unit)
    if abs(value) < _ROUNDED_UP * _PREFIXES[-1][1]:
        return f"0 {unit}"
    return f"{value / size:{sign}.3g} {prefix}{unit}"
