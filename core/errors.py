"""Errors a person can act on.

Every message names the subject (which body, object or file), the offending value and the remedy,
in that order, in one or two sentences; the adapter shows it to the user, with the way through its menus.
"""


class SoftPressureError(Exception):
    """Base of every error this package raises on purpose."""


class MeshError(SoftPressureError):
    """A mesh cannot be simulated: open edges, inconsistent winding, zero area, ...

    `flaw`: the same in a word, for callers that know a way to repair it; empty if there is none.
    """

    def __init__(self, sentence: str, flaw: str = "") -> None:
        super().__init__(sentence)
        self.flaw = flaw


class ParameterError(SoftPressureError):
    """A number or an array given by the caller is outside its range or of the wrong shape."""


class DivergenceError(SoftPressureError):
    """The motion is not finite or grows beyond all bounds; names frame, body, substep. The last good frame is kept."""


class Diverged(Exception):
    """A solver's word that a body's motion grows beyond all bounds; `World` makes a `DivergenceError` of it."""

    def __init__(self, body: int, how: str, stable_time: float = 0.0, substep: int = 0) -> None:
        super().__init__(body, how, stable_time, substep)
        self.body = body
        self.how = how  # what the motion does: end of a sentence
        self.stable_time = stable_time  # longest substep that should be stable [s], 0 where unknown
        self.substep = substep  # number in the run of substeps


class CacheError(SoftPressureError):
    """A frame was asked for that the cache does not hold, or a cache file cannot be read."""
