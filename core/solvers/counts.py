"""How much work a solver has done."""

from dataclasses import astuple, dataclass


@dataclass(slots=True)
class Counts:
    """How much work was done."""

    stages: int = 0
    newton_steps: int = 0
    linear_iterations: int = 0
    shortened_steps: int = 0
    contact_searches: int = 0
    split_steps: int = 0  # joined substeps taken again in two parts, as the step was too wrong
    halved_steps: int = 0  # steps taken again in two halves
    damped_steps: int = 0  # steps taken again with implicit Euler
    divided_steps: int = 0  # steps taken in parts from the start, because of fast bodies
    sweeps: int = 0  # over all contacts, of the impulse solver

    def plus(self, other: "Counts") -> "Counts":
        """Both together."""
        return Counts(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))
