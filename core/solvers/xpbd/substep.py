"""The substep, and a run of them in one call.

1. Prediction, gas, stretch, bend, volumes; velocities from positions               `skins.py`
2. Attachments; elements of energies                                                `glue.py`, `energy/elements.py`
3. Contacts, and the guarantee that nothing crosses                                 `sequential/contact_phase.py`
"""

from typing import NamedTuple

from ...bodies.flat.plane import hold_in_plane
from ...energy.elements import project_elements
from ...jit import lean_kernel
from ..explicit.arrays import RESUMES, STEP
from ..sequential.contact_phase import AT_SEARCH, ContactPhase, finish
from ..sequential.contact_phase import begin as begin_phase
from .glue import project_glue
from .skins import Skins, fall_rest, predict, project, take_velocities


class Scene(NamedTuple):
    """All arrays of a run of substeps."""

    phase: ContactPhase
    skins: Skins


@lean_kernel
def begin(scene, x, y, velocity, gravity, h):
    """Prediction without constraints; False if the first search of a frame exceeds the capacity."""
    phase, skins = scene.phase, scene.skins
    if not begin_phase(phase, x, velocity, gravity, h):
        return False
    for body in range(skins.gas.amount.shape[0]):
        skins.gas.amount[body] += phase.contact.run.gas_step[body]
    predict(skins, x, velocity, phase.lies, gravity, h, y)
    return True


@lean_kernel
def leave(scene, x, y, velocity, velocity_rows, gravity, h):
    """Velocities from the positions after the constraints of the skins, and attachments."""
    phase, skins = scene.phase, scene.skins
    contact = phase.contact
    take_velocities(skins, x, y, phase.lies, gravity, h, velocity)
    project_glue(contact, phase.glue, x, velocity, h)
    if skins.elements.first.shape[0] > 0:
        project_elements(skins.elements, x, velocity, contact.points.inverse_mass, h)
    hold_in_plane(skins.planes.pairs, skins.planes.normal, velocity_rows)
    fall_rest(skins, phase.lies, gravity, h, phase.late.points)


@lean_kernel
def advance(scene, x, y, velocity, x_rows, y_rows, velocity_rows, steps, h, gravity, loss_steps):
    """Take substeps until `state[STEP]` reaches `steps`, or until a search exceeds the capacity
    (`state[LACKS_ROOM]`).

    Called again with larger arrays, it resumes. `loss_steps`: substeps between two calls of dissipation. After an odd
    number of substeps the positions are those in y. Rows are the same arrays, shape (point_count, 4).
    """
    state = scene.phase.contact.run.state
    while state[STEP] < steps:
        if state[STEP] % 2 == 0:
            done = substep(scene, x, y, velocity, x_rows, y_rows, velocity_rows, steps, h, gravity, loss_steps)
        else:
            done = substep(scene, y, x, velocity, y_rows, x_rows, velocity_rows, steps, h, gravity, loss_steps)
        if not done:
            return


@lean_kernel
def substep(scene, x, y, velocity, x_rows, y_rows, velocity_rows, steps, h, gravity, loss_steps):
    """One substep from x to y; False if a search exceeds the capacity."""
    if scene.phase.contact.run.state[RESUMES] != AT_SEARCH:
        if not begin(scene, x, y, velocity, gravity, h):
            return False
        project(scene.skins, x_rows, y, y_rows, h)
        leave(scene, x, y, velocity, velocity_rows, gravity, h)
    return finish(scene.phase, x, y, velocity, y_rows, velocity_rows, gravity, h, steps, loss_steps, False)
