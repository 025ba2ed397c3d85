"""Text, table, figures and pictures of `kurmaly`."""

import numpy as np
from softpressure_ext.core.parameters import named

from .. import kurmaly
from ..kurmaly import CELLS, DEPTH, MASS, MODULUS, POINTS, PRESSURE, RADIUS, SIZE, STRETCH, SUBSTEPS
from ..parts import FRAME_RATE
from ..pictures import BLUE, GREEN, GREY, ORANGE
from ..report import COLOURS, SOLVERS, Claim, label_lines, number

HEADING = "Kurmaly and Wu 2021: trusses and pressure bodies"
COLLAPSE, LIMITS, AREAS, GROUND = (
    "7: collapse at high speed", "6.1 and 7: stiff springs ask RK4 for short steps", "5.3: three areas",
    "4: reflection at the ground",
)  # fmt: skip
DEPENDS = (
    "core/papers/*.py", "core/solvers/sequential/*.py", "core/solvers/xpbd/*.py", "core/bodies/flat/*.py",
    "experiments/parts.py",
)  # fmt: skip
NAMES = {"EXACT": "exact (shoelace)", "BOUNDING_BOX": "bounding box", "CENTRE_FAN": "fan"}
#: Frames after the start at which the picture shows the bodies.
DRAWN = (0, 1, 2, 4, 6)


def claims(data):
    plain = [run["least"] for (_, _, radius), run in data["trusses"].items() if not radius and "error" not in run]
    kept = [run["least"] for (_, _, radius), run in data["trusses"].items() if radius and "error" not in run]
    limits = {stretch: row["measured"] for stretch, row in data["limits"].items() if row["measured"]}
    soft, stiff = min(limits), max(limits)
    power = np.log(limits[soft] / limits[stiff]) / np.log(stiff / soft)
    areas = data["areas"]["open ring"]
    gain = {substeps: float(run["gain"][30]) for substeps, run in data["bounces"].items()}
    few, many = min(gain), max(gain)
    return [
        Claim(
            "Kurmaly and Wu, 7", "a fast truss collapses on itself; collisions between particles prevent it",
            f"least area of a cell down to {number(min(plain))} of that at rest without, {number(min(kept))} with them",
            "a cell that is turned over is at rest, too: only particles that cannot pass prevent it", COLLAPSE,
        ),
        Claim(
            "Kurmaly and Wu, 7", "RK4 struggles with stiff springs; a smaller step helps",
            f"its longest step falls with the power {power:.2f} of the stiffness",
            "h ω ≤ 2.83, and ω grows as √k", LIMITS,
        ),
        Claim(
            "Kurmaly and Wu, 5.3", "the fan is accurate where convex; where its centre is outside, the box is better",
            f"of an open ring the box gives {number(areas['BOUNDING_BOX'])}, the fan {number(areas['CENTRE_FAN'])} "
            "times the area; both are far off", "the shoelace formula costs the same and is exact", AREAS,
        ),
        Claim(
            "Kurmaly and Wu, 4", "a particle below the ground is reflected, position and velocity",
            f"after its first bounces a truss has gained {number(100 * gain[few], 2)} % of the energy of its fall at "
            f"{few} substeps, {number(100 * gain[many], 2)} % at {many}",
            "mirrored at the end of the step, it is u h too high after a hit at u", GROUND,
        ),
    ]  # fmt: skip


def add(page, data):
    page.text(
        """Particles joined by springs form a truss with both diagonals, or a closed loop that holds a gas; the
        classical Runge-Kutta method moves them, and particles bounce off the ground and off each other. In the plane
        the area A takes the place of the volume:"""
    )
    page.equation(r"P = A^{-1}\,k\,nRT, \qquad F_p = P L")
    page.text(
        f"""*What was run.* A flat truss of {CELLS} x {CELLS} cells ({SIZE:g} m, {DEPTH:g} m deep, {MASS:g} kg, E =
        {MODULUS:g} Pa) and a loop of {POINTS} points ({SIZE:g} m, {MASS:g} kg, {PRESSURE:g} Pa at rest, {STRETCH:g}
        N/m, nothing outside) above a floor; damping {kurmaly.DAMPING:g} /s, bounciness {kurmaly.BOUNCINESS:g}."""
    )
    add_drops(page, data)
    add_limits(page, data["limits"])
    add_areas(page, data)
    add_ground(page, data["bounces"])


