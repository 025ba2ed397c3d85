"""Martin 2009, sections 6.3 and 6.4: his benchmark scenes with his meshes, and his two settings of gas and springs.

The paper gives moles, spring constants, meshes and damping. It gives no size, mass or temperature. Here: a sphere of
radius 1 m, 0.1 kg per point, R in SI units and T = 1 K, nothing outside. He looks for contacts with particles: that is
run beside the surface contact of the core, and what share of the touching vertices the particles find is counted.
"""

import math

import numpy as np
import shapes
from contact_reference import closest_on_triangle
from scenes import GRAVITY
from softpressure_ext.core import DivergenceError, MethodOptions, ModelBuilder, World
from softpressure_ext.core.model import GAS_CONSTANT
from softpressure_ext.core.papers.particles.search import SKIN, ParticleSearch

from .mesit import at_rest_volume
from .parts import (
    FRAME_RATE,
    equal_parts,
    fewest_substeps,
    frame_times,
    median_ms,
    shape_of,
    survives,
    tray,
    uv_sphere,
)

RADIUS, POINT_MASS = 1.0, 0.1
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
SUBSTEPS = {"XPBD": 10, "IMPLICIT": 4}
#: The run with his integrator and his particles.
PARTICLES = "RK4_MARTIN, particles"
#: Walls stand so close that the spheres, once inflated, press on each other.
CLOSE, APART = 2.05 * RADIUS, 4.0 * RADIUS


def damping_rate(spring):
    """Rate [1/s] of his damping, rho = rho_g + (1 - rho_g) k / k_max per step at 60 Hz (section 3.1.3)."""
    rho = GLOBAL_DAMPING + (1.0 - GLOBAL_DAMPING) * spring / STIFFEST
    return -60.0 * math.log(1.0 - rho)


class Scene:
    """Collects his bodies."""

    def __init__(self, moles=SETTINGS[0][0], spring=SETTINGS[0][1]):
        self._builder = ModelBuilder(ambient_pressure=0.0)
        self._moles, self._spring = moles, spring

    def skin(self, name, points, triangles, place):
        pressure = GAS_CONSTANT * at_rest_volume(points, triangles, self._moles)
        self._builder.add_membrane(
            name, points + place, triangles, mass=POINT_MASS * len(points), gauge_pressure=pressure,
            damping=damping_rate(self._spring), bounciness=0.5,
        )  # fmt: skip

    def sphere(self, x=0.0, z=1.1 * RADIUS):
        self.skin(f"sphere {x:g}", *uv_sphere(8, 8, RADIUS), (x, 0.0, z))

    def torus(self):
        self.skin("torus", *shapes.torus(MAJOR, MINOR, 16, 16), (0.0, 0.0, 1.1 * MINOR))

    def cubes(self):
        for x in (-0.53, 0.53):
            for y in (-0.53, 0.53):
                place = (x * CUBE, y * CUBE, 0.55 * CUBE)
                self._builder.add_rigid(f"cube {x} {y}", *shapes.box(CUBE, 1, place), mass=CUBE_MASS)

    def row(self, count, pitch):
        for number in range(count):
            self.sphere((number - 0.5 * (count - 1)) * pitch)

    def model(self, *walls):
        if walls:
            self._builder.add_collider("tray", *tray(*walls), bounciness=0.5)
        else:
            self._builder.add_collider("floor", *shapes.grid(40.0 * RADIUS), bounciness=0.5)
        return equal_parts(self._builder.build(), self._spring, POINT_MASS)


def benchmark(name):
    """The model of a scene of section 6.3."""
    scene = Scene()
    count = {"two": 2, "three": 3}.get(name.split()[0], 1)
    if "torus" in name:
        scene.torus()
        if "cubes" in name:
            scene.cubes()
        if "sphere" in name:
            scene.sphere()
        return scene.model()
    close = "contact" in name
    scene.row(count, CLOSE if close else APART)
    return scene.model(count * CLOSE, CLOSE, 4.0 * RADIUS) if close else scene.model()


def his_substeps(model):
    """Substeps per frame that RK4_MARTIN needs on a scene; he takes one."""
    slack = float(model.vertex_mass.sum()) * GRAVITY * RADIUS
    return fewest_substeps(
        lambda substeps: survives(
            World(model, frame_rate=FRAME_RATE, substeps=substeps, solver="RK4_MARTIN", threads=1), 30, slack
        )
    )


