"""Text, tables, figures and pictures of `mesit`."""

import numpy as np

from ..mesit import BOUNCINESS, DROP, GROWN, METHODS, NUDGE, PAPER, READINGS, SPRINGS, SUBSTEPS
from ..parts import FRAME_RATE
from ..pictures import BLUE, GREY, ORANGE
from ..report import COLOURS, SOLVERS, Claim, label_lines, number

HEADING = "Mesit, Guha and Chaudhry 2007: a simplified implicit method"
STIFFNESS, GAS, SPEED, HEAP = (
    "Figures 3 and 4: spring constants", "Figure 5: less gas", "Figure 6: steps per second", "Figure 7: many bodies",
)  # fmt: skip
DEPENDS = (
    "core/papers/*.py",
    "core/energy/dampers.py",
    "core/solvers/sequential/*.py",
    "core/solvers/explicit/*.py",
    "core/energy/*.py",
    "experiments/parts.py",
)
NAMES = {method: SOLVERS[method].name for method in METHODS}
COLOUR = dict(zip(METHODS, COLOURS, strict=False))
#: Turn of the camera that looks at the heap [degrees].
TURN = (70.0, 20.0)
FIRST = next(iter(READINGS))


def ratio(found, method, reading=FIRST):
    """Longest step of a method over Euler's with the same reading of eq. 12."""
    return found["longest"][reading, method] / found["longest"][reading, "EXPLICIT_EULER"]


def share(value):
    """How much of Euler's step that is, in words."""
    if abs(value - 1.0) < 0.05:
        return "the same step as Euler's"
    return f"{number(value, 2)} of Euler's step" if value < 1.0 else f"{number(value, 2)} times Euler's step"


def broken(found):
    """Names of the methods that diverge at the last spring constant."""
    return [NAMES[method] for method, run in found["runs"].items() if "error" in run]


def claims(data):
    readings, speed, heap = data["readings"], data["speed"]["steps_per_second"], data["heap"]["runs"]
    apart = min(ratio(readings, "IMPLICIT_MESIT", reading) for reading in READINGS)
    kang, mesit = (speed[name][-1] / speed["EXPLICIT_EULER"][-1] for name in ("IMPLICIT_KANG", "IMPLICIT_MESIT"))
    whole = [NAMES[name] for name in PAPER if "error" not in heap[name]]
    return [
        Claim(
            "Mesit, figure 4",
            "at k = 1000 the explicit method breaks and the simplified implicit one does not",
            f"no: with the same forces Mesit's method allows {share(ratio(readings, 'IMPLICIT_MESIT'))}, with other "
            f"readings of eq. 12 down to {number(apart, 2)} of it; Kang's holds with the longest step tried",
            "where Euler's method breaks, velocities alternate, and eq. 24 is then the same as eq. 6",
            STIFFNESS,
        ),
        Claim(
            "Mesit, figure 5", "the body deforms realistically when n falls from 700 to 100",
            "yes: all methods come to the same shape", "at rest, the method has no part in the forces", GAS,
        ),
        Claim(
            "Mesit, figure 6",
            "the simplified method is nearly as fast as the explicit one, Kang's falls far behind",
            f"with the same forces Mesit's runs at {mesit:.2f} and Kang's at {kang:.2f} of Euler's rate",
            "the sum over the neighbours costs a pass over the springs, as the forces do", SPEED,
        ),
        Claim(
            "Mesit, figure 7", "many stiff bodies collide realistically",
            f"yes with {', '.join(whole)}, for {data['heap']['frames'] / FRAME_RATE:g} s",
            "the step is short enough for the springs, and contact is the same for all", HEAP,
        ),
    ]  # fmt: skip


def add(page, data):
    page.text(
        """They replace the linear system of implicit Euler by one division per vertex: Kang et al. guess the change Δv
        of the neighbours' velocities from the step before, Mesit et al. take the vertex's own."""
    )
    page.equation(
        r"\Delta v_i = \frac{F_i h + k h^2 n_i |\Delta v_i^{\,t}| \hat F_i}{m_i + k h^2 n_i} \quad (24), \qquad "
        r"F_{d,i} = \sum_j k_{ij} h\, (v_j - v_i) \quad (12)"
    )
    page.text(
        f"""Spring constants {", ".join(f"{k:g}" for k in data["springs"])}, damping {data["damper"]:g}, mass
        {data["point_mass"]:g} kg and moles are the paper's. It gives no size, temperature or step. Here: radius
        {data["radius"]:g} m, {data["point_mass"]:g} kg per point, R T = 1 J/mol, nothing outside, bounciness
        {BOUNCINESS:g}. All edges have the same spring constant. All three methods have the same forces; our engine
        stands beside them as a finer run, and has dampers of {data["damper"]:g} N s/m along the springs."""
    )
    add_readings(page, data)
    add_stiffer(page, data["stiffer"])
    add_less_gas(page, data)
    add_speed(page, data["speed"])
    add_heap(page, data)


