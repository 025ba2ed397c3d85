"""Notes on bodies for the panel: of gas at rest, and what settings amount to; made as frames are simulated."""

from ...core import FrameInput
from ...core.state import gas_of_amount
from ..state import body_quantities
from ..state.sessions import Session
from ..state.snapshot import Start


def note_start(here: Session, start: Start) -> None:
    """Growth of each body until it is at rest, bodies that cannot hold their start pressure, and quantities of all."""
    assert here.world is not None
    model = here.world.model
    uids = (body.object_uid for body in start.bodies)
    here.quantities = dict(zip(uids, body_quantities.of_model(model), strict=True))
    for number, (body, filling) in enumerate(zip(start.bodies, model.fillings, strict=True)):
        if filling is not None:
            here.puffs[body.object_uid] = filling.growth, filling.move
            _note(here, number, float(model.gauge_pressure[number]))


def note_pressures(here: Session, given: FrameInput) -> None:
    """Bodies that cannot hold the pressure of a frame; those that tear need not."""
    assert here.world is not None
    tears = [bool(own.get("tear_strain")) for own in here.world.model.settings]
    for number, pressure in given.gauge_pressure.items():
        if not tears[number]:
            _note(here, number, pressure)
    for number, gas in given.gas.items():
        filling = here.world.model.fillings[number]
        if filling is not None and not tears[number]:
            _note(here, number, filling.pressure_of(gas_of_amount(here.world.model, number, gas)))


def _note(here: Session, number: int, pressure: float) -> None:
    assert here.world is not None
    filling = here.world.model.fillings[number]
    if filling is not None and (sentence := filling.complaint(pressure)):
        here.overstretched[number] = sentence
