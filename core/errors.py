"""Errors a person can act on.

Every message names the subject (which body, object or file), the offending value and the remedy,
in that order, in one or two sentences; the adapter shows it to the user unchanged.
"""


class SoftPressureError(Exception):
    """Base of every error this package raises on purpose."""


class MeshError(SoftPressureError):
    """A mesh cannot be simulated: open edges, inconsistent winding, zero area, ..."""


class ParameterError(SoftPressureError):
    """A number or an array given by the caller is outside its range or of the wrong shape."""


class DivergenceError(SoftPressureError):
    """The state became non-finite; names frame, body and substep. The last good frame is kept."""


class CacheError(SoftPressureError):
    """A frame was asked for that the cache does not hold, or a cache file cannot be read."""
