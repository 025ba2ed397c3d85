"""Martin 2009 as published: his damping, pressure scaling, particles and integrator, on a ground plane.

The text gives moles, spring constants, meshes and damping. It gives no size, mass or temperature. Here: a sphere of
radius 1 m, 0.1 kg per point, R in SI units and T = 1 K, nothing outside. All that he describes is on together:
RK4 of 3.2, damping of 3.1.3, valence scaling of 3.1.2, contacts among bodies by the particles of 5.2.
"""

from dataclasses import replace

import numpy as np
import shapes
from contact_reference import closest_on_triangle
from softpressure_ext.core import DivergenceError, MethodOptions, ModelBuilder, World
from softpressure_ext.core.model import GAS_CONSTANT
from softpressure_ext.core.papers.particles.search import ParticleSearch

from .mesit import at_rest_volume
from .parts import FRAME_RATE, frame_times, median_ms, shape_of, uv_sphere

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
#: All on together, as he has it: one substep per frame.
PUBLISHED = MethodOptions(
    step_damping=True, stiffest_spring=STIFFEST, spread="VALENCE", detection="FEATURE_PARTICLES"
)  # fmt: skip
#: Others have his damping, and contacts between surfaces; our engine has the damping of the bodies in its place [1/s].
OURS = MethodOptions(step_damping=True, stiffest_spring=STIFFEST)
CALMING = 5.0
RUNS = {
    "as published": ("RK4_MARTIN", 1, PUBLISHED), "surface contact": ("RK4_MARTIN", 1, OURS),
    "XPBD": ("XPBD", 10, OURS),
}  # fmt: skip
#: Distance of the middles of spheres [m]: inflated by 100 mol to a radius of 1.35 m, the near ones press on each other.
CLOSE, APART = 2.45 * RADIUS, 5.0 * RADIUS
#: Vertices per particle; he takes 8.
PER_PARTICLE = (32, 16, 8, 4, 2, 1)


def loss_per_step(spring):
    """rho, the share of its velocity that a vertex loses in a step (3.1.3)."""
    return GLOBAL_DAMPING + (1.0 - GLOBAL_DAMPING) * spring / STIFFEST


def animal():
    """A closed animal, 1 m long: a ball that is drawn out to a head, two ears, four legs and a tail."""
    x, triangles = shapes.icosphere(2, 1.0)
    parts = [((0.9, 0.0, 0.45), 0.55, 14.0), ((-0.95, 0.0, 0.35), 0.75, 45.0)]
    parts += [((0.75, side * 0.28, 0.75), 0.3, 90.0) for side in (-1, 1)]
    parts += [((along * 0.5, side * 0.4, -0.8), 0.75, 35.0) for along in (-1, 1) for side in (-1, 1)]
    reach = np.ones(len(x))
    for direction, length, sharpness in parts:
        towards = np.array(direction) / np.linalg.norm(direction)
        reach += length * np.exp(sharpness * (x @ towards - 1.0))
    return RADIUS * x * reach[:, None] * (1.0, 0.7, 0.8), triangles


class Scene:
    """Collects his bodies on a ground plane."""

    def __init__(self, moles=SETTINGS[0][0], spring=SETTINGS[0][1]):
        self._builder = ModelBuilder(ambient_pressure=0.0)
        self._moles, self._spring = moles, spring

    def skin(self, name, points, triangles, place):
        pressure = GAS_CONSTANT * at_rest_volume(points, triangles, self._moles)
        self._builder.add_membrane(
            name, points + place, triangles, point_mass=POINT_MASS, spring_constant=self._spring,
            gauge_pressure=pressure, damping=0.0, bounciness=BOUNCINESS,
        )  # fmt: skip

    def sphere(self, x=0.0, z=1.1 * RADIUS, y=0.0):
        self.skin(f"sphere {x:g} {y:g} {z:g}", *uv_sphere(8, 8, RADIUS), (x, y, z))

    def torus(self):
        self.skin("torus", *shapes.torus(MAJOR, MINOR, 16, 16), (0.0, 0.0, 1.1 * MINOR))

    def cubes(self, z=0.55 * CUBE):
        for x in (-0.53, 0.53):
            for y in (-0.53, 0.53):
                self._builder.add_rigid(f"cube {x} {y}", *shapes.box(CUBE, 1, (x * CUBE, y * CUBE, z)), mass=CUBE_MASS)

    def row(self, count, pitch):
        for number in range(count):
            self.sphere((number - 0.5 * (count - 1)) * pitch)

    def model(self):
        self._builder.add_collider("ground", *shapes.grid(80.0 * RADIUS), bounciness=BOUNCINESS)
        return self._builder.build()


