"""Notes on bodies for the panel: of gas at rest, and what settings amount to; made as frames are simulated."""

from ...core import FrameInput, Model
from ...core.state import gas_of_amount
from ..state import body_quantities
from ..state.sessions import Run
from ..state.snapshot import Snapshot


def note_start(run: Run, start: Snapshot) -> None:
    """Growth of each body until it is at rest, bodies that cannot hold their start pressure, and quantities of all."""
    assert run.world is not None
    model = run.world.model
    run.quantities = quantities(model, start)
    for body, filling in zip(start.bodies, model.fillings, strict=True):
        if filling is not None:
            run.inflations[body.object_uid] = filling.growth, filling.move
    run.overstretched |= complaints_at_start(model)


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


def note_pressures(run: Run, given: FrameInput) -> None:
    """Bodies that cannot hold the pressure of a frame; those that tear need not."""
    assert run.world is not None
    tears = [bool(own.get("tear_strain")) for own in run.world.model.settings]
    for number, pressure in given.gauge_pressure.items():
        if not tears[number]:
            _note(run, number, pressure)
    for number, gas in given.gas.items():
        filling = run.world.model.fillings[number]
        if filling is not None and not tears[number]:
            _note(run, number, filling.pressure_of(gas_of_amount(run.world.model, number, gas)))


def _note(run: Run, number: int, pressure: float) -> None:
    assert run.world is not None
    filling = run.world.model.fillings[number]
    if filling is not None and (sentence := filling.complaint(pressure)):
        run.overstretched[number] = sentence
