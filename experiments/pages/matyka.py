"""Text, table, figures and pictures of `matyka`."""

import numpy as np

from ..matyka import (
    BALL,
    BOUNCINESS,
    BOX,
    DEPTH,
    DROP,
    FALL_DAMPING,
    HEIGHT,
    MAPPED,
    POINTS,
    RAMP,
    RATIOS,
    SPEED,
)
from ..parts import FRAME_RATE
from ..pictures import BLUE, GREY
from ..report import COLOURS, SOLVERS, Claim, label_lines, number

HEADING = "Matyka 2004: a ball in the plane"
FALL, STEPS = "5.1 and figure 4: it blows up, then falls", "Section 6 and appendix B: Euler or Heun?"
DEPENDS = (
    "core/papers/*.py",
    "core/energy/dampers.py",
    "core/solvers/sequential/*.py",
    "core/bodies/flat/*.py",
    "experiments/parts.py",
)
#: Seconds at which the ball is drawn.
DRAWN = (0.0, 0.3, 0.5, 0.7, 0.8, 1.0, 1.5)
NAMES = {name: SOLVERS[name].name for name in MAPPED if name in SOLVERS} | {"FORWARD_EULER": "forward Euler"}
NAMES["EXPLICIT_EULER"] = "Euler (his listing)"
#: The largest damping ratio in the figure of the balls.
SHOWN = 0.6
STYLES = dict(zip(MAPPED, "os^D", strict=True))


def crossing(data):
    """Damping ratio from which on Heun's step is the longer one, by theory."""
    euler, heun = (np.array(data["map"][name]["theory"]) for name in ("EXPLICIT_EULER", "HEUN"))
    return float(RATIOS[np.flatnonzero(heun > euler)[0]])


def claims(data):
    steps, most = data["balls"]["steps"], max(ratio for _, _, ratio in data["balls"]["steps"])
    gain = {ratio: steps["plane", "HEUN", ratio] / steps["plane", "EXPLICIT_EULER", ratio] for ratio in (0.0, most)}
    last = data["filling"]["EXPLICIT_EULER"]
    return [
        Claim(
            "Matyka, appendix B",
            "Heun's method allows larger steps than Euler's, or stiffer springs",
            f"from a damping ratio of {crossing(data):.2f} on: {number(gain[most], 2)} times the step at {most:g}; "
            f"{number(gain[0.0], 2)} times without",
            "his listing moves points with the new velocity: it keeps what rings, where Heun's method lets it grow; "
            "against the textbook's Euler he is right at any damping",
            STEPS,
        ),
        Claim(
            "Matyka, 1 and 3",
            "a loop of springs keeps its shape by pressure alone, with Euler's method",
            f"yes: it swells to {number(last['area'][-1])} times its area, falls and rests",
            "the pressure falls as the area grows, so there is an equilibrium",
            FALL,
        ),
    ]


def add(page, data):
    page.text(
        """He gives a loop of springs and dampers a pressure that falls as the area A grows, and moves the points by
        Euler's method; Heun's is his advice for larger steps."""
    )
    page.equation(
        r"F_{12} = \left( k_s (|r_{12}| - L) + k_d\, v_{12} \cdot \frac{r_{12}}{|r_{12}|} \right) "
        r"\frac{r_{12}}{|r_{12}|}, \qquad P = \frac{p\, l}{A}\, \hat n"
    )
    page.heading(FALL, 3)
    page.text(
        f"""A loop of {POINTS} points ({BALL.radius:g} m, {DEPTH:g} m deep, {BALL.mass:g} kg, {BALL.gauge_pressure:g}
        Pa at rest, {BALL.stretch_modulus:g} N/m), empty at the start, {HEIGHT:g} m up in an open box of {BOX:g} m,
        nothing outside, drifting at {SPEED:g} m/s, damping {FALL_DAMPING:g} /s. The pressure rises for {RAMP:g} s and
        gravity waits until it is there (5.1); walls give back {BOUNCINESS:g} of the speed (6)."""
    )
    add_filling(page, data["filling"])
    add_in_space(page, data["in_space"])
    add_steps(page, data)


def add_filling(page, filling):
    last = min(len(found["area"]) for found in filling.values()) - 1

    def draw(axes):
        for k, run in enumerate(filling.values()):
            times = np.arange(len(run["area"])) / FRAME_RATE
            told = "" if k == 0 else "_"  # the two methods' lines coincide: one label for both
            for c, (values, label) in enumerate(
                (
                    (run["area"], "A / A0"),
                    (np.array(run["pressure"]) / BALL.gauge_pressure, "p / p0"),
                    (run["height"], "height [m]"),
                )
            ):
                axes.plot(
                    times, values, "-" if k == 0 else ":", color=COLOURS[c], linewidth=1.5 + k, label=told + label
                )
        axes.axvline(RAMP, color="black", linewidth=0.5)
        axes.annotate(" full: gravity acts", (RAMP, 0.02), fontsize=9)
        axes.set_xlabel("time [s]")
        axes.set_ylim(bottom=0.0)
        label_lines(axes)

    lines, dots = (SOLVERS[name].name for name in filling)
    page.figure(
        "ball_in_the_plane", f"Area, pressure and height of the middle; lines {lines}, dots {dots}: they agree.", draw
    )

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

    page.picture("ball_in_its_box", f"The loop in its box after {drawn(last)} s.", build)


