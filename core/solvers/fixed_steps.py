"""Base of the solvers that never join substeps."""

from abc import ABC, abstractmethod

from ..array_types import FloatArray
from ..state import State
from .kinematics import Motion


class FixedSteps(ABC):
    """Advances a model by substeps of one length."""

    def join(self, _state: State, _left: int) -> int:
        """How many substeps to take as one: always 1."""
        return 1

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, _count: int = 1,
        _load: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """One substep, see `choice.Solver`; these solvers have no vertices that a load could act on."""
        self.substep(before, after, motion, share, gas)

    @abstractmethod
    def substep(self, before: State, after: State, motion: Motion, share: float, gas: FloatArray) -> None:
        """One substep from `before` to `after`, which may be the same object.

        `share`: part of the frame (0 to 1) before its start; `gas`: nRT [J] at its end.
        """
