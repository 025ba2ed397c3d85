"""Order of convergence of every solver, against RK4 at small steps, and the energy of a ringing skin over time."""

import numpy as np
from scenes import Ball, ball_world, inflate

from .figures import NAMES, label_lines, number, table
from .parts import FRAME_RATE, energy, lasts, recorded

DEPENDS = ("core/papers/*.py", "core/solvers/xpbd/*.py", "core/energy/*.py")
BALL = Ball(0.2, 0.2, 2e3, 2e3)
#: Alike along x and y, so that the shear has no angular momentum: what rotates keeps its energy.
SQUASH = (1.01, 1.01, 0.98)
#: Shear rate at the start [1/s]. From rest, the first-order error of Euler's velocities cancels in an oscillation.
SHEAR = 5.0
#: Ringing time [s] after which errors are taken.
TIME = 0.02
#: Orders of positions as the theory of each method says. Martin takes his for the fourth; see core/papers/README.md.
#: The engine's steps have the length and the dampers that it chooses.
EXPECTED = {
    "EXPLICIT_EULER": 1, "HEUN": 2, "RK4_MARTIN": 1, "RK4": 4, "IMPLICIT_KANG": 1, "IMPLICIT_MESIT": 1, "XPBD": 1,
}  # fmt: skip
#: Substeps per frame of the comparison of energies: enough for all, and the usual ones of XPBD, which is not bound by
#: stability.
EQUAL_SUBSTEPS, USUAL = 100, {"XPBD": 20}
#: Two methods whose lines lie on top of each other are told apart by their marks.
MARKS = dict(zip(EXPECTED, "osv^Dx*", strict=True))
#: What is left of the energy is drawn down to this share; the energy at rest is known to a billionth.
LEAST_SHARE = 1e-8
RUNS = (*((method, EQUAL_SUBSTEPS) for method in EXPECTED), *USUAL.items())


def ringing(method, frame_rate, substeps, subdivisions=1):
    """World with the squashed, shearing ball."""
    world = ball_world(
        BALL,
        subdivisions,
        floor=False,
        gravity=(0.0, 0.0, 0.0),
        frame_rate=frame_rate,
        substeps=substeps,
        solver=method,
    )
    inflate(world, BALL)
    x = world.positions(0)
    middle = x.mean(axis=0)
    world.set_positions(0, middle + (x - middle) * SQUASH)
    state = world.save()
    state.velocities[:, :2] = SHEAR * (state.positions - middle)[:, 1::-1]
    world.load(state)
    return world


def end(method, substeps):
    """Positions and velocities after `TIME`; `None` for a run that diverged."""
    world = ringing(method, 1.0 / TIME, substeps)
    return (world.positions(0), world.velocities(0)) if lasts(world, 1) else None


def rms(difference):
    return float(np.sqrt((difference**2).sum(axis=1).mean()))


def orders(quick=False):
    """Errors [m, m/s] by method and substeps in `TIME`, and the order between the two finest."""
    counts = [256, 512, 1024] if quick else [16, 32, 64, 128, 256, 512, 1024, 2048]
    exact = end("RK4", 4096 if quick else 8192)
    start = ringing("RK4", 1.0 / TIME, 1).positions(0)
    found = {}
    for method in EXPECTED:
        errors = []
        for count in counts:
            result = end(method, count)
            errors.append(None if result is None else tuple(rms(a - b) for a, b in zip(result, exact, strict=True)))
        # the fourth order comes down to rounding at the finest steps
        floor = 1e-10 * np.array([rms(exact[0] - start), rms(exact[1])])
        above = [e for e in errors if e is not None and (np.array(e) > floor).all()][-2:]
        ratio = [float(np.log2(coarse / fine)) for coarse, fine in zip(*above, strict=True)]
        found[method] = {"errors": errors, "position_order": ratio[0], "velocity_order": ratio[1]}
    steps = [TIME / count for count in counts]
    return {"steps": steps, "moved": rms(exact[0] - start), "speed": rms(exact[1]), "methods": found}


def energies(quick=False, runs=RUNS):
    """Energy of the ringing over time as a share of what was put in, by method and substeps per frame."""
    frames = 12 if quick else 60
    damped = ball_world(BALL, 1, floor=False, gravity=(0.0, 0.0, 0.0), frame_rate=FRAME_RATE, substeps=4, damping=100.0)
    inflate(damped, BALL)
    lasts(damped, 60)
    rest = energy(damped)
    found = {}
    for method, substeps in runs:
        world, shares = ringing(method, FRAME_RATE, substeps), []
        recorded(world, frames, {}, lambda world=world, shares=shares: shares.append(energy(world) - rest))
        found[method, substeps] = np.array(shares) / shares[0]
    return {"frame_time": 1.0 / FRAME_RATE, "runs": found}


def run(quick=False):
    """Both parts."""
    return {"orders": orders(quick), "energies": energies(quick)}


def values(data):
    """What stands in the text."""
    found = data["orders"]["methods"]
    euler, heun = (data["energies"]["runs"][name, EQUAL_SUBSTEPS][-1] for name in ("EXPLICIT_EULER", "HEUN"))
    orders = {
        method: [f"{each[key]:.2f}" for key in ("position_order", "velocity_order")] for method, each in found.items()
    }
    return {
        "orders": table(
            ["solver", "expected order", "order of positions", "order of velocities"],
            [[NAMES[method], EXPECTED[method], *order] for method, order in orders.items()],
        ),
        "heun": orders["HEUN"][0], "heun_velocity": orders["HEUN"][1], "martin": orders["RK4_MARTIN"][0],
        "martin_velocity": orders["RK4_MARTIN"][1], "moved": number(data["orders"]["moved"]),
        "speed": number(data["orders"]["speed"]), "euler_energy": number(euler),
        "heun_energy": number(heun),
    }  # fmt: skip


def draw(figures, data):
    """Both figures."""
    orders, energies = data["orders"], data["energies"]

    def errors(positions, velocities):
        for axes, part, scale in ((positions, 0, orders["moved"]), (velocities, 1, orders["speed"])):
            for method, found in orders["methods"].items():
                points = [(h, e[part] / scale) for h, e in zip(orders["steps"], found["errors"], strict=True) if e]
                axes.loglog(*zip(*points, strict=True), marker=MARKS[method], markersize=5, label=NAMES[method])
            axes.invert_xaxis()  # labels stand at the small steps, where the lines have spread
            axes.set_xlabel("step h [s], finer to the right")
        positions.set_ylabel("error of positions")
        velocities.set_ylabel("error of velocities")
        label_lines(positions, velocities)

    def ringing_energy(axes):
        for (method, substeps), share in energies["runs"].items():
            usual = substeps != EQUAL_SUBSTEPS
            told = number(share[-1], 2) if share[-1] > LEAST_SHARE else f"below {number(LEAST_SHARE, 1)}"
            axes.semilogy(
                energies["frame_time"] * np.arange(len(share)), np.where(share > LEAST_SHARE, share, np.nan),
                "--" if usual or method == "RK4" else "-", color=f"C{list(EXPECTED).index(method)}",
                label=f"{NAMES[method]}{f' ({substeps})' if usual else ''}: {told}",
            )  # fmt: skip
        axes.set(ylim=(0.03 * LEAST_SHARE, 1e3), xlabel="time [s]", ylabel="share of the energy")
        label_lines(axes)

    figures.curves("convergence", errors, panels=2)
    figures.curves("energy", ringing_energy, height=5.0)