def benchmark(name):
    """The model of a scene of section 6.3."""
    scene = Scene()
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


def gallery_model(name):
    """The model of a picture of section 6.5."""
    scene = Scene() if "animal" not in name else Scene(30.0)
    if name == "two spheres":
        scene.row(2, CLOSE)
    elif "animal" in name:
        scene.skin("animal", *animal(), (0.0, 0.0, 1.5))
        scene.sphere(2.3, 1.1)
    else:
        scene.torus()
        if "cubes" in name:
            scene.cubes(2.0)
        for angle in np.radians((90.0, 210.0, 330.0)):
            scene.sphere(1.6 * float(np.cos(angle)), 2.6, 1.6 * float(np.sin(angle)))
    return scene.model()


#: Frames after which they are drawn: damped as they are, bodies fall at no more than some decimetres per second.
GALLERY = {
    "two spheres": 30, "three spheres and a torus": 240, "three spheres, a torus and four cubes": 240,
    "an animal and a sphere": 60,
}  # fmt: skip


def world_of(model, run="as published"):
    solver, substeps, options = RUNS[run]
    return World(model, frame_rate=FRAME_RATE, substeps=substeps, solver=solver, threads=1, options=options)


def touching_vertices(model, x):
    """Vertices of skins nearer to another moving body than the skin's thickness, by brute force."""
    search, surfaces, found = ParticleSearch(model), model.surfaces, set()
    for other in range(model.moving_count):
        own = slice(surfaces.body_triangle_start[other], surfaces.body_triangle_start[other + 1])
        corners = np.moveaxis(x[surfaces.triangles[own]], 1, 0)
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        for one in range(model.membrane_count):
            if one == other:
                continue
            skin = 0.5 * search.skin * (search.radius[one] + search.radius[other])
            first, last = model.body_point_start[one], model.body_point_start[one + 1]
            near = ((x[first:last] > low - skin) & (x[first:last] < high + skin)).all(axis=1)
            for p in first + np.flatnonzero(near):
                here = np.broadcast_to(x[p], corners[0].shape)
                if np.linalg.norm(here - closest_on_triangle(here, *corners), axis=1).min() < skin:
                    found.add(int(p))
    return found


def share_found(model, frames):
    """Of the vertices that touch another skin where a step would end, the share that particles find, by their number.

    Both look at the positions before the response, in each step of the second half of a run as published; particles of
    other numbers migrate beside those that act.
    """
    world = world_of(model)
    searches = {per: ParticleSearch(model, replace(PUBLISHED, particles_per_vertex=1.0 / per)) for per in PER_PARTICLE}
    touching, found, looks = 0, dict.fromkeys(PER_PARTICLE, 0), []
    acting = world._solver._particles._search
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
        "particles": {per: len(search.features) for per, search in searches.items()},
        "share": {per: count / touching if touching else None for per, count in found.items()},
    }


def settings(quick=False):
    """Section 6.4: a sphere on the ground at both settings."""
    frames, found = 30 if quick else 180, {}
    for moles, spring in SETTINGS:
        scene = Scene(moles, spring)
        scene.sphere()
        model = scene.model()
        calm = replace(model, damping=np.full_like(model.damping, CALMING))
        for run_name in ("as published", "ours"):
            world = world_of(model) if run_name in RUNS else World(calm, frame_rate=FRAME_RATE, threads=1)
            for _ in range(frames):
                world.advance_frame()
            body = world.diagnostics().bodies[0]
            found[moles, spring, run_name] = {
                "volume_ratio": body.volume_ratio, "pressure": body.gauge_pressure, "shape": shape_of(world),
                "positions": world.save().positions[: model.vertex_count],
            }  # fmt: skip
    own = slice(model.surfaces.body_triangle_start[0], model.surfaces.body_triangle_start[1])
    return {"seconds": frames / FRAME_RATE, "rows": found, "triangles": model.surfaces.triangles[own]}


