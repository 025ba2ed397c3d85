"""Text, table and figures of `convergence`."""

import numpy as np

from ..convergence import BALL, EQUAL_SUBSTEPS, EXPECTED, SHEAR, SQUASH, TIME, USUAL
from ..report import SOLVERS, Claim, label_lines, number

HEADING = "All solvers: order and energy"
DEPENDS = (
    "core/papers/*.py",
    "core/solvers/xpbd/*.py",
    "core/energy/*.py",
    "experiments/parts.py",
)
#: Two methods whose lines lie on top of each other are told apart by their marks.
MARKS = dict(zip(EXPECTED, "osv^Dx*", strict=True))
#: What is left of the energy is drawn down to this share; the energy at rest is known to a billionth.
LEAST_SHARE = 1e-8


def claims(data):
    found = data["orders"]["methods"]
    martin, heun = found["RK4_MARTIN"], found["HEUN"]
    return [
        Claim(
            "Matyka, appendix B",
            "Heun's method is of second order",
            f"yes: {heun['position_order']:.2f} of positions, {heun['velocity_order']:.2f} of velocities",
            "the mean of the slopes at both ends of the step is the trapezoid rule",
            HEADING,
        ),
        Claim(
            "Martin, 3.2",
            "Runge and Kutta's fourth-order method for the velocity, implicit Euler for the position",
            f"both are of first order: {martin['position_order']:.2f} of positions, {martin['velocity_order']:.2f} of "
            "velocities",
            "forces follow the positions, which move with the velocity at the end of the step",
            HEADING,
        ),
    ]


def add(page, data):
    add_orders(page, data["orders"])
    add_energies(page, data["energies"])


def add_orders(page, data):
    page.heading("Order of convergence", 3)
    page.text(
        f"""A ball ({BALL.radius:g} m, {BALL.mass:g} kg, {BALL.gauge_pressure:g} Pa, {BALL.stretch_modulus:g} N/m, 42
        vertices) is released, squashed by {100 * (1 - SQUASH[2]):.0f} % and sheared at {SHEAR:g} /s, without gravity,
        losses or contact. After {TIME:g} s it is compared with RK4 at much smaller steps. Errors are root mean squares
        over the vertices, as shares of {number(data["moved"])} m, what the vertices have moved, and
        {number(data["speed"])} m/s, their speed. The order is that between the two finest steps (of fourth order: above
        rounding)."""
    )
    steps = data["steps"]
    rows = [
        [SOLVERS[method].name, EXPECTED[method], f"{found['position_order']:.2f}", f"{found['velocity_order']:.2f}"]
        for method, found in data["methods"].items()
    ]
    page.table(["solver", "expected order", "order of positions", "order of velocities"], rows)

    def draw(positions, velocities):
        for axes, part, scale in ((positions, 0, data["moved"]), (velocities, 1, data["speed"])):
            for method, found in data["methods"].items():
                points = [(h, e[part] / scale) for h, e in zip(steps, found["errors"], strict=True) if e is not None]
                axes.loglog(*zip(*points, strict=True), marker=MARKS[method], markersize=5, label=SOLVERS[method].name)
            axes.invert_xaxis()  # labels stand at the small steps, where the lines have spread
            axes.set_xlabel("step h [s], finer to the right")
            label_lines(axes)
        positions.set_ylabel("error of positions")
        velocities.set_ylabel("error of velocities")

    page.figure("convergence", "Errors against the step, as shares of the motion.", draw, panels=2)
    page.text(
        """Martin takes the velocity by Runge and Kutta's method and the position by implicit Euler (3.2): that makes
        both of first order, as the forces follow the positions. Kang and Mesit damp, and tend to the first order from
        below."""
    )


def add_energies(page, data):
    page.heading("Energy of a ringing skin", 3)
    seconds = data["frames"] * data["frame_time"]
    page.text(
        f"""The same ball rings for {number(seconds)} s: energy above that at rest, as a share of what was put in, with
        {EQUAL_SUBSTEPS} substeps per 1/60 s. Dashed: the usual
        {" and ".join(f"{count} of {SOLVERS[name].name}" for name, count in USUAL.items())}. At the end of a line: what
        is left."""
    )

    def draw(axes):
        for (method, substeps), found in data["runs"].items():
            usual, share = substeps != EQUAL_SUBSTEPS, np.array(found["share"])
            told = number(share[-1], 2) if share[-1] > LEAST_SHARE else f"below {number(LEAST_SHARE, 1)}"
            axes.semilogy(
                data["frame_time"] * np.arange(len(share)), np.where(share > LEAST_SHARE, share, np.nan),
                "--" if usual else "-",
                color=f"C{list(EXPECTED).index(method)}",
                label=f"{SOLVERS[method].name}{f' ({substeps})' if usual else ''}: {told}",
            )  # fmt: skip
        axes.set_ylim(0.03 * LEAST_SHARE, 1e3)
        axes.set_xlabel("time [s]")
        axes.set_ylabel("share of the energy")
        label_lines(axes)

    page.figure("energy", "Energy of the ringing, by solver.", draw, height=5.0)
    kept = {method: found["share"][-1] for (method, count), found in data["runs"].items() if count == EQUAL_SUBSTEPS}
    page.text(
        f"""Euler's energy wavers and stays ({number(kept["EXPLICIT_EULER"])}); Heun's grows to {number(kept["HEUN"])}
        times. Kang and Mesit take all of it, by the damping of eq. 12. They keep angular momentum, so the shear has
        none: else the energy of a rotation would be left. XPBD at its usual step rests at another shape, as its skin
        gives way (see [the next section](#does-the-ball-keep-its-pressure))."""
    )