def add_readings(page, data):
    found = data["readings"]
    page.heading(STIFFNESS, 3)
    page.text(
        f"""Eq. 12 calls its constant k, like that of the springs, and multiplies it by the step h; the experiments say
        "damping constant 2.0". So there are several readings. A free ball of {found["points"]} points at k =
        {data["stiff"]:g}, in equilibrium, without weight, gets random velocities of {NUDGE:g} m/s. Longest step with
        which its motion does not grow {GROWN:g} times within {found["seconds"]:g} s, in units of 1/ω, ω =
        {number(found["frequency"])} /s its stiffest frequency; steps are found to a hundredth, none above
        {found["most"] * found["frequency"]:.0f}/ω was tried."""
    )
    readings = list(READINGS)

    def draw(axes):
        for row, reading in enumerate(readings):
            for k, method in enumerate(PAPER):
                step = found["longest"][reading, method]
                place = row + 0.26 * (k - 1)
                angle = 0.0 if step is None else step * found["frequency"]
                axes.barh(place, angle, height=0.24, color=COLOUR[method])
                told = "below the shortest" if step is None else f"{angle:.2f}"
                told = f"≥ {angle:.0f}" if step == found["most"] else told
                axes.annotate(
                    f"{NAMES[method]} {told}", (angle, place), (4, 0), textcoords="offset points", va="center",
                    fontsize=9, color=COLOUR[method],
                )  # fmt: skip
            axes.plot([found["theory"][reading]] * 2, [row - 0.4, row - 0.12], color="black", linewidth=2.5)
        axes.set_yticks(range(len(readings)), readings)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0.0, 7.2)
        axes.set_xlabel("longest step, h ω")
        axes.set_ylabel("constant of eq. 12")

    page.figure(
        "readings",
        "Longest steps by reading of eq. 12. Black: theory for Euler's method, as in the section on Matyka.",
        draw, height=4.6,
    )  # fmt: skip
    page.table(
        ["constant of eq. 12", *(f"{NAMES[method]}: step [ms]" for method in PAPER), "Mesit's step over Euler's"],
        [
            [
                f"{reading}",
                *(told(found["longest"][reading, method], found["most"]) for method in PAPER),
                f"{ratio(found, 'IMPLICIT_MESIT', reading):.2f}",
            ]
            for reading in readings
        ],
    )
    page.text(
        f"""With the text's k h, Mesit's method allows {share(ratio(found, "IMPLICIT_MESIT"))}, and with 2.0
        {share(ratio(found, "IMPLICIT_MESIT", "2.0"))}. That is no chance. At the limit a vertex's velocity changes its
        sign in each step, so |Δv| is the same in every step, and eq. 24 with |Δvᵗ| = |Δv| is m Δv = F h, Euler's step.
        With little or no damping Mesit's method allows less: the guessed Δv pushes along the force of now, which feeds
        what rings. Kang's takes the neighbours' Δv, which at the shortest waves have the opposite sign, and damps."""
    )


def told(step, most):
    if step is None:
        return "none found"
    return f"{'≥ ' if step == most else ''}{number(1e3 * step, 2)}"


