"""Blender's Cloth with pressure holds the ball of `hold`, by the driver of the benchmarks. Needs `bpy`."""

import math
import time

import numpy as np
import shapes
from scenes import AMBIENT, BASKETBALL
from softpressure_ext.benchmarks.engines.blender import Cloth, mean_edge
from softpressure_ext.benchmarks.scenes import SOFT_FRAME, Scene

#: Steps per frame of sqrt(0.001) s: the default. Distances from the floor [m], the smaller ones that fit this ball.
QUALITY, DISTANCE = 5, 0.002


class HeldCloth(Cloth):
    """The basketball as Cloth, with our gas law: p = factor (uniform + V0 / V - 1) kPa."""

    def _make_soft(self, item):
        super()._make_soft(item)
        modifier = item.modifiers["Cloth"]
        settings = modifier.settings
        settings.quality = QUALITY
        settings.mass = BASKETBALL.mass / len(item.data.vertices)
        # of equal triangles k = sqrt(3) / 2 Y; a spring is as stiff as 1000 times the setting over its length
        stiffness = 0.5 * math.sqrt(3.0) * BASKETBALL.stretch_modulus / 1000.0 * mean_edge(item.data)
        for kind in ("tension", "compression", "shear"):
            setattr(settings, f"{kind}_stiffness_max", stiffness)
            setattr(settings, f"{kind}_stiffness", stiffness)
        settings.pressure_factor = (BASKETBALL.gauge_pressure + AMBIENT) / 1000.0
        settings.uniform_pressure_force = BASKETBALL.gauge_pressure / (BASKETBALL.gauge_pressure + AMBIENT)
        modifier.collision_settings.distance_min = DISTANCE


def held(subdivisions, seconds, gap):
    """Volume ratios by frame, seconds of work per 1/60 s by frame, and the lowest point at the end [m].

    The ball starts at its rest shape, `gap` [m] above the floor: Cloth takes what it starts with for its rest shape.
    """
    points, triangles = shapes.icosphere(subdivisions, BASKETBALL.radius)
    frames = max(2, round(seconds / SOFT_FRAME))
    scene = Scene("hold", len(points), frames, 0, 0, [(points + (0.0, 0.0, BASKETBALL.radius + gap), triangles)])
    cloth = HeldCloth(scene, 1)
    rest = _volume(points, triangles)
    volumes, times, x = [], [], points
    for _ in range(frames):
        began = time.perf_counter()
        cloth.advance()
        times.append((time.perf_counter() - began) / (60.0 * SOFT_FRAME))
        x = cloth.soft()[0]
        volumes.append(_volume(x, triangles) / rest)
    return volumes, times, float(x[:, 2].min())


def _volume(x, triangles):
    a, b, c = (x[triangles[:, corner]] - x.mean(axis=0) for corner in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)
