"""Kurmaly and Wu 2021: trusses and pressure bodies dropped, collapse at high speed, and three formulas for an area."""

import numpy as np
import shapes
from scenes import GRAVITY
from softpressure_ext.core import MethodOptions, ModelBuilder
from softpressure_ext.core.bodies.flat.band import STRIP_TO_VOLUME
from softpressure_ext.core.bodies.flat.cells import inside
from softpressure_ext.core.papers.forces import SoftForces
from softpressure_ext.core.papers.gas_rules import GasRules
from softpressure_ext.core.papers.schemes import SCHEMES, stable_angle
from softpressure_ext.core.papers.stability import stiffest_frequency

from .figures import BLUE, COLOURS, GREEN, GREY, NAMES, ORANGE, label_lines, number, plain_ticks
from .parts import FRAME_RATE, energy, lasts, longest_step, recorded, world_of

DEPENDS = (
    "core/papers/*.py", "core/solvers/sequential/*.py", "core/solvers/xpbd/*.py", "core/bodies/flat/*.py"
)  # fmt: skip
CELLS, SIZE, MASS, MODULUS, DEPTH = 4, 1.0, 1.0, 1e4, 0.25
DAMPING, BOUNCINESS, GAP = 5.0, 0.5, 0.05
#: Of the particles, as a share of a cell's edge.
RADIUS = 0.4
SPEEDS = (10.0, 20.0, 30.0, 40.0)
#: Substeps per 1/60 s and options of each method; only RK4 has the reflection of section 4, at any particle.
REFLECTED = {"collider_rule": "REFLECTION"}
METHODS = {"RK4": (40, REFLECTED), "XPBD": (20, {})}
#: The pressure body: points, pressure at rest [Pa] and modulus [N/m] of its skin.
POINTS, PRESSURE, STRETCH, LOOP_SUBSTEPS = 40, 2e3, 1e4, 40
#: Moduli of the skin [N/m] in the sweep of RK4's longest step, how far it falls [m], and steps between two looks.
MODULI, SWEEP_DROP, BATCH = (1e3, 1e4, 1e5), 0.1, 5
#: Reflection at the ground: drop of a truss without damping [m], substeps per 1/60 s, and seconds when it flies: before
#: the ground, after its first bounce and before its second, after its second.
BOUNCE_DROP, BOUNCE_SUBSTEPS, FLIGHTS = 0.5, (10, 20, 40, 80), (0.25, 0.5, 0.75, 1.05)
RULES = ("EXACT", "BOUNDING_BOX", "CENTRE_FAN")
#: Frames after the start at which the picture shows the bodies.
DRAWN = (0, 1, 2, 3, 4)
SQUARE = SIZE * np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def with_floor(builder):
    """The model, on a floor."""
    builder.add_collider("floor", *shapes.grid(40.0 * SIZE, 2), bounciness=BOUNCINESS)
    return builder.build()