def add_stiffer(page, found):
    step, frame = found["step"], found["frame_time"]
    page.text(
        f"""As printed, k is raised while the ball falls {DROP:g} m and bounces: {", ".join(f"{k:g}" for k in SPRINGS)},
        each for {number(found["frames"] * frame, 2)} s, with eq. 12 as k h for the three methods and one step of
        {number(1e3 * step, 3)} ms for all."""
    )

    def draw(height, volume):
        for method, run in found["runs"].items():
            times = frame * np.arange(1, len(run["height"]) + 1)
            style = {"color": COLOUR[method], "label": NAMES[method]}
            height.plot(times, run["height"], **style)
            volume.plot(times, run["volume"], **style)
            if "error" in run:
                for axes, key in ((height, "height"), (volume, "volume")):
                    axes.plot(times[-1], run[key][-1], "x", color=COLOUR[method], markersize=10, markeredgewidth=2.5)
        for axes, label in ((height, "height of the middle [m]"), (volume, "V / V0")):
            for k, spring in enumerate(SPRINGS):
                at = k * found["frames"] * frame
                axes.axvline(at, color="black", linewidth=0.5)
                axes.annotate(f" k = {spring:g}", (at, 0.98), xycoords=("data", "axes fraction"), va="top", fontsize=9)
            axes.set_xlabel("time [s]")
            axes.set_ylabel(label)
            label_lines(axes)

    page.figure("stiffer", "k is raised twice; a cross marks where a method diverges.", draw, panels=2)

    def build(picture):
        for row, (_, run) in enumerate(found["runs"].items()):
            for column, x in enumerate(run["positions"]):
                shift = np.array([2.8 * (column + len(SPRINGS) * row + 0.4 * row), 0.0, 0.0])
                picture.mesh(x + shift, found["triangles"], BLUE)
        wide = 2.8 * (len(SPRINGS) * len(found["runs"]) + 0.4 * (len(found["runs"]) - 1))
        floor = np.array([(-1.6, -1.5, 0.0), (wide - 1.2, -1.5, 0.0), (wide - 1.2, 1.5, 0.0), (-1.6, 1.5, 0.0)])
        picture.mesh(floor, [(0, 1, 2, 3)], GREY)

    page.picture(
        "spring_constants",
        f"""Figures 3 and 4: the ball at the end of k = {", ".join(f"{k:g}" for k in SPRINGS)}, with
        {", ".join(NAMES[method] for method in found["runs"])}. Missing: the body has disintegrated.""",
        build, turn=(80.0, 0.0),
    )  # fmt: skip
    gone = broken(found)
    running = [NAMES[method] for method in found["runs"] if NAMES[method] not in gone]
    page.text(
        f"""At k = {SPRINGS[-1]:g} {" and ".join(gone) if gone else "none of the methods"} {
            "break" if len(gone) != 1 else "breaks"
        }, as figure 4 shows it of the explicit method; {" and ".join(name for name in running)} go on."""
    )


