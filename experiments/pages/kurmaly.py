"""Text, tables, figures and picture of `kurmaly`."""

import numpy as np
from softpressure_ext.core.options import VOLUMES

from .. import kurmaly
from ..kurmaly import CELLS, DEPTH, MASS, MODULUS, POINTS, PRESSURE, RADIUS, SIZE, STRETCH, SUBSTEPS
from ..parts import FRAME_RATE
from ..pictures import BLUE, GREEN, GREY, ORANGE
from ..report import COLOURS, number

HEADING = "Kurmaly and Wu 2021: trusses and pressure bodies"
DEPENDS = ("core/papers/*.py", "core/solvers/sequential/*.py", "core/bodies/flat/*.py", "experiments/parts.py")


def claims(data):
    return []


def add(page, data):
    page.text(
        f"""A flat truss of {CELLS} x {CELLS} cells with both diagonals ({SIZE:g} m, {DEPTH:g} m deep, {MASS:g} kg, E =
        {MODULUS:g} Pa), and a loop of {POINTS} points filled with gas ({SIZE:g} m, {MASS:g} kg, {PRESSURE:g} Pa at
        rest, {STRETCH:g} N/m, nothing outside) hit a floor; damping {kurmaly.DAMPING:g} /s, bounciness
        {kurmaly.BOUNCINESS:g}. Classical Runge-Kutta, as in the paper, and XPBD."""
    )
    add_drops(page, data)
    add_areas(page, data)


def told(run):
    """Least area on the way, and at the end."""
    return "diverged" if "error" in run else f"{number(run['least'])}, {number(run['end'])}"


def add_drops(page, data):
    page.heading("7: collapse at high speed", 3)
    page.text(
        f"""Least area of a cell of the truss over that at rest, on the way and after {number(data["seconds"], 2)} s:
        negative where it is turned over. With particles: circles of {RADIUS:g} of a cell's edge around the vertices,
        which keep apart (section 4 and 7). Of the loop: area of the whole over that at rest."""
    )
    rows = []
    for speed in data["speeds"]:
        cells = [told(data["trusses"][method, speed, radius]) for method in SUBSTEPS for radius in (0.0, RADIUS)]
        rows.append([f"{speed:g}", *cells, told(data["loops"][speed])])
    head = [f"truss, `{method}`{more}" for method in SUBSTEPS for more in ("", ", particles")]
    page.table(["speed [m/s]", *head, "loop, `RK4`"], rows)

    fast = data["speeds"][-2] if len(data["speeds"]) > 1 else data["speeds"][-1]
    runs = [data["trusses"]["RK4", fast, radius] for radius in (0.0, RADIUS)]

    def draw(axes):
        for run, label, colour in zip(runs, ("truss", "truss with particles"), COLOURS, strict=False):
            least = [float(kurmaly.cell_areas(x).min()) for x in run["shapes"]]
            axes.plot(
                np.arange(len(least)) / FRAME_RATE, least, linewidth=1, color=colour, label=f"{label}: least cell"
            )
        area = data["loops"][fast]["area"]
        axes.plot(np.arange(len(area)) / FRAME_RATE, area, linewidth=1, color=COLOURS[2], label="loop: whole")
        axes.axhline(0.0, color="black", linewidth=0.5)
        axes.set_xlabel("time [s]")
        axes.set_ylabel("area / area at rest")
        axes.legend(fontsize=6)
        axes.grid(True, alpha=0.3)

    page.figure("collapse", f"Areas after an impact at {fast:g} m/s, RK4.", draw)

    def build(picture):
        last = min(len(run["shapes"]) for run in [*runs, data["loops"][fast]]) - 1
        rows = [(runs[0], ORANGE, 0.0), (runs[1], GREEN, RADIUS * SIZE / CELLS), (data["loops"][fast], BLUE, None)]
        pitch, frames = 1.5 * SIZE, (0, min(2, last), last)
        for row, (run, colour, radius) in enumerate(rows):
            for column, frame in enumerate(frames):
                flat = run["shapes"][frame]
                x = np.stack([flat[:, 0], 0.0 * flat[:, 0], flat[:, 1] - flat[:, 1].min()], axis=1)
                x += ((3 * row + column) * pitch + 0.3 * SIZE * row, 0.0, 0.0)
                if radius is None:
                    picture.outline(x, DEPTH, colour)
                    continue
                picture.rods(x, data["springs"], 0.015 * SIZE, colour)
                picture.balls(x, radius or 0.03 * SIZE, colour)
        width = 9.0 * pitch + 0.9
        floor = np.array([(-0.7, 0, -0.05), (-0.7 + width, 0, -0.05), (-0.7 + width, 0, -0.1), (-0.7, 0, -0.1)])
        picture.outline(SIZE * floor, DEPTH, GREY)

    page.picture(
        "truss_and_loop",
        f"At {fast:g} m/s, by Blender's renderer: truss, truss with particles, loop; each before the impact, "
        f"{number(2 / FRAME_RATE, 2)} s later, and at the end.",
        build,
    )  # fmt: skip


def add_areas(page, data):
    page.heading("5.3: three areas", 3)
    page.text(
        """Area of outlines over the exact one (`MethodOptions(volume=...)`). The exact rule is signed (Gauss). The box
        is right for a rectangle along the axes only; the fan of triangles around the box's centre for outlines which
        that centre sees from inside. For concave ones it tells too much; where the centre lies outside by far, the box
        is nearer, as the paper says."""
    )
    names = {"EXACT": "exact", "BOUNDING_BOX": "bounding box", "CENTRE_FAN": "fan"}
    rows = [[name, *(number(found[rule], 4) for rule in VOLUMES)] for name, found in data["areas"].items()]
    page.table(["outline", *(names[rule] for rule in VOLUMES)], rows)
    rows = []
    for rule, run in data["fall"].items():
        if "error" in run:
            rows.append([names[rule], "diverged", "", ""])
        else:
            rows.append([names[rule], number(run["least"]), number(run["end"]), number(run["height"][-1])])
    page.text(f"The loop hits the floor at {kurmaly.AREA_SPEED:g} m/s with each of them; areas here by Gauss.")
    page.table(["rule", "least A/A0", "A/A0 at the end", "height of the middle at the end [m]"], rows)

    def draw(shown, curves):
        for place, (name, outline) in enumerate(kurmaly.outlines().items()):
            corners = np.concatenate([outline, outline[:1]]) - 0.5 * (outline.min(axis=0) + outline.max(axis=0))
            shift = np.array([1.4 * (place % 3), -1.4 * (place // 3)])
            shown.plot(*(corners + shift).T, linewidth=1, color=COLOURS[place])
            low, high = corners.min(axis=0) + shift, corners.max(axis=0) + shift
            shown.plot([low[0], high[0], high[0], low[0], low[0]], [low[1], low[1], high[1], high[1], low[1]], ":",
                       color="grey", linewidth=0.7)  # fmt: skip
            shown.plot(*shift, "+", color="grey")
            shown.text(shift[0], low[1] - 0.12, name, fontsize=6, ha="center")
        shown.set_aspect("equal")
        shown.axis("off")
        for rule, run in data["fall"].items():
            curves.plot(
                np.arange(len(run["area"])) / FRAME_RATE,
                run["area"],
                "--" if rule == "CENTRE_FAN" else "-",
                linewidth=1,
                label=names[rule],
            )
        curves.set_xlabel("time [s]")
        curves.set_ylabel("A / A0")
        curves.legend(fontsize=6)
        curves.grid(True, alpha=0.3)

    page.figure("areas", "Outlines with box and centre; area of the falling loop by rule of the gas.", draw, panels=2)