def truss_model(speed, radius, damping=DAMPING, gap=GAP):
    """A truss that is about to hit a floor."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_flat_truss(
        "truss", shapes.upright(SQUARE, 0.5 * SIZE + gap), depth=DEPTH, cell_size=SIZE / CELLS, mass=MASS,
        modulus=MODULUS, damping=damping, bounciness=BOUNCINESS, velocity=(0.0, 0.0, -speed), particle_radius=radius,
    )  # fmt: skip
    return with_floor(builder)


def loop_model(speed, outline=None, stretch=STRETCH, damping=DAMPING, gap=GAP):
    """A pressure body that is about to hit a floor, nothing outside."""
    outline = shapes.ring(POINTS, 0.5 * SIZE) if outline is None else outline
    height = gap - float(outline[:, 1].min())
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY), ambient_pressure=0.0)
    builder.add_loop(
        "loop", shapes.upright(outline, height), depth=DEPTH, mass=MASS, gauge_pressure=PRESSURE,
        stretch_modulus=stretch, damping=damping, bounciness=BOUNCINESS, velocity=(0.0, 0.0, -speed),
    )  # fmt: skip
    return with_floor(builder)


def fall(world, frames, measure):
    """What `measure` tells of the points of the middle plane by frame; their shapes, and the energy [J]."""
    row = {"measured": [], "energy": [], "shapes": []}

    def note():
        x = world.save().positions[: world.model.vertex_count]
        row["shapes"].append((0.5 * (x[::2] + x[1::2]))[:, [0, 2]])
        row["measured"].append(measure(row["shapes"][-1]))
        row["energy"].append(energy(world))

    return recorded(world, frames, row, note)


def least_cell(points):
    """Least signed area of a cell over that at rest; negative where one is turned over."""
    grid = points.reshape(CELLS + 1, CELLS + 1, 2)
    d, e = grid[1:, 1:] - grid[:-1, :-1], grid[:-1, 1:] - grid[1:, :-1]
    return float((0.5 * (d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0]) / (SIZE / CELLS) ** 2).min())


def loop_area(points):
    """Area of a loop over that at the start, by the shoelace formula."""
    return abs(shapes.shoelace(points) / shapes.shoelace(shapes.ring(POINTS, 0.5 * SIZE)))


def step_limits(quick=False):
    """Longest step [s] of RK4 by modulus of the skin, measured and by theory: sqrt 8 over the stiffest frequency."""
    found, seconds = {}, 0.5
    for stretch in MODULI[::2] if quick else MODULI:
        model = loop_model(0.0, stretch=stretch, damping=0.0, gap=SWEEP_DROP)
        frequency = stiffest_frequency(model, SoftForces(model), model.gauge_pressure * model.rest_volume)
        theory = stable_angle(SCHEMES["RK4"]) / frequency

        def holds(h, model=model):
            world = world_of(model, "RK4", BATCH, 1.0 / (BATCH * h))
            most = energy(world) + MASS * GRAVITY * SWEEP_DROP
            return lasts(world, round(seconds / (BATCH * h)), lambda: energy(world) <= most)

        found[stretch] = {"theory": theory, "measured": longest_step(holds, 0.5 * theory, 1.5 * theory)}
    return found


def bounces(quick=False):
    """A truss that bounces without damping by reflection, by substeps: `height` [m], and `gain` of energy by frame.

    As a share of what the fall has; `after`: when it flies.
    """
    model = truss_model(0.0, 0.0, damping=0.0, gap=BOUNCE_DROP)
    found = {}
    for substeps in BOUNCE_SUBSTEPS[1::2] if quick else BOUNCE_SUBSTEPS:
        run = fall(world_of(model, "RK4", substeps, **REFLECTED), 68, lambda x: float(x[:, 1].mean()))
        gain = (np.array(run["energy"]) - run["energy"][0]) / (MASS * GRAVITY * BOUNCE_DROP)
        after = [float(gain[int(FRAME_RATE * seconds)]) for seconds in FLIGHTS]
        found[substeps] = {"height": run["measured"], "gain": gain, "after": after}
    return found


def outlines():
    """Outlines by name [m]: the centre of the box inside of the first four, outside of the others."""

    def arc(radius, low, high, count=30):
        turn = np.linspace(low, high, count)
        return radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)

    def letter(*corners):
        return np.array(corners, float) / 3.0

    bow = arc(1.0, 0.0, np.pi)
    return {
        "circle": shapes.ring(POINTS, 0.5), "square": SQUARE,
        "square on its corner": SQUARE @ np.array([(1.0, 1.0), (-1.0, 1.0)]) / np.sqrt(2.0),
        "folded outline": shapes.bark(90, 0.5),
        "letter L": letter((0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)),
        "letter U": letter((0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)),
        "chevron": letter((0, 0), (1.5, 2), (3, 0), (3, 1), (1.5, 3), (0, 1)),
        "letter J": letter((0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 2), (0, 2)),
        "bow": 0.5 * np.concatenate([bow, 0.85 * bow[::-1]]),
        "crescent": 0.5 * np.concatenate([bow, (1.0, 0.55) * bow[::-1][1:-1]]),
        "open ring": 0.5 * np.concatenate([arc(1.0, 0.3, 2.0 * np.pi - 0.3), arc(0.75, 2.0 * np.pi - 0.3, 0.3)]),
    }  # fmt: skip


def areas():
    """Area of each outline by each rule over the exact one."""
    found = {}
    for name, outline in outlines().items():
        model = loop_model(0.0, outline)
        exact = abs(shapes.shoelace(outline)) * DEPTH
        rules = {rule: GasRules(model, MethodOptions(volume=rule)) for rule in RULES}
        told = {rule: float(own.rule_volumes(model.rest_positions)[0]) / exact for rule, own in rules.items()}
        told["CENTRE_FAN"] *= STRIP_TO_VOLUME  # of a flat body the fan takes the strip alone
        found[name] = told
    return found


def has_centre(outline):
    """Whether an outline has the centre of its box inside."""
    return bool(inside(outline, 0.5 * (outline.min(axis=0) + outline.max(axis=0))[None])[0])


def run(quick=False):
    """All experiments."""
    speeds, frames = (SPEEDS[-1:], 12) if quick else (SPEEDS, 60)
    return {
        "trusses": {
            (method, speed, size): fall(world_of(truss_model(speed, size), method, count, **rule), frames, least_cell)
            for method, (count, rule) in METHODS.items() for speed in speeds for size in (0.0, RADIUS)
        },
        "loops": {
            speed: fall(world_of(loop_model(speed), "RK4", LOOP_SUBSTEPS, **REFLECTED), frames, loop_area)
            for speed in speeds
        },
        "springs": np.unique(np.sort(truss_model(0.0, 0.0).edges.points // 2, axis=1), axis=0),
        "areas": areas(),
        "limits": step_limits(quick), "bounces": bounces(quick),
    }  # fmt: skip


def values(data):
    """What stands in the text."""
    least = {radius: min(min(run["measured"]) for (_, _, own), run in data["trusses"].items() if own == radius)
             for radius in (0.0, RADIUS)}  # fmt: skip
    limits = {stretch: row["measured"] for stretch, row in data["limits"].items()}
    soft, stiff = min(limits), max(limits)
    power = np.log(limits[soft] / limits[stiff]) / np.log(stiff / soft)
    outside = [name for name, outline in outlines().items() if not has_centre(outline)]
    nearer = [name for name in outside if data["areas"][name]["CENTRE_FAN"] < data["areas"][name]["BOUNDING_BOX"]]
    areas, runs = data["areas"], data["bounces"].values()

    def of_all(numbers):
        return ", ".join(number(100.0 * each, 2) for each in numbers)

    return {
        "least": number(least[0.0]), "kept": number(least[RADIUS]), "power": f"{power:.2f}",
        "outside": str(len(outside)), "nearer": str(len(nearer)), "nearer_names": ", ".join(nearer),
        "box_L": number(areas["letter L"]["BOUNDING_BOX"]), "fan_L": number(areas["letter L"]["CENTRE_FAN"]),
        "box_ring": number(areas["open ring"]["BOUNDING_BOX"]), "fan_ring": number(areas["open ring"]["CENTRE_FAN"]),
        "first": of_all(run["after"][1] for run in runs), "second": of_all(run["after"][3] for run in runs),
        "flown": ", ".join(f"{100.0 * (run['after'][1] - run['after'][2]):.1f}" for run in runs),
    }  # fmt: skip


def draw(figures, data):
    """All figures."""

    def collapse(axes):
        speeds = list(data["loops"])
        for k, method in enumerate(METHODS):
            for radius, style, more in ((0.0, "-", ""), (RADIUS, "--", ", particles")):
                least = [min(data["trusses"][method, speed, radius]["measured"]) for speed in speeds]
                axes.plot(speeds, least, style, marker="o", color=COLOURS[k], label=f"truss, {NAMES[method]}{more}")
        least = [min(run["measured"]) for run in data["loops"].values()]
        axes.plot(speeds, least, marker="o", color=COLOURS[2], label="loop, RK4")
        axes.axhline(0.0, color="black", linewidth=0.8)
        axes.set(xlabel="speed of the impact [m/s]", ylabel="least area / area at rest")
        label_lines(axes)

    def bodies(picture):
        fast = list(data["loops"])[-2:][0]
        rows = (
            ("truss", data["trusses"]["RK4", fast, 0.0], ORANGE, 0.03 * SIZE),
            ("with particles", data["trusses"]["RK4", fast, RADIUS], GREEN, RADIUS * SIZE / CELLS),
            ("loop", data["loops"][fast], BLUE, 0.0),
        )
        pitch = 1.6 * SIZE
        for row, (name, run, colour, radius) in enumerate(rows):
            low = -2.1 * SIZE * row
            picture.label((-0.75 * SIZE, -DEPTH, low + 0.4 * SIZE), name, 0.17 * SIZE, "RIGHT")
            for column, frame in enumerate(DRAWN):
                flat = run["shapes"][frame]
                x = np.stack([flat[:, 0] + column * pitch, 0.0 * flat[:, 0], flat[:, 1] + low], axis=1)
                if radius:
                    picture.rods(x, data["springs"], 0.02 * SIZE, colour)
                    picture.balls(x, radius, colour)
                else:
                    picture.outline(x, DEPTH, colour)
                if row == len(rows) - 1:
                    told = f"{1e3 * frame / FRAME_RATE:.0f} ms"
                    picture.label((column * pitch, -DEPTH, low - 0.3 * SIZE), told, 0.17 * SIZE)
            end = (len(DRAWN) - 1) * pitch + 0.75 * SIZE
            top = low - radius  # on which circles of this radius stand
            floor = np.array([(-0.7, 0, top), (end, 0, top), (end, 0, top - 0.06), (-0.7, 0, top - 0.06)])
            picture.outline(floor, DEPTH, GREY)

    def steps(axes):
        for what, style, colour in (("theory", "-", "grey"), ("measured", "o", COLOURS[0])):
            points = [(stretch, 1e3 * row[what]) for stretch, row in data["limits"].items()]
            axes.loglog(*zip(*points, strict=True), style, color=colour, label=what)
        axes.set(xlabel="modulus of the skin [N/m]", ylabel="longest step [ms]")
        plain_ticks(axes.yaxis, (0.4, 0.6, 1, 2, 4))
        axes.legend(frameon=False)

    def three_areas(shown):
        for place, (name, outline) in enumerate(outlines().items()):
            corners = np.concatenate([outline, outline[:1]]) - 0.5 * (outline.min(axis=0) + outline.max(axis=0))
            shift = np.array([1.7 * (place % 4), -1.9 * (place // 4)])
            shown.plot(*(corners + shift).T, color=COLOURS[0 if has_centre(outline) else 1])
            low, high = corners.min(axis=0) + shift, corners.max(axis=0) + shift
            shown.plot([low[0], high[0], high[0], low[0], low[0]], [low[1], low[1], high[1], high[1], low[1]], ":",
                       color="grey", linewidth=0.8)  # fmt: skip
            shown.plot(*shift, "+", color="grey")
            told = data["areas"][name]
            text = f"{name}\nbox {told['BOUNDING_BOX']:.2f}, fan {told['CENTRE_FAN']:.2f}"
            shown.text(shift[0], low[1] - 0.08, text, fontsize=9, ha="center", va="top")
        shown.set_aspect("equal")
        shown.axis("off")

    def ground(height, energy):
        for (substeps, run), colour in zip(data["bounces"].items(), COLOURS, strict=False):
            times = np.arange(len(run["height"])) / FRAME_RATE
            height.plot(times, run["height"], color=colour, label=f"{substeps} substeps")
            energy.plot(times, 100.0 * run["gain"], color=colour, label=f"{substeps} substeps")
        height.set_ylabel("height of the middle [m]")
        energy.set_ylabel("energy gained [% of the fall's]")
        for axes in (height, energy):
            axes.set_xlabel("time [s]")
        label_lines(height, energy)

    figures.curves("collapse", collapse)
    figures.bodies("truss_and_loop", bodies)
    figures.curves("kurmaly_limits", steps)
    figures.curves("areas", three_areas, height=6.4)
    figures.curves("reflection", ground, panels=2)