def add_less_gas(page, data):
    found = data["less_gas"]
    page.heading(GAS, 3)
    many, few = data["moles"]
    page.text(
        f"""k = {data["stiff"]:g}, {found["points"]} points on a floor; n goes from {many:g} to {few:g} at frame
        {found["switch"]} of {found["last"]}; {SUBSTEPS} substeps per 1/60 s, and as many as it needs of our engine. He
        takes the volume of the bounding box, which is 6/π times that of a ball: both rules. Means over the last tenth
        of the frames before and after."""
    )
    tenth = max(1, found["switch"] // 10)
    rules = {"EXACT": "exact", "BOUNDING_BOX": "bounding box"}
    rows = []
    for (method, rule), run in found["runs"].items():
        if "error" in run:
            rows.append([NAMES[method], rules[rule], "diverged", "", ""])
            continue
        cells = []
        for end in (found["switch"] - 1, found["last"]):
            cells.append([np.mean(run[name][end - tenth : end]) for name in ("volume_ratio", "pressure", "shape")])
        rows.append(
            [NAMES[method], rules[rule]] + [f"{number(a)} → {number(b)}" for a, b in zip(*cells, strict=True)]
        )  # fmt: skip
    page.table(["solver", "volume", "V/V0", "pressure [Pa]", "height / width"], rows)

    def draw(volume, shape):
        frames = range(1, found["last"] + 1)
        for k, ((method, rule), run) in enumerate(found["runs"].items()):
            if "error" in run or method not in ("IMPLICIT_MESIT", "EXPLICIT"):
                continue
            style = {
                "color": COLOURS[k], "linestyle": "-" if rule == "EXACT" else "--",
                "label": NAMES[method] + (", box" if rule != "EXACT" else ""),
            }  # fmt: skip
            volume.plot(frames, run["volume_ratio"], **style)
            shape.plot(frames, run["shape"], **style)
        volume.set_ylabel("V / V0")
        shape.set_ylabel("height / width")
        for axes in (volume, shape):
            axes.set_xlabel("frame")
            label_lines(axes)

    page.figure("less_gas", f"n from {many:g} to {few:g} at frame {found['switch']}.", draw, panels=2)
    page.text(
        f"""The three methods and our engine come to the same body. The bounding box of a ball on a floor shrinks by
        more than the ball: with it the gas has {mesit_pressure(found, found["switch"] - 1):.2f} times the pressure
        before and {mesit_pressure(found, found["last"]):.2f} times after."""
    )


def mesit_pressure(found, frame):
    """Pressure by the bounding box over that by the exact volume, with Mesit's method at a frame."""
    box, exact = (found["runs"]["IMPLICIT_MESIT", rule]["pressure"] for rule in ("BOUNDING_BOX", "EXACT"))
    return box[frame - 1] / exact[frame - 1]


def add_speed(page, found):
    page.heading(SPEED, 3)
    rates = found["steps_per_second"]

    def draw(axes):
        for name in METHODS:
            axes.loglog(found["points"], rates[name], "o-", color=COLOUR[name], markersize=5, label=NAMES[name])
        axes.set_xlabel("surface points")
        axes.set_ylabel("steps per second")
        label_lines(axes)

    kang, mesit = (rates[name][-1] / rates["EXPLICIT_EULER"][-1] for name in ("IMPLICIT_KANG", "IMPLICIT_MESIT"))
    page.text(
        """k = 200, a free ball at rest, one step per frame as in the paper; the fastest of some steps. A
        step is 1/600 s long, or as short as our engine needs; what it costs does not depend on that."""
    )
    page.figure("speed", "Steps per second against surface points.", draw)
    page.text(
        f"""At {found["points"][-1]} points Kang's method runs at {kang:.2f} and Mesit's at {mesit:.2f} of Euler's rate,
        with eq. 12 in all. Both give each body the momentum back that the division loses, which the paper does not
        mention; Kang's has one more pass over the springs. It does not fall far behind."""
    )


def add_heap(page, data):
    found = data["heap"]
    page.heading(HEAP, 3)
    page.text(
        f"""{found["bodies"]} balls with {found["faces"]} faces and {found["points"]} points in all, k =
        {data["stiff"]:g}, fall into a tray into which a layer just fits, for {found["frames"]} frames of 1/60 s,
        {found["frames"] / FRAME_RATE:g} s, as in the paper. "Crossing" counts triangles that cross another body at the
        end."""
    )
    rows = []
    for method, run in found["runs"].items():
        start = [NAMES[method], run["substeps"]]
        if "error" in run:
            rows.append([*start, "diverged", "", ""])
            continue
        low, high = run["volume_ratio"]
        rows.append([*start, run["contacts"], run["crossing"], f"{low:.2f} to {high:.2f}"])
    page.table(["solver", "substeps", "most contacts", "crossing", "V/V0 at the end"], rows)

    def draw(height, speed):
        for method, run in found["runs"].items():
            times = np.arange(1, len(run["height"]) + 1) / FRAME_RATE
            height.plot(times, run["height"], color=COLOUR[method], label=NAMES[method])
            speed.semilogy(times, run["speed"], color=COLOUR[method], label=NAMES[method], linewidth=1)
        height.set_ylabel("height of all points [m]")
        speed.set_ylabel("speed [m/s, root mean square]")
        for axes in (height, speed):
            axes.set_xlabel("time [s]")
            label_lines(axes)

    page.figure("heap", "The heap comes to rest.", draw, panels=2)

    def build(picture):
        run = found["runs"]["IMPLICIT_MESIT"]
        wide, right = 1.7 * np.ptp(next(iter(run["shown"].values()))[:, 0]), np.radians(TURN[1])
        per_body = found["faces"] // found["bodies"]
        for column, x in enumerate(run["shown"].values()):
            shift = wide * column * np.array([np.cos(right), np.sin(right), 0.0])
            for body in range(found["bodies"]):
                own = found["triangles"][body * per_body : (body + 1) * per_body]
                used = np.unique(own)
                picture.mesh(x[used] + shift, np.searchsorted(used, own), (BLUE, ORANGE)[body % 2], smooth=True)

    frames = ", ".join(str(frame) for frame in found["runs"]["IMPLICIT_MESIT"]["shown"])
    page.picture("heap_bodies", f"With Mesit's method, at frames {frames}.", build, turn=TURN)
