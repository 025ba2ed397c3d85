"""Text, figures and picture of `future`."""

import numpy as np

from ..future import (
    CREEP_TIMES,
    DOUGH_YIELD,
    FRAME_RATE,
    GAUGE,
    MASS,
    MODULUS,
    OFFSET,
    POISSON_RATIO,
    RADIUS,
    SHOWN,
    SIDE,
    SKIN,
    SPEED,
    STRAINS,
    STRETCH,
    STRIP_CREEP,
    STRIP_STRAIN,
    STRIP_YIELD,
    TEAR_STRAIN,
)
from ..pictures import BLUE, ORANGE
from ..report import COLOURS, number

HEADING = "Future work of the texts: flow, tears, tissue"
DEPENDS = (
    "core/plasticity/*.py", "core/energy/stiffening.py", "core/solvers/explicit/*.py", "core/bodies/lattice/*.py",
)  # fmt: skip
#: Turn of the camera about x and z [degrees].
TURN = (72.0, 25.0)


def claims(data):
    return []


def add(page, data):
    worst = np.abs(data["relaxation"]["measured"] / data["relaxation"]["law"] - 1.0).max()
    page.text(
        f"""Martin asks for bodies that flow; the texts also name splitting and joining, and tissue. Springs whose rest
        lengths follow their lengths beyond a yield strain flow (Bingham; Maxwell without one): a spring held at a
        strain of {STRIP_STRAIN:g}, with a yield strain of {STRIP_YIELD:g} and a creep time of {STRIP_CREEP:g} s,
        loses its stress as the closed form says, to {number(float(worst), 1)}. A block of dough ({SIDE:g} m, {MASS:g}
        kg, E = {MODULUS:g} Pa, Poisson's ratio {POISSON_RATIO:g}, yield strain {DOUGH_YIELD:g}) flows on a floor
        towards its yield stress; its volume is elastic. Springs with 1 + a s² times their stiffness at the strain s are
        tissue."""
    )

    def draw(relaxation, stiffening):
        found = data["relaxation"]
        relaxation.plot(found["times"], found["law"], color="black", linewidth=1, label="closed form")
        relaxation.plot(found["times"][::3], found["measured"][::3], "o", markersize=4, label="measured")
        relaxation.axhline(STRIP_YIELD, color="grey", linewidth=1, linestyle=":")
        relaxation.set_xlabel("time [s]")
        relaxation.set_ylabel("stress over stiffness")
        relaxation.legend()
        for k, (a, energy) in enumerate(data["stored"].items()):
            stiffening.plot(STRAINS, energy, color=COLOURS[k], label=f"a = {a:g}")
        stiffening.set_xlabel("strain")
        stiffening.set_ylabel("stored energy [J]")
        stiffening.legend()

    page.figure("future_laws", "Left: relaxation of a spring. Right: a cube that stiffens.", draw, panels=2)
    found = data["balloon"]

    def draw_flow(heights, pressure):
        for k, time in enumerate(CREEP_TIMES):
            height = data["dough"][time]["height"]
            label = f"{time:g} s" if time else "elastic"
            heights.plot(np.arange(1, len(height) + 1) / FRAME_RATE, height, color=COLOURS[k], label=label)
        heights.set_xlabel("time [s]")
        heights.set_ylabel("height [m]")
        heights.set_ylim(bottom=0.0)
        heights.legend(title="creep time")
        pressure.plot(np.arange(1, len(found["pressure"]) + 1) / FRAME_RATE, found["pressure"], color=COLOURS[3])
        pressure.set_xlabel("time [s]")
        pressure.set_ylabel("gauge pressure [Pa]")

    page.figure(
        "future_flow", "Left: height of a block of dough. Right: a balloon that is pumped up and tears.", draw_flow,
        panels=2,
    )  # fmt: skip
    if found["burst"] is not None:
        page.text(
            f"""The balloon ({RADIUS:g} m, {1e3 * SKIN:g} g, {STRETCH:g} N/m) starts with {GAUGE:g} Pa and is pumped up;
            edges tear at a strain of {TEAR_STRAIN:g}, at {number(max(found["pressure"]), 3)} Pa. The gas leaves through
            the torn faces as through an orifice."""
        )

    def build(picture):
        right = np.array([np.cos(np.radians(TURN[1])), np.sin(np.radians(TURN[1])), 0.0])
        for place, time in enumerate(CREEP_TIMES):
            body = data["dough"][time]
            picture.mesh(body["positions"] + 0.9 * place * right, body["triangles"], BLUE)
        if found["burst"] is not None:
            shown, corners = np.unique(found["triangles"][~found["holes"]], return_inverse=True)
            place = found["positions"][shown] + 2.6 * right + (0.0, 0.0, RADIUS)
            picture.mesh(place, corners.reshape(-1, 3), BLUE)

    page.picture(
        "future_bodies", "Dough after the same time: elastic, slow, fast; a torn balloon, without its torn faces.",
        build, turn=TURN,
    )  # fmt: skip
    struck = data["strike"]
    apart = {sticks: np.linalg.norm(np.diff(run["centres"][-1], axis=0)) for sticks, run in struck.items()}
    times = ", ".join(number(frame / FRAME_RATE, 2) for frame in SHOWN)
    page.text(
        f"""Bodies that stick are attached where they touch. A ball strikes another of its kind at {SPEED:g} m/s,
        {OFFSET:g} m off its middle, without gravity: after {number(SHOWN[-1] / FRAME_RATE, 2)} s their middles are
        {number(float(apart[False]), 3)} m apart; two that stick are {number(float(apart[True]), 3)} m apart and spin
        as one."""
    )

    def build_struck(picture):
        for row, run in enumerate(struck.values()):
            for column, bodies in enumerate(run["shown"]):
                for points, colour in zip(bodies, (BLUE, ORANGE), strict=True):
                    picture.mesh(points + (1.3 * column, 0.0, -0.9 * row), run["triangles"], colour, smooth=True)

    page.picture("future_bonds", f"A strike: free (above) and sticky (below), after {times} s.", build_struck)
