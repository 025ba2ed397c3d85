"""Text, table, figure and picture of `flattened`."""

import numpy as np

from ..flattened import CASES, CELL, DAMPING, FRAME_RATE, MASS, MODULUS, POISSON_RATIO, RADIUS, STARTS, SUBSTEPS
from ..pictures import BLUE, ORANGE
from ..report import Claim, label_lines, number

HEADING = "The XPBD page: unbreakable"
DEPENDS = ("core/solvers/xpbd/*.py", "core/solvers/explicit/*.py", "core/bodies/lattice/*.py")
#: The cases that the figure shows, and the starts of the pictures.
DRAWN = ("XPBD", "XPBD, all rigid")
#: Of a ball that has recovered: shape error over its radius.
RECOVERED = 1e-3


def recovered(data, case):
    """Starts from which a case recovers its shape."""
    runs = {start: run for (start, told), run in data["runs"].items() if told == case}
    return [start for start, run in runs.items() if "error" not in run and run["shape"][-1] < RECOVERED]


def claims(data):
    soft, rigid = (recovered(data, case) for case in DRAWN)
    stable = all("error" not in run for (_, case), run in data["runs"].items() if case != "ours")
    lost = [start for start in STARTS if start not in soft]
    return [
        Claim(
            "The XPBD page",
            "simulates soft bodies in an unbreakable way",
            f"yes: {', '.join(soft)}, the ball recovers"
            + (f"; not where it is {', '.join(lost)}, unless it is infinitely stiff" if lost else ""),
            "each constraint is solved by itself; in a mirror image the springs have their lengths",
            HEADING,
        ),
        Claim(
            "The XPBD page",
            "stable for infinite stiffness (α = 0)",
            f"{'yes, always' if stable else 'not always'}: with springs and volumes of no compliance it recovers from "
            f"{len(rigid)} of {len(STARTS)} starts",
            "the denominator keeps the inverse masses, which bound the correction",
            HEADING,
        ),
    ]


def add(page, data):
    page.text(
        """Each spring and each tetrahedron's volume is a constraint C of compliance α; in each small step each of them
        is satisfied once, one after another."""
    )
    page.equation(r"\lambda = \frac{-C}{\sum_i w_i |\nabla C_i|^2 + \alpha / \Delta t^2}, \qquad "
                  r"\Delta x_i = \lambda w_i \nabla C_i")  # fmt: skip
    last = data["frames"]
    page.text(
        f"""A solid ball ({RADIUS:g} m, {MASS:g} kg, E = {MODULUS:g} Pa, Poisson's ratio {POISSON_RATIO:g}, damping
        {DAMPING:g} /s), cells of {CELL:g} m: {data["vertices"]} vertices, {data["tetrahedra"]} tetrahedra. It is
        pressed into the plane through its middle, as by the page's squash button; folded, with its upper half
        through the lower one; mirrored, so that all tetrahedra are inverted; or scrambled, each vertex at a
        random spot of its box. Then it is released without gravity. Shape error: how far the points are from the
        rest shape, turned and moved as fits best, as a share of the radius (root mean square); inverted:
        tetrahedra whose volume is not positive. {SUBSTEPS} substeps of XPBD per 1/24 s; our engine takes as many steps
        as it needs."""
    )
    rows = []
    for start in STARTS:
        runs = [data["runs"][start, case] for case in CASES]
        rows.append([f"{start} ({runs[0]['inverted'][0]} inverted)", *(told(run) for run in runs)])
    page.table([f"start: shape error and inverted after {number(last / FRAME_RATE)} s", *CASES], rows)

    def draw(*panels):
        for axes, case in zip(panels, DRAWN, strict=True):
            for start in STARTS:
                shape = data["runs"][start, case]["shape"]
                axes.semilogy(np.arange(len(shape)) / FRAME_RATE, shape, label=start)
            axes.set_title(case, fontsize=10)
            axes.set_xlabel("time [s]")
            axes.set_ylim(1e-17, 10.0)
            label_lines(axes)
        panels[0].set_ylabel("shape error / radius")

    page.figure("flattened", "Shape error after the ball was released, down to rounding.", draw, panels=2)

    frames = (0, 1, 2, min(6, last), last)

    def build(picture):
        for row, (start, colour) in enumerate((("pressed", BLUE), ("scrambled", ORANGE))):
            found = data["runs"][start, "XPBD"]["positions"]
            for place, x in enumerate([data["rest"], *(found[k] for k in frames)]):
                shift = np.array([3.0 * RADIUS * place, 0.0, -3.0 * RADIUS * row])
                picture.mesh(x[: data["vertices"]] + shift, data["triangles"], colour)

    times = ", ".join(number(k / FRAME_RATE, 2) for k in frames)
    page.picture(
        "flattened_ball",
        f"Before; then pressed (above) and scrambled (below), released with XPBD, after {times} s. The outer faces of "
        "the lattice.",
        build, turn=(80.0, 0.0),
    )  # fmt: skip
    lost = [start for start in STARTS if "error" in data["runs"][start, "ours"]]
    page.text(
        f"""In a mirror image all springs have their lengths and only the volumes are wrong: with compliance, both
        solvers stop between the two shapes, a part of the ball turned inside out. Where only the springs are rigid
        they win against the volumes, and the ball jams in another shape; where both are, it recovers from all four.
        {f"Our engine gives up where the ball is {', '.join(lost)}." if lost else ""}"""
    )


def told(run):
    """A cell of the table."""
    return "diverged" if "error" in run else f"{number(run['shape'][-1], 2)}, {run['inverted'][-1]}"