def add_in_space(page, found):
    last = len(found["positions"]) - 1

    def build(picture):
        for place, time in enumerate(DRAWN):
            shift = np.array([2.6 * BALL.radius * place, 0.0, 0.0])
            x = found["positions"][min(round(time * FRAME_RATE), last)]
            picture.mesh(x + shift, found["triangles"], BLUE, smooth=False)
        wide = 2.6 * BALL.radius * (len(DRAWN) - 1)
        low, high, deep = -1.4 * BALL.radius, wide + 1.4 * BALL.radius, 1.4 * BALL.radius
        floor = [(low, -deep, -0.002), (high, -deep, -0.002), (high, deep, -0.002), (low, deep, -0.002)]
        picture.mesh(np.array(floor), [(0, 1, 2, 3)], GREY)

    page.picture(
        "ball_in_space",
        f"His figure 4, the model in space: filled and dropped in the same way, after {drawn(last)} s.",
        build, turn=(80.0, 0.0),
    )  # fmt: skip


def drawn(last):
    """The times that a picture shows."""
    return ", ".join(f"{time:g}" for time in DRAWN if round(time * FRAME_RATE) <= last)


def add_steps(page, data):
    page.heading(STEPS, 3)
    balls = data["balls"]
    places = {"plane": "in the plane", "space": "in space"}
    page.text(
        f"""How long a step h may be depends on the stiffest oscillation ω and its damping ratio, which the dampers k_d
        of eq. 1 give. Lines: theory, from the eigenvalues of a step of the damped oscillator, which may grow by a
        ten-thousandth. Marks, left: a ring of {POINTS} springs and dampers without gas, whose stiffest oscillation is
        disturbed. Marks, right: the ball with its gas, full and in equilibrium at the start, falls {DROP:g} m and must
        get through {number(balls["seconds"], 2)} s without gaining more energy than the fall has (ω =
        {" and ".join(f"{number(balls['frequency'][place])} /s {name}" for place, name in places.items())}; steps found
        to a tenth)."""
    )

    def draw(ring, fall):
        for colour, (method, found) in zip(COLOURS, data["map"].items(), strict=False):
            ring.plot(RATIOS, found["theory"], color=colour, label=NAMES[method])
            points = [(ratio, limit) for ratio, limit in found["measured"].items() if limit is not None]
            ring.plot(*zip(*points, strict=True), STYLES[method], color=colour, markersize=6)
            if method not in ("EXPLICIT_EULER", "HEUN"):
                continue
            near = RATIOS <= SHOWN
            fall.plot(RATIOS[near], np.array(found["theory"])[near], color=colour, label=NAMES[method])
            for place, filled in (("plane", "full"), ("space", "none")):
                steps = {
                    ratio: step
                    for (where, name, ratio), step in balls["steps"].items()
                    if (where, name) == (place, method) and step is not None
                }
                fall.plot(
                    list(steps), balls["frequency"][place] * np.array(list(steps.values())), STYLES[method],
                    color=colour, fillstyle=filled, markersize=7,
                )  # fmt: skip
        for axes in (ring, fall):
            axes.set_xlabel("damping ratio")
            axes.set_ylim(bottom=0.0)
            label_lines(axes)
        ring.set_ylabel("longest step, h ω")

    page.figure(
        "step_map", "Step limits over the damping ratio. Right: full marks in the plane, open ones in space.", draw,
        panels=2,
    )  # fmt: skip
    euler, forward, heun = (data["map"][name]["theory"] for name in ("EXPLICIT_EULER", "FORWARD_EULER", "HEUN"))
    at = [int(np.argmin(np.abs(RATIOS - ratio))) for ratio in (0.1, 0.3, 0.5)]
    page.table(
        ["longest h ω at a damping ratio of", *(f"{RATIOS[k]:g}" for k in at)],
        [
            ["Heun", *(f"{heun[k]:.2f}" for k in at)],
            ["Euler, his listing", *(f"{euler[k]:.2f}" for k in at)],
            ["forward Euler", *(f"{forward[k]:.2f}" for k in at)],
        ],
    )
    steps = balls["steps"]
    page.text(
        f"""So the advice is right from a damping ratio of about {crossing(data):.2f} on, and of less for who takes the
        textbook's Euler method, with the old velocity, in place of the listing's. The ball without dampers takes Euler
        steps of {told(steps["plane", "EXPLICIT_EULER", 0.0])} in the plane and
        {told(steps["space", "EXPLICIT_EULER", 0.0])} in space; theory allows
        {told(2.0 / balls["frequency"]["plane"])} and {told(2.0 / balls["frequency"]["space"])}. Heun's method takes two
        evaluations of the forces per step, and gives second order for it. Without
        damping its marks lie above the line, as what grows needs longer than the run to show. From 0.3 on they lie
        below it in the plane: there the springs are stretched by a sixth and resist across, too, which the dampers
        along them do not brake, so that Heun's method lets it grow."""
    )


def told(step):
    return "none found" if step is None else f"{number(1e6 * step)} µs"
