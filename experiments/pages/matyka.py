"""Text, tables, figures and picture of `matyka`."""

import numpy as np

from ..matyka import BALL, BOUNCINESS, BOX, DEPTH, DROP, FALL_DAMPING, HEIGHT, POINTS, RAMP, SPEED
from ..parts import FRAME_RATE
from ..pictures import BLUE, GREY
from ..report import COLOURS, number

HEADING = "Matyka 2004: a ball in the plane"
DEPENDS = ("core/papers/*.py", "core/solvers/sequential/*.py", "core/bodies/flat/*.py", "experiments/parts.py")
#: Seconds at which the ball is drawn.
DRAWN = (0.0, 0.3, 0.5, 0.7, 0.8, 1.0, 1.5)


def claims(data):
    return []


def add(page, data):
    page.text(
        f"""A loop of {POINTS} points ({BALL.radius:g} m, {DEPTH:g} m deep, {BALL.mass:g} kg, {BALL.gauge_pressure:g}
        Pa at rest, {BALL.stretch_modulus:g} N/m), empty at the start, {HEIGHT:g} m up in an open box of {BOX:g} m,
        nothing outside, drifting at {SPEED:g} m/s, damping {FALL_DAMPING:g} /s. The pressure rises for {RAMP:g} s and
        gravity waits until it is there (5.1); walls give back {BOUNCINESS:g} of the speed (6)."""
    )
    add_filling(page, data["filling"])
    add_steps(page, data)


def add_filling(page, filling):
    last = min(len(found["area"]) for found in filling.values()) - 1
    shown = [k for k in (0, round(RAMP * FRAME_RATE), last) if k <= last]
    rows = []
    for method, found in filling.items():
        for what, key in (("A/A0", "area"), ("pressure [Pa]", "pressure"), ("height of its middle [m]", "height")):
            rows.append([f"`{method}`", found["substeps"], what, *(number(found[key][k]) for k in shown)])
    page.table(["solver", "substeps", "what", *(f"after {number(k / FRAME_RATE, 2)} s" for k in shown)], rows)

    def draw(ball, curves):
        method, found = next(iter(filling.items()))
        for k, time in enumerate(DRAWN):
            if round(time * FRAME_RATE) <= last:
                x = found["outline"][round(time * FRAME_RATE)]
                ball.plot(*np.concatenate([x, x[:1]]).T, linewidth=1, color=COLOURS[k], label=f"{time:g} s")
        half = 0.5 * BOX
        ball.plot([-half, -half, half, half], [BOX, 0.0, 0.0, BOX], color="black", linewidth=1.5)
        ball.set_aspect("equal")
        ball.legend(fontsize=6, title=method, title_fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))
        for k, (name, run) in enumerate(filling.items()):
            times = np.arange(len(run["area"])) / FRAME_RATE
            style = "-" if k == 0 else "--"
            for c, (key, label) in enumerate((("area", "A / A0"), ("height", "height [m]"))):
                curves.plot(times, run[key], style, color=COLOURS[c], linewidth=1, label=f"{label}, {name}")
            curves.plot(
                times, np.array(run["pressure"]) / BALL.gauge_pressure, style, color=COLOURS[2], linewidth=1,
                label=f"p / p0, {name}",
            )  # fmt: skip
        curves.axvline(RAMP, color="black", linewidth=0.5)
        curves.set_xlabel("time [s]")
        curves.set_ylim(-0.05, 2.2)
        curves.legend(fontsize=6, ncols=2, loc="upper left")
        curves.grid(True, alpha=0.3)

    page.figure("ball_in_the_plane", "The ball blows up, then falls in its box.", draw, panels=2)

    def build(picture):
        outline = next(iter(filling.values()))["outline"]
        for place, time in enumerate(DRAWN):
            frame = min(round(time * FRAME_RATE), last)
            x = outline[frame]
            shift = np.array([1.15 * BOX * place, 0.0, 0.0])
            picture.outline(np.stack([x[:, 0], 0.0 * x[:, 0], x[:, 1]], axis=1) + shift, DEPTH, BLUE)
            half, t = 0.5 * BOX, 0.02 * BOX
            inner = [(-half, BOX), (-half, 0.0), (half, 0.0), (half, BOX)]
            outer = [(half + t, BOX), (half + t, -t), (-half - t, -t), (-half - t, BOX)]
            box = np.array([(u, 0.0, w) for u, w in inner + outer])
            picture.outline(box + shift, DEPTH, GREY)

    times = ", ".join(f"{time:g}" for time in DRAWN if round(time * FRAME_RATE) <= last)
    page.picture("ball_in_its_box", f"The same with Blender's renderer: after {times} s.", build)


def add_steps(page, data):
    page.heading("Section 6 and appendix B: Euler or Heun?", 3)
    limits = "; ".join(
        f"in {place} ω = {number(frequency)} /s, so {number(1e6 * data['angles']['EXPLICIT_EULER'] / frequency)} µs "
        f"for Euler and {number(1e6 * data['angles']['HEUN'] / frequency)} µs for Heun"
        for place, frequency in (("the plane", data["frequency"]["plane"]), ("space", data["frequency"]["space"]))
    )
    page.text(
        f"""The same ball, full from the start, falls {DROP:g} m; beside it a skin in space of
        {data["points"]["space"]} points of the same kind. Longest step [µs] with which {number(data["seconds"], 2)} s
        pass without divergence and without gaining more energy than the fall has. What theory allows follows from the
        stiffest oscillation at rest (for Heun: growth by less than a ten-thousandth per step): {limits}."""
    )
    rows = []
    for place, name in (("plane", "in the plane"), ("space", "in space")):
        for damping in sorted({damping for where, _, damping in data["steps"] if where == place}):
            euler, heun = (data["steps"][place, method, damping] for method in ("EXPLICIT_EULER", "HEUN"))
            cells = ["none found" if step is None else number(1e6 * step) for step in (euler, heun)]
            rows.append([name, f"{damping:g}", *cells, f"{heun / euler:.2f}" if euler and heun else "–"])
    page.table(["ball", "damping [1/s]", "Euler", "Heun", "Heun / Euler"], rows)
    page.text(
        """Appendix B hopes that Heun's method allows larger steps. Euler's, as he writes it, moves the points with the
        new velocity: that makes it symplectic, and it keeps what rings. Heun's lets it grow with the fourth power of
        the step, needs two evaluations of the forces per step, and is of the second order."""
    )
