"""Text, tables and figures of `convergence`."""

from ..convergence import BALL, EQUAL_SUBSTEPS, EXPECTED, SHEAR, SQUASH, TIME, USUAL
from ..report import number

HEADING = "Order of convergence, and energy"
DEPENDS = ("core/papers/*.py", "core/solvers/implicit/*.py", "core/solvers/xpbd/*.py", "core/energy/*.py")
#: Two methods that lie on top of each other are told apart by their marks.
MARKS = dict(zip(EXPECTED, "osv^Dx*P", strict=True))


def claims(data):
    return []


def add(page, data):
    add_orders(page, data["orders"])
    add_energies(page, data["energies"])


def add_orders(page, data):
    page.heading("Order of convergence", 3)
    page.text(
        f"""A ball ({BALL.radius:g} m, {BALL.mass:g} kg, {BALL.gauge_pressure:g} Pa, {BALL.stretch_modulus:g} N/m, 42
        vertices) is let go squashed by {100 * (1 - SQUASH[2]):.0f} % and shearing at {SHEAR:g} /s, without gravity,
        losses or contact. After {TIME:g} s it is compared with the classical Runge-Kutta method at much smaller steps.
        Errors are root mean squares over the vertices, as shares of {number(data["moved"])} m, what the vertices
        have moved, and {number(data["speed"])} m/s, how fast they are. The order is that between the two finest steps
        (for the fourth order: above rounding)."""
    )
    steps = data["steps"]
    shown = [0, len(steps) // 2, -1]
    head = ["solver", "expected", "order of positions", "order of velocities"]
    head += [f"error at h = {number(1e6 * steps[k])} µs" for k in shown]
    rows = []
    for method, found in data["methods"].items():
        errors = [found["errors"][k] for k in shown]
        rows.append(
            [f"`{method}`", EXPECTED[method], f"{found['position_order']:.2f}", f"{found['velocity_order']:.2f}"]
            + ["diverges" if error is None else number(error[0] / data["moved"], 2) for error in errors]
        )
    page.table(head, rows)

    def draw(positions, velocities):
        for axes, part, scale in ((positions, 0, data["moved"]), (velocities, 1, data["speed"])):
            for method, found in data["methods"].items():
                points = [(h, e[part] / scale) for h, e in zip(steps, found["errors"], strict=True) if e is not None]
                axes.loglog(*zip(*points, strict=True), marker=MARKS[method], markersize=4, label=method, linewidth=1)
            axes.set_xlabel("step h [s]")
            axes.grid(True, alpha=0.3)
        positions.set_ylabel("error of positions")
        velocities.set_ylabel("error of velocities")
        velocities.legend(fontsize=6)

    page.figure("convergence", "Errors against the step, as shares of the motion.", draw, panels=2)
    page.text(
        """Martin (3.2) takes all of his method for fourth order; his position uses the final velocity, and that makes
        positions and velocities first order. The two simplified implicit methods of Mesit (eq. 21, 24) tend to the
        first order from below: they damp."""
    )


def add_energies(page, data):
    page.heading("Energy of a ringing skin", 3)
    at = [0, data["frames"] // 4, data["frames"]]
    page.text(
        f"""The same ball rings for {number(data["frames"] * data["frame_time"])} s. Energy above that at rest, as a
        share of what was put in; {EQUAL_SUBSTEPS} substeps per 1/60 s for all, and the usual
        {" and ".join(f"{count} for {name}" for name, count in USUAL.items())}."""
    )
    head = ["solver", "substeps", *(f"after {number(k * data['frame_time'], 2)} s" for k in at[1:])]
    rows = []
    for (method, substeps), found in data["runs"].items():
        shares = [number(found["share"][k], 4) if k < len(found["share"]) else "diverged" for k in at[1:]]
        rows.append([f"`{method}`", substeps, *shares])
    page.table(head, rows)

    def draw(axes):
        for (method, substeps), found in data["runs"].items():
            times = [k * data["frame_time"] for k in range(len(found["share"]))]
            usual = substeps != EQUAL_SUBSTEPS
            axes.semilogy(
                times, [max(share, 1e-4) for share in found["share"]], "--" if usual else "-", linewidth=1,
                label=f"{method}, {substeps}",
            )  # fmt: skip
        axes.set_xlabel("time [s]")
        axes.set_ylabel("share of the energy")
        axes.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))
        axes.grid(True, alpha=0.3)

    page.figure("energy", "Energy of the ringing, by solver and substeps per frame.", draw)
    page.text(
        """Euler's energy wavers and stays; Heun's grows; the implicit solver's falls, by little at small
        steps. XPBD at its usual step comes to rest at another shape: its skin gives way (see the next section)."""
    )
