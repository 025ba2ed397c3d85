"""Notes on bodies for the panel: of gas at rest, and what settings amount to; made as frames are simulated."""

from ...core import FrameInput, Model
from ...core.state import gas_of_amount
from ..state import body_quantities
from ..state.sessions import Session
from ..state.snapshot import Snapshot


def note_start(session: Session, start: Snapshot) -> None:
    """Growth of each body until it is at rest, bodies that cannot hold their start pressure, and quantities of all."""
    assert session.world is not None
    model = session.world.model
    session.quantities = quantities(model, start)
    for body, filling in zip(start.bodies, model.fillings, strict=True):
        if filling is not None:
            session.inflations[body.object_uid] = filling.growth, filling.move
    session.overstretched |= complaints_at_start(model)


def quantities(model: Model, start: Snapshot) -> dict[int, body_quantities.Quantities]:
    """What the settings of each soft body amount to, by `session_uid`."""
    return dict(zip((body.object_uid for body in start.bodies), body_quantities.of_model(model), strict=True))


def complaints_at_start(model: Model) -> dict[int, str]:
    """A sentence for each body that cannot hold its pressure at the start, by its number."""
    found = {}
    for number, filling in enumerate(model.fillings):
        if filling is not None and (sentence := filling.complaint(float(model.gauge_pressure[number]))):
            found[number] = sentence
    return found


def note_pressures(session: Session, given: FrameInput) -> None:
    """Bodies that cannot hold the pressure of a frame; those that tear need not."""
    assert session.world is not None
    tears = [bool(own.get("tear_strain")) for own in session.world.model.settings]
    for number, pressure in given.gauge_pressure.items():
        if not tears[number]:
            _note(session, number, pressure)
    for number, gas in given.gas.items():
        filling = session.world.model.fillings[number]
        if filling is not None and not tears[number]:
            _note(session, number, filling.pressure_of(gas_of_amount(session.world.model, number, gas)))


def _note(session: Session, number: int, pressure: float) -> None:
    assert session.world is not None
    filling = session.world.model.fillings[number]
    if filling is not None and (sentence := filling.complaint(pressure)):
        session.overstretched[number] = sentence
