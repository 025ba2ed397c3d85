"""Martin 2009: all that he describes together, on a ground plane, then each of what he says of it alone."""

import time
from dataclasses import replace

import numpy as np
import reference
import shapes
from contact_reference import closest_on_triangle
from softpressure_ext.core import MethodOptions, ModelBuilder
from softpressure_ext.core.model import GAS_CONSTANT
from softpressure_ext.core.papers.particles.search import ParticleSearch
from softpressure_ext.sample_blends.sample_animal import cat

from .figures import BLUE, COLOURS, GREEN, GREY, ORANGE, VIOLET, number, table
from .parts import FRAME_RATE, equilibrium, frequency_at, lasts, longest_step, put, relative_speed, shape_of, world_of

DEPENDS = (
    "core/papers/*.py", "core/papers/particles/*.py", "core/solvers/sequential/*.py", "sample_blends/sample_animal.py"
)  # fmt: skip
RADIUS, POINT_MASS, BOUNCINESS = 1.0, 0.1, 0.5
MAJOR, MINOR = 1.6, 0.5
CUBE, CUBE_MASS = 0.72, 2.0
#: Section 6.4: moles and spring constant [N/m], left and right.
SETTINGS = ((100.0, 150.0), (1.0, 10.0))
GLOBAL_DAMPING, STIFFEST = 0.01, 400.0
#: Section 6.3: frames per second on his machine.
HIS = {
    "sphere": 60, "torus": 45, "two spheres": 50, "two spheres in contact": 30, "three spheres": 30,
    "three spheres in contact": 20, "sphere in torus": 20, "torus with four cubes": 18,
}  # fmt: skip
#: His damping. All that he describes is on together, one substep per frame; others have contacts between surfaces.
#: Our engine has the damping of the bodies in its place [1/s].
DAMPED = {"step_damping": True, "stiffest_spring": STIFFEST}
PUBLISHED = DAMPED | {"spread": "VALENCE", "detection": "FEATURE_PARTICLES"}
RUNS = {
    "as published": ("RK4_MARTIN", 1, PUBLISHED), "surface contact": ("RK4_MARTIN", 1, DAMPED),
    "XPBD": ("XPBD", 10, DAMPED),
}  # fmt: skip
CALMING = 5.0
#: Distance of the middles of spheres [m]: inflated by 100 mol to a radius of 1.35 m, the near ones press on each other.
CLOSE, APART = 2.45 * RADIUS, 5.0 * RADIUS
#: Vertices per particle; he takes 8.
PER_PARTICLE, PLACES = (32, 16, 8, 4, 2, 1), {8: "1/8 (his)", 1: "1"}
#: A point mass [kg] with which h w is beyond 2, in place of POINT_MASS.
LIGHT = 0.05
#: A free sphere gets random velocities [m/s] and goes on for so many frames; at rest it moves by rounding alone [m/s].
NUDGE, NUDGED_FRAMES, AT_REST = 1e-3, 600, 1e-10
#: Frames after which bodies are drawn: damped as they are, they fall at no more than some decimetres per second.
GALLERY = {
    "two spheres": 30, "three spheres and a torus": 240, "three spheres, a torus and four cubes": 240,
    "a cat and a sphere": 90,
}  # fmt: skip
#: Of the cat: height [m], edge of its cells, and moles, with which it stands.
CAT_HEIGHT, CAT_CELL, CAT_MOLES = 2.6, 0.11, 30.0
#: Errors [%] are drawn from here on: rounding.
LEAST_ERROR = 1e-14
#: Sides of the box that tumbles freely, and of his cubes.
BOX, CUBES = (3.0, 2.0, 1.0), (1.0, 1.0, 1.0)


def loss_per_step(spring):
    """rho, the share of its velocity that a vertex loses in a step (3.1.3)."""
    return GLOBAL_DAMPING + (1.0 - GLOBAL_DAMPING) * spring / STIFFEST


