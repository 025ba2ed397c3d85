"""Text, table, figure and picture of `flattened`."""

import numpy as np

from ..flattened import CELL, DAMPING, FRAME_RATE, MASS, MODULUS, POISSON_RATIO, RADIUS, SUBSTEPS
from ..pictures import BLUE
from ..report import COLOURS, number

HEADING = "The XPBD page: unbreakable"
DEPENDS = ("core/solvers/xpbd/*.py", "core/solvers/implicit/*.py", "core/bodies/lattice/*.py")


def claims(data):
    return []


def add(page, data):
    page.text(
        f"""A solid ball ({RADIUS:g} m, {MASS:g} kg, E = {MODULUS:g} Pa, Poisson's ratio {POISSON_RATIO:g}, damping
        {DAMPING:g} /s), cells of {CELL:g} m: {data["vertices"]} vertices, {data["tetrahedra"]} tetrahedra. All points
        are put into the plane through its middle, as the page's squash button does, and let go without gravity; then
        the same with each vertex at a random spot of the ball's box. Shape error: how far the points are from the rest
        shape, turned and moved as fits best, as a share of the radius (root mean square). Inverted: tetrahedra whose
        volume is not positive."""
    )
    last = data["frames"]
    shown = [0, max(1, last // 8), last // 2, last]
    head = ["start", "solver", "substeps per 1/24 s", "what"]
    head += [f"after {number(k / FRAME_RATE, 2)} s" for k in shown]
    rows = []
    for (name, method), found in data["runs"].items():
        if "error" in found:
            rows.append([name, f"`{method}`", SUBSTEPS[method], "diverged", *("" for _ in shown)])
            continue
        start = [name, f"`{method}`", SUBSTEPS[method]]
        for what, key in (("V/V0", "volume"), ("shape error", "shape"), ("inverted", "inverted")):
            rows.append([*start, what, *(number(found[key][k]) for k in shown)])
    page.table(head, rows)

    def draw(volumes, shapes):
        for k, ((name, method), found) in enumerate(data["runs"].items()):
            times = np.arange(len(found["volume"])) / FRAME_RATE
            line = {"color": COLOURS[k], "linewidth": 1, "label": f"{name}, {method}"}
            volumes.plot(times, found["volume"], **line)
            shapes.semilogy(times, np.maximum(found["shape"], 1e-6), **line)
        for axes, label in ((volumes, "V / V0"), (shapes, "shape error / radius")):
            axes.set_xlabel("time [s]")
            axes.set_ylabel(label)
            axes.grid(True, alpha=0.3)
        volumes.legend(fontsize=6)

    page.figure("flattened", "Volume and shape after the ball was let go.", draw, panels=2)

    def build(picture):
        found = data["runs"]["pressed into a plane", "XPBD"]["positions"]
        chosen = [(data["rest"], 0.0)]
        chosen += [(found[k], None) for k in (0, 1, 2, min(6, last), last)]
        for place, (points, _) in enumerate(chosen):
            shift = np.array([2.6 * RADIUS * place, 0.0, 0.0])
            picture.mesh(points[: data["vertices"]] + shift, data["triangles"], BLUE)

    times = ", ".join(number(k / FRAME_RATE, 2) for k in (0, 1, 2, min(6, last), last))
    page.picture(
        "flattened_ball",
        f"Before; pressed into a plane and let go with XPBD, after {times} s. The outer faces of the lattice.",
        build, turn=(70.0, 0.0),
    )  # fmt: skip