def touching_vertices(model, x):
    """Vertices of skins that are nearer to another skin than its thickness, by brute force."""
    search, surfaces, found = ParticleSearch(model), model.surfaces, set()
    for other in range(model.membrane_count):
        own = slice(surfaces.body_triangle_start[other], surfaces.body_triangle_start[other + 1])
        corners = np.moveaxis(x[surfaces.triangles[own]], 1, 0)
        for one in range(model.membrane_count):
            if one == other:
                continue
            skin = 0.5 * SKIN * (search.radius[one] + search.radius[other])
            for p in range(model.body_point_start[one], model.body_point_start[one + 1]):
                here = np.broadcast_to(x[p], corners[0].shape)
                if np.linalg.norm(here - closest_on_triangle(here, *corners), axis=1).min() < skin:
                    found.add(p)
    return found


def found_vertices(model, state):
    """Vertices of the features that collide where a state has the particles."""
    search = ParticleSearch(model)
    search.features[:] = state.particles
    count = search.find(state.positions, state.rigid.pose)
    return set(search.hits.points[:count][search.hits.weights[:count] != 0.0].tolist())


def share_found(model, substeps, frames):
    """Touching vertices per frame in a run with particles, and the share of them that the particles find."""
    options = MethodOptions(detection="FEATURE_PARTICLES")
    world = World(model, frame_rate=FRAME_RATE, substeps=substeps, solver="RK4_MARTIN", threads=1, options=options)
    touching = found = 0
    try:
        for frame in range(frames):
            world.advance_frame()
            if frame >= frames // 2:
                state = world.save()
                there = touching_vertices(model, state.positions)
                touching += len(there)
                found += len(there & found_vertices(model, state))
    except DivergenceError as error:
        return {"error": str(error)}
    return {"touching": touching / (frames - frames // 2), "share": found / touching if touching else None}


def benchmarks(quick=False):
    """Frames of 1/60 s per second by scene and method, with the mean number of contacts."""
    names = ("sphere", "sphere in torus") if quick else tuple(HIS)
    before, frames = (10, 5) if quick else (30, 30)
    found = {}
    for name in names:
        model = benchmark(name)
        runs = {}
        fewest = his_substeps(model)
        for method, substeps in {"RK4_MARTIN": fewest, PARTICLES: fewest, **SUBSTEPS}.items():
            row = {"substeps": substeps}
            options = MethodOptions(detection="FEATURE_PARTICLES" if method == PARTICLES else "SURFACE")
            try:
                world = World(
                    model, frame_rate=FRAME_RATE, substeps=substeps, solver=method.partition(",")[0], threads=1,
                    options=options,
                )  # fmt: skip
                frame_times(world, before)
                row["frames_per_second"] = 1e3 / median_ms(frame_times(world, frames))
                row["contacts"] = world.diagnostics().contact_count
                row["volume_ratio"] = world.diagnostics().bodies[0].volume_ratio
            except DivergenceError as error:
                row["error"] = str(error)
            runs[method] = row
        found[name] = {"his": HIS[name], "points": model.vertex_count, "runs": runs}
        if model.membrane_count > 1:
            found[name]["particles"] = share_found(model, fewest, before + frames)
    return found


def settings(quick=False):
    """Section 6.4: a sphere on a floor at both settings."""
    frames = 30 if quick else 180
    found = {}
    for moles, spring in SETTINGS:
        scene = Scene(moles, spring)
        scene.sphere()
        model = scene.model()
        for method in ("RK4_MARTIN", "IMPLICIT"):
            substeps = his_substeps(model) if method == "RK4_MARTIN" else SUBSTEPS[method]
            row = {"substeps": substeps}
            try:
                world = World(model, frame_rate=FRAME_RATE, substeps=substeps, solver=method, threads=1)
                for _ in range(frames):
                    world.advance_frame()
                body = world.diagnostics().bodies[0]
                row |= {"volume_ratio": body.volume_ratio, "pressure": body.gauge_pressure, "shape": shape_of(world)}
            except DivergenceError as error:
                row["error"] = str(error)
            found[moles, spring, method] = row
    return {"seconds": frames / FRAME_RATE, "rows": found}


def run(quick=False):
    """Both sections."""
    return {"benchmarks": benchmarks(quick), "settings": settings(quick), "radius": RADIUS, "point_mass": POINT_MASS}