class Scene:
    """Collects his bodies on a ground plane."""

    def __init__(self, moles=SETTINGS[0][0], spring=SETTINGS[0][1], mass=POINT_MASS):
        self._builder = ModelBuilder(ambient_pressure=0.0)
        self._moles, self._spring, self._mass = moles, spring, mass

    def skin(self, name, points, triangles, place, moles=None):
        pressure = GAS_CONSTANT * (moles or self._moles) / float(reference.volume(points, triangles))
        self._builder.add_membrane(
            name, points + place, triangles, point_mass=self._mass, spring_constant=self._spring,
            gauge_pressure=pressure, damping=0.0, bounciness=BOUNCINESS,
        )  # fmt: skip

    def sphere(self, x=0.0, z=1.1 * RADIUS, y=0.0, moles=None):
        self.skin(f"sphere {x:g} {y:g} {z:g}", *shapes.uv_sphere(8, 8, RADIUS), (x, y, z), moles)

    def torus(self):
        self.skin("torus", *shapes.torus(MAJOR, MINOR, 16, 16), (0.0, 0.0, 1.1 * MINOR))

    def cubes(self, z=0.55 * CUBE):
        for x, y in np.ndindex(2, 2):
            place = (0.53 * CUBE * (2 * x - 1), 0.53 * CUBE * (2 * y - 1), z)
            self._builder.add_rigid(f"cube {x} {y}", *shapes.box(CUBE, 1, place), mass=CUBE_MASS)

    def row(self, count, pitch):
        for place in range(count):
            self.sphere((place - 0.5 * (count - 1)) * pitch)

    def model(self, ground=True):
        if ground:
            self._builder.add_collider("ground", *shapes.grid(80.0 * RADIUS), bounciness=BOUNCINESS)
        return self._builder.build()


def benchmark(name, mass=POINT_MASS):
    """The model of a scene of section 6.3."""
    scene = Scene(mass=mass)
    if "torus" in name:
        scene.torus()
        if "cubes" in name:
            scene.cubes()
        if "sphere" in name:
            scene.sphere()
        return scene.model()
    count = {"two": 2, "three": 3}.get(name.split()[0], 1)
    scene.row(count, CLOSE if "contact" in name else APART)
    return scene.model()


def free_sphere():
    """His sphere without weight and ground."""
    scene = Scene()
    scene.sphere()
    return replace(scene.model(ground=False), gravity=np.zeros(3))


def gallery_model(name):
    """The model of a picture of section 6.5."""
    scene = Scene()
    if name == "two spheres":
        scene.row(2, CLOSE)
    elif "cat" in name:
        points, quads = cat(CAT_HEIGHT, CAT_CELL)
        scene.skin("cat", points, shapes.split_quads(quads), (0.0, 0.0, 0.05), CAT_MOLES)
        scene.sphere(1.55, 1.05, moles=30.0)
    else:
        scene.torus()
        if "cubes" in name:
            scene.cubes(2.0)
        for angle in np.radians((90.0, 210.0, 330.0)):
            scene.sphere(1.6 * float(np.cos(angle)), 2.6, 1.6 * float(np.sin(angle)))
    return scene.model()


def run_world(model, run="as published"):
    solver, substeps, options = RUNS[run]
    return world_of(model, solver, substeps, **options)


def touching_vertices(model, x):
    """Vertices of skins nearer to another moving body than the skin's thickness, by brute force."""
    search, surfaces, found = ParticleSearch(model), model.surfaces, set()
    for other, one in np.ndindex(model.moving_count, model.membrane_count):
        if one == other:
            continue
        own = slice(surfaces.body_triangle_start[other], surfaces.body_triangle_start[other + 1])
        corners = np.moveaxis(x[surfaces.triangles[own]], 1, 0)
        skin = 0.5 * search.skin * (search.radius[one] + search.radius[other])
        points = np.arange(model.body_point_start[one], model.body_point_start[one + 1])
        low, high = corners.min(axis=(0, 1)) - skin, corners.max(axis=(0, 1)) + skin
        for p in points[((x[points] > low) & (x[points] < high)).all(axis=1)]:
            here = np.broadcast_to(x[p], corners[0].shape)
            if np.linalg.norm(here - closest_on_triangle(here, *corners), axis=1).min() < skin:
                found.add(int(p))
    return found