def add_drops(page, data):
    page.heading(COLLAPSE, 3)

    def draw(axes):
        for k, method in enumerate(SUBSTEPS):
            for radius, style, more in ((0.0, "-", ""), (RADIUS, "--", ", particles")):
                runs = [(speed, data["trusses"][method, speed, radius]) for speed in data["speeds"]]
                points = [(speed, run["least"]) for speed, run in runs if "error" not in run]
                label = f"truss, {SOLVERS[method].name}{more}"
                axes.plot(*zip(*points, strict=True), style, marker="o", color=COLOURS[k], label=label)
        points = [(speed, run["least"]) for speed, run in data["loops"].items() if "error" not in run]
        axes.plot(*zip(*points, strict=True), "-", marker="o", color=COLOURS[2], label="loop, RK4")
        axes.axhline(0.0, color="black", linewidth=0.8)
        axes.set_xlabel("speed of the impact [m/s]")
        axes.set_ylabel("least area / area at rest")
        label_lines(axes)

    page.figure(
        "collapse",
        f"""Least area of any cell of the truss, and of the loop as a whole, on the way; below 0 a cell is turned over.
        Particles: circles of {RADIUS:g} of a cell's edge that keep apart.""",
        draw,
    )
    fast = data["speeds"][-2] if len(data["speeds"]) > 1 else data["speeds"][-1]
    runs = [data["trusses"]["RK4", fast, radius] for radius in (0.0, RADIUS)] + [data["loops"][fast]]
    last = min(len(run["shapes"]) for run in runs) - 1
    frames = [frame for frame in DRAWN if frame <= last]

    def build(picture):
        radii = (0.03 * SIZE, RADIUS * SIZE / CELLS, None)
        pitch = 1.45 * SIZE
        for row, (run, colour, radius) in enumerate(zip(runs, (ORANGE, GREEN, BLUE), radii, strict=True)):
            for column, frame in enumerate(frames):
                flat = run["shapes"][frame]
                x = np.stack([flat[:, 0], 0.0 * flat[:, 0], flat[:, 1]], axis=1)
                x += ((len(frames) * row + column) * pitch + 0.4 * SIZE * row, 0.0, 0.0)
                if radius is None:
                    picture.outline(x, DEPTH, colour)
                    continue
                picture.rods(x, data["springs"], 0.02 * SIZE, colour)
                picture.balls(x, radius, colour)
        end = (3 * len(frames) - 1) * pitch + 1.5 * SIZE
        floor = np.array([(-0.7, 0, 0.0), (end, 0, 0.0), (end, 0, -0.06), (-0.7, 0, -0.06)])
        picture.outline(SIZE * floor, DEPTH, GREY)

    times = ", ".join(f"{1e3 * frame / FRAME_RATE:.0f}" for frame in frames)
    page.picture(
        "truss_and_loop",
        f"At {fast:g} m/s with RK4: truss, truss with particles, loop; each after {times} ms, where it is by then.",
        build,
    )  # fmt: skip
    page.text(
        """*Verdict.* As they say: a fast truss turns cells over and stays so; particles that keep apart prevent it; the
        pressure body comes back by itself."""
    )


