"""Limits of XPBD as sentences for the panel; made while frames are simulated, not while it draws."""

from collections.abc import Sequence

import numpy as np

from ...core import BodyDiagnostics, Model
from ...core.solvers.xpbd.pressure_retention import PressureRetention, compliance_ratio
from ...core.topology import signed_volume
from ..scene_io import time_mapping
from ..state.body_quantities import Quantities
from ..state.sessions import Run
from ..state.snapshot import SceneValues, Snapshot

#: Pressure retention below which a skin counts as slack, and the number of frames of its mean.
SLACK = 0.7
FRAMES = 12
#: Compliance ratio from which on a lattice counts as too soft.
TOO_SOFT = 1.5
_REMEDY = "Use the method Soft Pressure, or more substeps."


def soft_lattices(scene: SceneValues, known_of: dict[int, Quantities], start: Snapshot) -> dict[str, str]:
    """A sentence, by name, for each lattice whose compliance under XPBD is far above its setting; none with another
    method. `known_of`: quantities by `session_uid`.
    """
    settings, found = scene.softpressure, dict[str, str]()
    if settings.solver != "XPBD":
        return found
    time = 1.0 / (time_mapping.frame_rate(scene) * settings.substeps)
    for body in start.bodies:
        if "cell_size" not in body.settings:  # skins and loops
            continue
        known = known_of[body.object_uid]
        density = known.mass / max(signed_volume(body.positions, body.triangles), 1e-300)
        times = compliance_ratio(known.modulus, body.settings["cell_size"], density, time)
        if times > TOO_SOFT:
            found[body.name] = f"{body.name} is about {times:.2g} times softer than set. {_REMEDY}"
    return found


def skins_that_are_slack(
    scene: SceneValues, run: Run, model: Model, bodies: Sequence[BodyDiagnostics], frame: int
) -> list[str]:
    """A sentence for each skin with too little pressure retention after a frame; none with another method.

    `bodies`: of `World.diagnostics` after the frame; their retention is stored in `run.retention`.
    """
    if scene.softpressure.solver != "XPBD":
        return []
    run.pressure_retention = run.pressure_retention or PressureRetention(model)
    gas, pressure = (np.array([getattr(body, name) for body in bodies]) for name in ("gas", "gauge_pressure"))
    run.retention[frame] = run.pressure_retention(gas, pressure).tolist()
    last = [run.retention[k] for k in range(frame - FRAMES + 1, frame + 1) if k in run.retention]
    shares = np.mean(last, axis=0)
    return [
        f"{name} holds {max(100.0 * share, 0.0):.0f} % of its pressure. {_REMEDY}"
        for name, share in zip(model.body_names, shares.tolist(), strict=False)
        if share < SLACK
    ]
