"""Notes on bodies of gas at rest for the panel; made while frames are simulated, not while panels draw."""

from ..core import FrameInput
from .capture import Start
from .session import Session


def note_start(here: Session, start: Start) -> None:
    """Growth of each body until it is at rest, and bodies that cannot hold their start pressure."""
    assert here.world is not None
    model = here.world.model
    for number, (body, filling) in enumerate(zip(start.bodies, model.fillings, strict=True)):
        if filling is not None:
            here.puffs[body.object_uid] = filling.growth, filling.move
            _note(here, number, float(model.gauge_pressure[number]))


def note_pressures(here: Session, given: FrameInput) -> None:
    """Bodies that cannot hold the pressure of a frame."""
    for number, pressure in given.gauge_pressure.items():
        _note(here, number, pressure)


def _note(here: Session, number: int, pressure: float) -> None:
    assert here.world is not None
    filling = here.world.model.fillings[number]
    if filling is not None and (sentence := filling.complaint(pressure)):
        here.overstretched[number] = sentence
