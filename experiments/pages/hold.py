"""Text, table and figure of `hold`."""

from scenes import BASKETBALL

from ..hold import COUNTED
from ..report import COLOURS, SOLVERS, Claim, label_lines, number

HEADING = "Does the ball keep its pressure?"
DEPENDS = (
    "core/papers/*.py",
    "core/solvers/explicit/*.py",
    "core/solvers/xpbd/*.py",
    "core/energy/*.py",
    "experiments/cloth.py",
    "experiments/parts.py",
)
CLOTH = "Blender's Cloth"


def name_of(row):
    """What the page calls the solver of a row."""
    if row["method"] == "CLOTH":
        return CLOTH
    return SOLVERS[row["method"]].name + (f" ({row['substeps']})" if row["method"] == "XPBD" else "")


def by_solver(data):
    """Rows by the solver's name, coarse to fine."""
    found = {}
    for row in data["rows"]:
        found.setdefault(name_of(row), []).append(row)
    return found


def holds(row, truth):
    """Whether a row keeps the pressure to a hundredth."""
    return "error" not in row and abs(row["gauge_pressure"] / truth["gauge_pressure"] - 1.0) < 0.01


def claims(data):
    truth = data["truth"]["gauge_pressure"]
    fewest = [row for row in data["rows"] if row["method"] == "XPBD" and row["substeps"] == 20]
    left = [row["gauge_pressure"] / truth for row in fewest]
    return [
        Claim(
            "The XPBD page",
            "soft bodies in an unbreakable and very simple way",
            f"unbreakable, but of a ball's pressure {number(100 * max(left), 2)} to {number(100 * min(left), 2)} % is "
            f"left with 20 substeps ({fewest[0]['vertices']} to {fewest[-1]['vertices']} vertices)",
            "a sweep over the edges makes them as stiff as m / h² at most, and vertices are lighter on a finer mesh",
            HEADING,
        )
    ]


def add(page, data):
    truth, ball = data["truth"], BASKETBALL
    page.text(
        f"""A basketball ({ball.radius:g} m, {ball.mass:g} kg, {ball.gauge_pressure / 1e3:g} kPa, Y =
        {ball.stretch_modulus:g} N/m) is set down, inflated, on a floor. Closed form without weight: V/V0 =
        {truth["volume_ratio"]:.4f}, gauge pressure {truth["gauge_pressure"] / 1e3:.1f} kPa. Volume and pressure are
        means over the last {COUNTED} of {data["frames"]} frames of 1/60 s; times are medians over the first
        {COUNTED}, before a body falls asleep. The methods of the papers have the substeps that
        `core/papers/stability.py` asks for; a run is cut off after {data["limit"]:g} s of
        work (marked *), and has then simulated the time in brackets only."""
    )
    solvers = by_solver(data)
    meshes = sorted({row["vertices"] for row in data["rows"]})
    rows = []
    for name, found in solvers.items():
        cells = {row["vertices"]: told(row, data) for row in found}
        rows.append([name, *(cells[vertices] for vertices in meshes)])
    rows.append(
        ["closed form", *([f"{truth['volume_ratio']:.4f}, {truth['gauge_pressure'] / 1e3:.1f} kPa"] * len(meshes))]
    )
    page.table(["V/V0, gauge pressure, time per 1/60 s", *(f"{vertices} vertices" for vertices in meshes)], rows)

    def draw(pressure, time):
        others = []
        for k, (name, found) in enumerate(solvers.items()):
            style = {"color": COLOURS[k % 10], "marker": "os^"[k // 5], "markersize": 5}
            good = [row for row in found if "error" not in row]
            points = [row["vertices"] for row in good]
            kept = all(holds(row, truth) for row in good)
            others += [row["gauge_pressure"] / 1e3 for row in good] if kept else []
            if kept:
                style["alpha"] = 0.5
            pressure.semilogx(
                points, [row["gauge_pressure"] / 1e3 for row in good], label="_" if kept else name, **style
            )
            style["alpha"] = 1.0
            time.loglog(points, [row["ms_per_frame"] for row in good], label=name, **style)
        pressure.axhline(truth["gauge_pressure"] / 1e3, color="black", linewidth=0.8)
        if others:
            told = f"all others: {min(others):.1f} to {max(others):.1f} kPa"
            pressure.annotate(told, (min(meshes), 1.02 * max(others)), fontsize=9)
        pressure.set_ylim(0.0, 1.1 * truth["gauge_pressure"] / 1e3)
        pressure.set_ylabel("gauge pressure left [kPa]")
        time.set_ylabel("time per 1/60 s [ms]")
        for axes in (pressure, time):
            axes.set_xlabel("vertices")
            axes.set_xticks(meshes, [str(vertices) for vertices in meshes])
            axes.minorticks_off()
            label_lines(axes)

    page.figure("hold", "What is left of the pressure, and what a frame costs.", draw, panels=2, height=4.8)
    lost = [name for name, found in solvers.items() if not all(holds(row, truth) for row in found)]
    page.text(
        f"""All but {", ".join(lost)} keep the pressure to a hundredth. The steps of our engine and of the methods of
        the papers grow in number with the fineness of the mesh, as the points get lighter."""
    )
    if CLOTH in solvers:
        page.text(
            f"""{CLOTH} keeps it, too, with its gas fitted to ours and its stiffness set by hand for each mesh. It has
            {solvers[CLOTH][0]["substeps"]} steps per 0.0316 s, its only length of a frame, and no gauge that would tell
            the pressure."""
        )


def told(row, data):
    """A cell of the table."""
    if "error" in row:
        return "diverged"
    cut = row["seconds"] < 0.99 * data["frames"] / 60.0
    mark = f" * ({number(row['seconds'], 2)} s)" if cut else ""
    return (
        f"{row['volume_ratio']:.4f}, {row['gauge_pressure'] / 1e3:.1f} kPa, {number(row['ms_per_frame'], 2)} ms{mark}"
    )
