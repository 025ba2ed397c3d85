"""Text, tables and figures of `mesit`."""

from ..mesit import METHODS
from ..report import number

HEADING = "Mesit, Guha and Chaudhry 2007: a simplified implicit method"
DEPENDS = (
    "core/papers/*.py",
    "core/solvers/sequential/*.py",
    "core/solvers/implicit/*.py",
    "core/energy/*.py",
    "experiments/parts.py",
)


def claims(data):
    return []


def add(page, data):
    page.text(
        f"""Spring constants {", ".join(f"{k:g}" for k in data["springs"])}, damping {data["damping"]:g}, mass
        {data["point_mass"]:g} kg and moles are the paper's. It gives no size, temperature or step. Here: radius
        {data["radius"]:g} m, {data["point_mass"]:g} kg per point, R T = 1 J/mol, nothing outside, damping in 1/s. All
        edges have the same spring constant, unlike elsewhere in this project."""
    )
    add_survival(page, data)
    add_less_gas(page, data)
    add_speed(page, data["speed"])
    add_heap(page, data)


def add_survival(page, data):
    found, springs = data["survival"], data["springs"]
    page.heading("Figures 3 and 4: spring constants", 3)
    page.text(
        f"""Longest step [ms] with which a ball of {found["points"]} points falls 0.5 m and bounces for
        {found["seconds"]:g} s without diverging and without gaining more energy than the fall has. Steps longer than
        {1e3 * found["longest_tried"]:g} ms were not tried; steps are found to a tenth. In brackets: the longest step
        without diverging, whatever the energy."""
    )

    def told(step):
        if step is None:
            return "none found"
        return ("≥ " if step >= found["longest_tried"] else "") + number(1e3 * step, 2)

    page.table(
        ["solver", *(f"k = {k:g}" for k in springs)],
        [
            [f"`{name}`", *(f"{told(found['longest'][name, k])} ({told(found['bounded'][name, k])})" for k in springs)]
            for name in METHODS
        ],
    )
    middle, stiff = (found["longest"]["EXPLICIT_EULER", k] for k in springs[1:])
    if middle and stiff and middle > stiff:
        page.text(
            f"""With a step between {number(1e3 * stiff, 2)} and {number(1e3 * middle, 2)} ms the explicit method holds
            k = {springs[1]:g} and breaks at k = {springs[2]:g}, as in figure 4."""
        )
    stiffest = {name: found["longest"][name, springs[2]] for name in METHODS}
    if all(stiffest.values()):
        kang, mesit = (stiffest[name] / stiffest["EXPLICIT_EULER"] for name in ("IMPLICIT_KANG", "IMPLICIT_MESIT"))
        page.text(
            f"""The paper's claim that the simplified method stays stable where the explicit one breaks is
            {"found" if mesit > 1.0 else "not found"} here: at k = {springs[2]:g} its longest step is {mesit:.2f} times
            the explicit one's. Kang's, which Mesit's simplifies, is {kang:.2f} times as long; with more energy than it
            should have, Kang's goes on without diverging (in brackets). The implicit solver is eq. 19 with the true
            Jacobian and a line search on the energy."""
        )


def add_less_gas(page, data):
    found = data["less_gas"]
    page.heading("Figure 5: less gas", 3)
    many, few = data["moles"]
    page.text(
        f"""k = {data["stiff"]:g}, {found["points"]} points on a floor; n goes from {many:g} to {few:g} at frame
        {found["switch"]} of {found["last"]}. Means over the last tenth of the frames before and after."""
    )
    tenth = max(1, found["switch"] // 10)
    rows = []
    for method, run in found["runs"].items():
        cells = []
        for end in (found["switch"] - 1, found["last"]):
            for name in ("volume_ratio", "pressure", "shape"):
                part = run[name][end - tenth : end]
                cells.append(sum(part) / len(part))
        rows.append(
            [f"`{method}`", run["substeps"]]
            + [f"{number(cells[k])} → {number(cells[k + 3])}" for k in range(3)]
        )  # fmt: skip
    page.table(["solver", "substeps", "V/V0", "pressure [Pa]", "height / width"], rows)

    def draw(volume, shape):
        for method, run in found["runs"].items():
            volume.plot(range(1, found["last"] + 1), run["volume_ratio"], label=method, linewidth=1)
            shape.plot(range(1, found["last"] + 1), run["shape"], label=method, linewidth=1)
        volume.set_ylabel("V / V0")
        shape.set_ylabel("height / width")
        for axes in (volume, shape):
            axes.set_xlabel("frame")
            axes.grid(True, alpha=0.3)
        shape.legend(fontsize=6)

    page.figure("less_gas", f"n from {many:g} to {few:g} at frame {found['switch']}.", draw, panels=2)


def add_speed(page, found):
    page.heading("Figure 6: steps per second", 3)
    page.text(
        """k = 200, free fall, one step per frame as in the paper. A step of the implicit solver is 1/60 s long, a step
        of the others 1/600 s (what it costs does not depend on that). Rates are those of the fastest of some steps, as
        the machine is busy."""
    )
    rates = found["steps_per_second"]
    rows = [[points, *(number(rates[name][k]) for name in METHODS)] for k, points in enumerate(found["points"])]
    page.table(["surface points", *(f"`{name}`" for name in METHODS)], rows)

    def draw(axes):
        for name in METHODS:
            axes.loglog(found["points"], rates[name], "o-", markersize=4, linewidth=1, label=name)
        axes.set_xlabel("surface points")
        axes.set_ylabel("steps per second")
        axes.legend(fontsize=6)
        axes.grid(True, alpha=0.3)

    page.figure("speed", "Steps per second against surface points.", draw)
    kang, mesit = (rates[name][-1] / rates["EXPLICIT_EULER"][-1] for name in ("IMPLICIT_KANG", "IMPLICIT_MESIT"))
    page.text(
        f"""At {found["points"][-1]} points the method of Kang runs at {kang:.2f} and Mesit's at {mesit:.2f} of the
        explicit one's rate. In the paper Kang's falls far behind. Here both need the damping of eq. 12, the lost
        momentum given back, and one pass over the vertices, and differ in that pass only."""
    )


def add_heap(page, data):
    found = data["heap"]
    page.heading("Figure 7: many bodies", 3)
    page.text(
        f"""{found["bodies"]} balls with {found["faces"]} faces and {found["points"]} points in all, k =
        {data["stiff"]:g}, fall into a tray into which they just fit, for {found["frames"]} frames of 1/60 s (his runs
        have 1 500). "Crossing" counts triangles that cross another body at the end."""
    )
    rows = []
    for method, run in found["runs"].items():
        start = [f"`{method}`", run["substeps"]]
        if "error" in run:
            rows.append([*start, "diverged", "", "", ""])
            continue
        low, high = run["volume_ratio"]
        rows.append(
            [*start, number(run["frames_per_second"], 2), run["contacts"], run["crossing"], f"{low:.2f} to {high:.2f}"]
        )
    page.table(["solver", "substeps", "frames per second", "most contacts", "crossing", "V/V0"], rows)