def share_found(model, frames):
    """Of the vertices that touch another skin where a step would end, the share that particles find, by their number.

    Both look at the positions before the response, in each step of the second half of a run as published; particles of
    other numbers migrate beside those that act.
    """
    world = run_world(model)
    searches = {per: ParticleSearch(model, MethodOptions(particles_per_vertex=1.0 / per)) for per in PER_PARTICLE}
    touching, found, looks = 0, dict.fromkeys(PER_PARTICLE, 0), []
    acting = world._solver.integrator._particles.search
    find = acting.find

    def looking(x, poses):
        looks.append((x.copy(), poses.copy()))
        return find(x, poses)

    acting.find = looking
    for frame in range(frames):
        looks.clear()
        world.advance_frame()
        for x, poses in looks:
            there = touching_vertices(model, x) if frame >= frames // 2 else set()
            touching += len(there)
            for per, search in searches.items():
                count = search.find(x, poses)
                named = search.hits.points[:count][search.hits.weights[:count] != 0.0]
                found[per] += len(there & set(named.tolist()))
    return {
        "touching": touching / (frames - frames // 2),
        "share": {per: count / touching if touching else None for per, count in found.items()},
    }


def settings(quick=False):
    """Section 6.4: a sphere on the ground at both settings."""
    found = {}
    for moles, spring in SETTINGS:
        scene = Scene(moles, spring)
        scene.sphere()
        model = scene.model()
        calm = replace(model, damping=np.full_like(model.damping, CALMING))
        for run_name in ("as published", "ours"):
            world = run_world(model) if run_name in RUNS else world_of(calm, "EXPLICIT")
            lasts(world, 30 if quick else 180)
            body, x = world.diagnostics().bodies[0], world.positions(0)
            found[moles, spring, run_name] = {
                "volume_ratio": body.volume_ratio, "pressure": body.gauge_pressure, "shape": shape_of(x), "positions": x
            }  # fmt: skip
    return {"rows": found, "triangles": shapes.uv_sphere(8, 8, RADIUS)[1]}


class Free:
    """A sphere of his in equilibrium, without weight and ground; `frequency`: its stiffest [1/s] with POINT_MASS."""

    def __init__(self):
        self.model = free_sphere()
        self.rest = equilibrium(self.model)
        self.frequency = frequency_at(self.model, self.rest)

    def holds(self, angle, damped):
        """Whether a disturbance dies away at a step of 1/60 s that is h w = `angle`: point masses give it."""
        mass = POINT_MASS * (self.frequency / (FRAME_RATE * angle)) ** 2
        model = replace(self.model, vertex_mass=np.full_like(self.model.vertex_mass, mass))
        nudge = np.random.default_rng(1).normal(0.0, NUDGE, (model.vertex_count, 3))
        damping, speeds = DAMPED if damped else {}, []
        world = put(world_of(model, "RK4_MARTIN", **damping), self.rest, nudge)
        if not lasts(world, NUDGED_FRAMES, lambda: speeds.append(relative_speed(world)) is None):
            return False
        half, tenth = NUDGED_FRAMES // 2, NUDGED_FRAMES // 10
        return max(speeds[-tenth:]) < max(0.5 * max(speeds[half : half + tenth]), AT_REST)


def limits():
    """Longest h w of his integrator with and without his damping, and h w of his sphere at 60 steps per second."""
    free = Free()
    return {
        "undamped": longest_step(lambda angle: free.holds(angle, False), 1.5, 3.0),
        "damped": longest_step(lambda angle: free.holds(angle, True), 1.5, 3.0),
        "sphere": free.frequency / FRAME_RATE,
    }


def light(frames):
    """How many of the scenes of section 6.3 diverge with points of LIGHT in place of POINT_MASS."""
    return sum(not lasts(run_world(benchmark(name, LIGHT)), frames) for name in HIS)


def valence():
    """Section 3.1.2 alone: where the points of a free sphere come to rest, with even and with scaled pressure.

    `polar`: angle from the upper pole [degrees]; `away`: distance from the middle [m].
    """
    found = {}
    for name, spread in (("even pressure", "EXACT_GRADIENT"), ("scaled by springs", "VALENCE")):
        points = equilibrium(free_sphere(), solver="RK4_MARTIN", substeps=4, spread=spread)
        x = points - points.mean(axis=0)
        away = np.linalg.norm(x, axis=1)
        found[name] = {"polar": np.degrees(np.arccos(x[:, 2] / away)), "away": away, "shape": shape_of(x)}
    return found


def gallery(quick=False):
    """Section 6.5: bodies and particles of each picture, after they have met."""
    found = {}
    for name, whole in GALLERY.items():
        frames = 5 if quick else whole
        model = gallery_model(name)
        world = run_world(model)
        lasts(world, frames)
        x, start = world.save().positions, model.surfaces.body_triangle_start
        found[name] = {
            "positions": x[: model.moving_point_count],
            "bodies": [model.surfaces.triangles[start[b] : start[b + 1]] for b in range(model.moving_count)],
            "skins": model.membrane_count, "particles": np.unique(world.particle_places(), axis=0),
            "touching": len(touching_vertices(model, x)),
        }  # fmt: skip
    return found


def euler_cromer(sides, seconds, gyroscopic=False, step=1.0 / FRAME_RATE):
    """Relative errors of energy and angular momentum of a box that tumbles freely, by step, by Euler-Cromer (4.1).

    It turns about its middle axis, nearly, once a second. As printed nothing changes omega where there is no torque,
    and the orientation turns by |omega| h about it, while the inertia R I R^T follows. `gyroscopic`: with the term
    omega x I omega, which is not in the text.
    """
    sides, turn, omega = np.array(sides), np.eye(3), np.array([0.1, 2.0 * np.pi, 0.1])
    inertia, errors = (sides @ sides - sides**2) / 12.0, []
    start = inertia * omega
    for _ in range(round(seconds / step) + 1):
        spin = turn @ (inertia * (turn.T @ omega))  # I omega in the world
        errors.append((omega @ spin / (start @ (start / inertia)) - 1.0, np.linalg.norm(spin - start)))
        if gyroscopic:
            own = turn.T @ omega
            omega = turn @ (own - step * np.cross(own, inertia * own) / inertia)
        turn = shapes.rotation(omega, step * np.linalg.norm(omega)) @ turn
    energy, momentum = np.array(errors).T
    return energy, momentum / np.linalg.norm(start)


def run(quick=False):
    """All sections but the one that is timed."""
    names = ("two spheres in contact", "three spheres in contact", "sphere in torus")
    names, seconds = names[-1:] if quick else names, 2.0 if quick else 10.0
    return {
        "settings": settings(quick), "gallery": gallery(quick), "valence": valence(), "limits": limits(),
        "light": light(60),
        "particles": {name: share_found(benchmark(name), 20 if quick else 60) for name in names},
        "tumble": {
            "box, as printed": euler_cromer(BOX, seconds), "his cubes, as printed": euler_cromer(CUBES, seconds),
            "box, with the gyroscopic term": euler_cromer(BOX, seconds, gyroscopic=True),
        },
    }  # fmt: skip


def clock(quick=False):
    """Section 6.3: frames of 1/60 s per second of processor time, and vertices that touch another body, by run."""
    names = ("sphere", "two spheres in contact") if quick else tuple(HIS)
    before, frames = (20, 5) if quick else (40, 20)
    found = {}
    for name in names:
        model, runs = benchmark(name), {}
        for run_name in RUNS:
            world, times, touching = run_world(model, run_name), [], 0
            for frame in range(before + frames):
                began = time.process_time()
                world.advance_frame()
                times.append(time.process_time() - began)
                touching += len(touching_vertices(model, world.save().positions)) if frame >= before else 0
            rate = 1.0 / float(np.median(times[before:]))
            runs[run_name] = {"frames_per_second": rate, "touching": touching / frames}
        found[name] = runs
    return {"benchmarks": found}


def values(data):
    """What stands in the text."""
    scenes, limit = data["benchmarks"], data["limits"]
    rate = {name: runs["as published"]["frames_per_second"] for name, runs in scenes.items()}
    slowest = min(rate, key=rate.get)
    cost = [scenes[name]["surface contact"]["frames_per_second"] / rate[name] for name in scenes if "contact" in name]
    share = {per: [100.0 * found["share"][per] for found in data["particles"].values()] for per in (8, 1)}
    rows = [
        [f"n = {moles:g}, k = {spring:g}", name, *(number(row[key]) for key in ("volume_ratio", "pressure", "shape"))]
        for (moles, spring, name), row in data["settings"]["rows"].items()
    ]
    told = {
        "scenes": str(len(scenes)), "slowest": slowest, "slowest_rate": number(rate[slowest], 2),
        "particle_cost": number(float(np.mean(cost)), 2), "loss": f"{loss_per_step(SETTINGS[0][1]):.3f}",
        "undamped": f"{limit['undamped']:.2f}", "damped": f"{limit['damped']:.2f}", "angle": f"{limit['sphere']:.2f}",
        "light_angle": f"{limit['sphere'] * (POINT_MASS / LIGHT) ** 0.5:.2f}", "light": str(data["light"]),
        "settings": table(["setting", "solver", "V/V0", "pressure [Pa]", "height / width"], rows),
        "least": f"{min(share[8]):.0f}", "most": f"{max(share[8]):.0f}",
        "least_of_all": f"{min(share[1]):.0f}", "most_of_all": f"{max(share[1]):.0f}",
    }  # fmt: skip
    for key, run in zip(("even", "scaled"), data["valence"].values(), strict=True):
        told |= {key: number(100.0 * run["away"].std() / run["away"].mean(), 2), f"{key}_shape": number(run["shape"])}
    for key, parts in zip(("box", "cube", "gyro"), data["tumble"].values(), strict=True):
        worst = [number(100.0 * float(np.abs(part).max()), 2) for part in parts]
        told |= {f"{key}_energy": worst[0], f"{key}_momentum": worst[1]}
    return told | {f"touching_{k}": str(scene["touching"]) for k, scene in enumerate(data["gallery"].values(), 1)}


def draw(figures, data):
    """All figures."""
    scenes, colours = data["benchmarks"], (BLUE, GREEN, ORANGE, VIOLET)

    def rates(axes):
        rows = np.arange(len(scenes))
        axes.plot(
            [HIS[name] for name in scenes], rows, "k|", markersize=14, markeredgewidth=2, label="Martin's machine"
        )
        for run, mark, colour in zip(RUNS, "osD", COLOURS, strict=False):
            axes.plot([runs[run]["frames_per_second"] for runs in scenes.values()], rows, mark, color=colour, label=run)
        axes.axvline(FRAME_RATE, color="grey", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yticks(rows, [f"{name} ({runs['as published']['touching']:.0f})" for name, runs in scenes.items()])
        axes.invert_yaxis()
        axes.set_xlabel("frames per second")
        axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.3, 1.0), frameon=False)

    def both_settings(picture):
        for place, (moles, spring) in enumerate(SETTINGS):
            x = data["settings"]["rows"][moles, spring, "as published"]["positions"]
            shift = np.array([3.6 * RADIUS * place - x[:, 0].mean(), -x[:, 1].mean(), 0.0])
            picture.mesh(x + shift, data["settings"]["triangles"], BLUE)
            picture.label((3.6 * place, -2.2, -0.4), f"n = {moles:g}, k = {spring:g}", 0.3)
        picture.floor((-2.0, -1.6), (5.6, 1.6))

    def profiles(axes):
        for (name, run), mark, colour in zip(data["valence"].items(), "os", COLOURS, strict=False):
            order = np.lexsort((run["away"], run["polar"]))
            axes.plot(run["polar"][order], run["away"][order], mark + "-", color=colour, markersize=5, label=name)
        axes.set_xticks(range(0, 181, 30))
        axes.set(xlabel="angle from the upper pole [degrees]", ylabel="distance from the middle [m]")
        axes.legend(frameon=False)

    def bodies(found):
        def build(picture):
            for body, triangles in enumerate(found["bodies"]):
                colour = GREY if body >= found["skins"] else colours[body % len(colours)]
                picture.mesh(found["positions"], triangles, colour)
            picture.balls(found["particles"], 0.07 * RADIUS, (0.98, 0.98, 0.98))

        return build

    def shares(axes):
        wide = 0.8 / len(data["particles"])
        for k, (name, found) in enumerate(data["particles"].items()):
            places = np.arange(len(PER_PARTICLE)) + (k - 0.5 * (len(data["particles"]) - 1)) * wide
            told = f"{name} ({found['touching']:.0f})"
            axes.bar(places, [found["share"][per] or 0.0 for per in PER_PARTICLE], 0.9 * wide, label=told)
        axes.set_xticks(range(len(PER_PARTICLE)), [PLACES.get(per, f"1/{per}") for per in PER_PARTICLE])
        axes.grid(visible=False, axis="x")
        axes.set(xlabel="particles per vertex", ylabel="share of the touching vertices found")
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)

    def errors(energy, momentum):
        for axes, part, what in ((energy, 0, "energy"), (momentum, 1, "angular momentum")):
            for (name, found), colour in zip(data["tumble"].items(), COLOURS, strict=False):
                percent = np.maximum(100.0 * np.abs(found[part]), LEAST_ERROR)
                axes.semilogy(np.arange(len(percent)) / FRAME_RATE, percent, color=colour, label=name)
            axes.set(xlabel="time [s]", ylabel=f"error of the {what} [%]", ylim=(0.3 * LEAST_ERROR, 1e3))
        momentum.legend(loc="center", frameon=False)

    figures.curves("martin", rates)
    figures.bodies("martin_settings", both_settings, turn=(78.0, 0.0))
    figures.curves("martin_valence", profiles)
    for place, found in enumerate(data["gallery"].values(), 1):
        figures.bodies(f"martin_bodies_{place}", bodies(found), turn=(62.0, 25.0))
    figures.curves("martin_particles", shares)
    figures.curves("martin_tumble", errors, panels=2)