def gallery(quick=False):
    """Section 6.5: bodies and particles of each picture, after they have met."""
    found = {}
    for name, frames in list(GALLERY.items())[: 1 if quick else None]:
        model = gallery_model(name)
        world = world_of(model)
        try:
            for _ in range(frames):
                world.advance_frame()
        except DivergenceError as error:
            found[name] = {"error": str(error)}
            continue
        state = world.save()
        x = state.positions
        start, triangles = model.surfaces.body_triangle_start, model.surfaces.triangles
        graph = ParticleSearch(model)._graph
        places = [
            x[graph.corners[f, : graph.order[f]]].mean(axis=0) for f in np.unique(state.particles)
        ]  # fmt: skip
        found[name] = {
            "positions": x[: model.moving_point_count],
            "bodies": [triangles[start[b] : start[b + 1]] for b in range(model.moving_count)],
            "skins": model.membrane_count,
            "particles": np.array(places).reshape(-1, 3),
            "seconds": frames / FRAME_RATE,
            "touching": len(touching_vertices(model, x)),
        }
    return found


def tumble(step, time, euler_cromer):
    """Relative errors of energy and angular momentum of a box that tumbles freely: Euler-Cromer (4.1), or ours.

    The box has sides of 3, 2 and 1; it turns about its middle axis, nearly, which is unstable. Euler-Cromer: omega
    += I⁻¹ (−omega x I omega) h in the body, then the orientation turns by |omega| h.
    """
    sides = np.array([3.0, 2.0, 1.0])
    inertia = (sides @ sides - sides**2) / 12.0
    omega = np.array([0.1, 2.0 * np.pi, 0.1])
    steps = round(time / step)
    energy, momentum = np.zeros((2, steps + 1))
    if euler_cromer:
        turn, start = np.eye(3), inertia * omega
        size = np.linalg.norm(start)
        for k in range(1, steps + 1):
            omega = omega - step * np.cross(omega, inertia * omega) / inertia
            turn = turn @ shapes.rotation(omega, step * np.linalg.norm(omega))
            energy[k] = omega @ (inertia * omega) / (start @ (start / inertia)) - 1.0
            momentum[k] = np.linalg.norm(turn @ (inertia * omega) - start) / size
        return energy, momentum
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_rigid(
        "box", shapes.box(1.0, 1)[0] * sides, shapes.box(1.0, 1)[1], mass=1.0, angular_velocity=omega
    )  # fmt: skip
    world = World(builder.build(), frame_rate=1.0 / step, substeps=1, solver="RK4_MARTIN", threads=1)
    first = None
    for k in range(steps + 1):
        state = world.save()
        spin, own = world.rigid_velocity(0)[1], state.rigid.angular_momentum[0]
        first = (spin @ own, own.copy()) if first is None else first
        energy[k] = spin @ own / first[0] - 1.0
        momentum[k] = np.linalg.norm(own - first[1]) / np.linalg.norm(first[1])
        if k < steps:
            world.advance_frame()
    return energy, momentum


def run(quick=False):
    """Sections 6.4, 6.5, 5.2 and 4.1."""
    names = ("two spheres in contact", "three spheres in contact", "sphere in torus")
    names = names[-1:] if quick else names
    time = 2.0 if quick else 10.0
    return {
        "settings": settings(quick),
        "gallery": gallery(quick),
        "particles": {name: share_found(benchmark(name), 20 if quick else 60) for name in names},
        "tumble": {name: tumble(1.0 / FRAME_RATE, time, name == "Euler-Cromer") for name in ("Euler-Cromer", "ours")},
    }


def clock(quick=False):
    """Section 6.3: frames of 1/60 s per second by scene and run, and vertices that touch another body."""
    names = ("sphere", "two spheres in contact") if quick else tuple(HIS)
    before, frames = (20, 5) if quick else (40, 20)
    found = {}
    for name in names:
        model, runs = benchmark(name), {}
        for run_name, (_, substeps, _) in RUNS.items():
            row = {"substeps": substeps}
            try:
                world = world_of(model, run_name)
                frame_times(world, before)
                times, touching = [], 0
                for _ in range(frames):
                    times += frame_times(world, 1)
                    touching += len(touching_vertices(model, world.save().positions))
                row |= {"frames_per_second": 1e3 / median_ms(times), "touching": touching / frames}
            except DivergenceError as error:
                row["error"] = str(error)
            runs[run_name] = row
        found[name] = {"his": HIS[name], "points": model.vertex_count, "runs": runs}
    return {"benchmarks": found}
