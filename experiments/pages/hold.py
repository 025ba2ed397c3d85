"""Text, table and figure of `hold`."""

from scenes import BASKETBALL

from ..report import COLOURS, number

HEADING = "Does the ball keep its pressure?"
DEPENDS = (
    "core/papers/*.py",
    "core/solvers/implicit/*.py",
    "core/solvers/xpbd/*.py",
    "core/energy/*.py",
    "experiments/parts.py",
)


def claims(data):
    return []


def add(page, data):
    truth, ball = data["truth"], BASKETBALL
    page.text(
        f"""A basketball ({ball.radius:g} m, {ball.mass:g} kg, {ball.gauge_pressure / 1e3:g} kPa, Y =
        {ball.stretch_modulus:g} N/m) is set down on a floor. Closed form without weight: V/V0 =
        {truth["volume_ratio"]:.4f}, gauge pressure {truth["gauge_pressure"] / 1e3:.1f} kPa. Volume and pressure are
        means over the last {min(20, data["rows"][0]["frames"])} of {data["rows"][0]["frames"]} frames of 1/60 s, with
        the range of V/V0 in them; times are medians over the same frames."""
    )
    head = ["solver", "vertices", "substeps", "V/V0", "range", "gauge left [kPa]", "ms per frame"]
    rows = []
    for row in data["rows"]:
        start = [f"`{row['method']}`", row["vertices"], row["substeps"]]
        if "error" in row:
            rows.append([*start, "diverged", "", "", ""])
            continue
        low, high = row["volume_range"]
        rows.append(
            [*start, f"{row['volume_ratio']:.4f}", f"{low:.3f} to {high:.3f}", f"{row['gauge_pressure'] / 1e3:.1f}"]
            + [number(row["ms_per_frame"], 2)]
        )
    rows.append(["closed form", "", "", f"{truth['volume_ratio']:.4f}", "", f"{truth['gauge_pressure'] / 1e3:.1f}", ""])
    page.table(head, rows)

    def draw(axes):
        seen = []
        for row in data["rows"]:
            if "error" in row:
                continue
            name = row["method"] if row["method"] != "XPBD" else f"XPBD, {row['substeps']}"
            seen += [name] if name not in seen else []
            axes.plot(
                row["ms_per_frame"], row["gauge_pressure"] / 1e3, "o", color=COLOURS[seen.index(name)],
                markersize={162: 4, 642: 7, 2562: 10}[row["vertices"]],
            )  # fmt: skip
        for number_of, name in enumerate(seen):
            axes.plot([], [], "o", color=COLOURS[number_of], label=name)
        axes.axhline(truth["gauge_pressure"] / 1e3, color="black", linewidth=0.8, label="closed form")
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("ms per frame")
        axes.set_ylabel("gauge pressure left [kPa]")
        axes.legend(fontsize=6)

    page.figure("hold", "What is left of the pressure against what a frame costs; larger marks are finer meshes.", draw)
    page.text(
        """The substeps of the force-based method are those that `stability.py` asks for: they grow with the fineness of
        the mesh and with the stiffness. It is left out at 2 562 vertices, where both vertices and substeps are more."""
    )
