"""How much work a solver has done."""

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """How much work was done."""

    stages: int = 0
    contact_searches: int = 0
    sweeps: int = 0  # of impulses over all contacts

    def plus(self, other: "Counts") -> "Counts":
        """Both together."""
        return Counts(
            self.stages + other.stages, self.contact_searches + other.contact_searches, self.sweeps + other.sweeps
        )