def add_limits(page, limits):
    page.heading(LIMITS, 3)

    def draw(axes):
        for what, style, colour in (("theory", "-", "grey"), ("measured", "o", COLOURS[0])):
            points = [(stretch, 1e6 * row[what]) for stretch, row in limits.items() if row[what]]
            axes.loglog(*zip(*points, strict=True), style, color=colour, label=what)
        axes.set_xlabel("modulus of the skin [N/m]")
        axes.set_ylabel("longest step [µs]")
        axes.legend(frameon=False)

    page.figure(
        "kurmaly_limits",
        """Longest step of RK4 with which the loop falls 0.1 m and bounces for a quarter of a second without gaining
        energy; theory: 2.83 / ω of the stiffest oscillation at rest.""",
        draw,
    )


def add_areas(page, data):
    page.heading(AREAS, 3)

    def draw(shown, curves):
        for place, (name, outline) in enumerate(kurmaly.outlines().items()):
            corners = np.concatenate([outline, outline[:1]]) - 0.5 * (outline.min(axis=0) + outline.max(axis=0))
            shift = np.array([1.5 * (place % 3), -1.7 * (place // 3)])
            shown.plot(*(corners + shift).T, color=COLOURS[place])
            low, high = corners.min(axis=0) + shift, corners.max(axis=0) + shift
            shown.plot([low[0], high[0], high[0], low[0], low[0]], [low[1], low[1], high[1], high[1], low[1]], ":",
                       color="grey", linewidth=0.8)  # fmt: skip
            shown.plot(*shift, "+", color="grey")
            told = data["areas"][name]
            text = f"{name}\nbox {told['BOUNDING_BOX']:.2f}, fan {told['CENTRE_FAN']:.2f}"
            shown.text(shift[0], -0.75 + shift[1], text, fontsize=9, ha="center", va="top")
        shown.set_aspect("equal")
        shown.axis("off")
        for rule, run in data["fall"].items():
            times = 1e3 * np.arange(len(run["area"])) / kurmaly.FINE_RATE
            curves.plot(times, run["area"], "--" if rule == "CENTRE_FAN" else "-", label=NAMES[rule])
        curves.set_xlabel("time [ms]")
        curves.set_ylabel("area / area at the start")
        label_lines(curves)

    page.figure(
        "areas",
        f"""Left: outlines with their box and its centre, and the area by box and by fan over the exact one. Right: an L
        of gas hits the floor at {kurmaly.AREA_SPEED:g} m/s; its area by the shoelace formula, for each rule of the
        gas.""",
        draw, panels=2,
    )  # fmt: skip
    ends = {
        NAMES[rule]: np.mean(data["fall"][rule]["area"][-len(data["fall"][rule]["area"]) // 3 :])
        for rule in named("volume_rule").names()
    }
    told = ", ".join(f"{number(float(end))} ({name})" for name, end in ends.items())
    page.text(
        f"""*Verdict.* The fan is exact for what its centre sees whole; for other outlines the box may be nearer, and
        neither is right. Mean area over the last third of the fall: {told}. As the gas is filled by the same rule at
        rest, an error that stays constant has no effect; what turns in its box changes its pressure."""
    )


def add_ground(page, runs):
    page.heading(GROUND, 3)

    def draw(height, energy):
        for (substeps, run), colour in zip(runs.items(), COLOURS, strict=False):
            times = np.arange(len(run["height"])) / FRAME_RATE
            height.plot(times, run["height"], color=colour, label=f"{substeps} substeps")
            energy.plot(times, 100.0 * run["gain"], color=colour, label=f"{substeps} substeps")
        height.set_ylabel("height of the middle [m]")
        energy.set_ylabel("energy gained [% of the fall's]")
        for axes in (height, energy):
            axes.set_xlabel("time [s]")
            label_lines(axes)

    page.figure(
        "reflection",
        f"""The truss falls {kurmaly.BOUNCE_DROP:g} m without damping and is reflected at the ground; RK4, substeps per
        1/60 s.""",
        draw,
        panels=2,
    )
    page.text(
        """*Verdict.* Reflection keeps the speed of each particle, yet the body does not come back to its height: much
        of its motion rings on in the springs. Each reflection adds energy, less at shorter steps. In Blender: *Method >
        Colliders > Reflection*."""
    )
