"""The scenes that the table of AUTO is fitted to: what bodies do in two simulated seconds, in many kinds and sizes."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from softpressure_ext.core import Model, ModelBuilder

sys.path.append(str(Path(__file__).resolve().parent))

import pile
import scenes
import shapes

#: Settings that Blender's users begin with, and those of a basketball.
DEFAULT = {"mass": 1.0, "gauge_pressure": 2e3, "stretch_modulus": 2e4, "bend_modulus": 0.01}
HARD = {"mass": 0.6, "gauge_pressure": 55e3, "stretch_modulus": 1e5}


class Timed(NamedTuple):
    """A scene, and how it is measured."""

    name: str
    solver: str  # a key of `automatic.METHOD_OF`
    make: Callable[[], Model]
    seconds: float = 1.5


def bench(name: str, size: int) -> Callable[[], Model]:
    """A scene of the benchmarks."""

    def make() -> Model:
        scene = scenes.make(name, size)
        builder = ModelBuilder(ambient_pressure=0.0)
        for number, mesh in enumerate(scene.soft):
            builder.add_membrane(
                f"soft {number}", *mesh, spring_constant=scenes.SPRING, point_mass=scenes.BODY_MASS / len(mesh[0]),
                gauge_pressure=scenes.PRESSURE, damping=5.0, self_collision=True, friction=scene.friction,
            )  # fmt: skip
        for number, box in enumerate(scene.rigid):
            corners, squares = box.mesh()
            builder.add_rigid(
                f"box {number}", corners + box.centre, shapes.split_quads(np.array(squares)), mass=box.mass
            )
        for number, box in enumerate(scene.colliders):
            corners, squares = box.mesh()
            builder.add_collider(f"wall {number}", corners + box.centre, shapes.split_quads(np.array(squares)))
        return builder.build()

    return make


def balls(
    *places: tuple[float, float, float], level: int = 3, radius: float = 0.2, floor: bool = True, **settings: Any
) -> Callable[[], Model]:
    """Balls of skin at some places."""

    def make() -> Model:
        builder = ModelBuilder()
        for number, place in enumerate(places):
            builder.add_membrane(f"ball {number}", *shapes.icosphere(level, radius, place), **(DEFAULT | settings))
        if floor:
            builder.add_collider("floor", *shapes.grid(20.0, 8))
        return builder.build()

    return make


def blocks(*places: tuple[float, float, float], size: float = 0.4, **settings: Any) -> Callable[[], Model]:
    """Cubes of jelly or trusses at some places."""

    def make() -> Model:
        builder = ModelBuilder()
        for number, place in enumerate(places):
            builder.add_solid(
                f"block {number}", *shapes.box(size, 1, place), **({"mass": 1.0, "modulus": 2e4} | settings)
            )
        builder.add_collider("floor", *shapes.grid(20.0, 8))
        return builder.build()

    return make


def rigid(count: int, round_ones: bool = False) -> Callable[[], Model]:
    """Boxes or balls in a row of stacks of three."""

    def make() -> Model:
        builder = ModelBuilder()
        for number in range(count):
            place = (0.3 * (number // 3), 0.0, 0.12 + 0.23 * (number % 3))
            mesh = shapes.icosphere(2, 0.1, place) if round_ones else shapes.box(0.2, 1, place)
            builder.add_rigid(f"rigid {number}", *mesh, mass=1.0)
        builder.add_collider("floor", *shapes.grid(20.0, 8))
        return builder.build()

    return make


def mesh(name: str, size: float = 0.5) -> Callable[[], Model]:
    """A closed mesh of the tests' own that falls on a floor and has contact with itself."""

    def make() -> Model:
        found = {
            "torus": lambda: shapes.torus(0.35, 0.15, 48, 24),
            "beast": lambda: shapes.beast(0.06),
            "crossed": lambda: shapes.tube(0.3, 0.06, 2, 0.1),
        }[name]()
        x, triangles = pile.fitted(found, size)
        builder = ModelBuilder()
        builder.add_membrane("skin", x - [0.0, 0.0, x[:, 2].min() - 0.1], triangles, self_collision=True, **DEFAULT)
        builder.add_collider("floor", *shapes.grid(20.0, 8))
        return builder.build()

    return make


ONE, APART = (0.0, 0.0, 0.3), tuple((0.9 * k, 0.0, 0.3) for k in range(4))
HEAP = tuple((0.03 * k, 0.02 * k, 0.25 + 0.43 * k) for k in range(4))
SCENES = (
    Timed("flight 642", "EXPLICIT", balls(ONE, floor=False)),
    Timed("flight 2562", "EXPLICIT", balls(ONE, level=4, floor=False), 1.0),
    Timed("ball 162", "EXPLICIT", balls(ONE, level=2)),
    Timed("ball 642", "EXPLICIT", balls(ONE)),
    Timed("ball 2562", "EXPLICIT", balls(ONE, level=4), 1.0),
    Timed("ball 10242", "EXPLICIT", balls(ONE, level=5, bend_modulus=0.0), 0.5),
    Timed("ball 642, itself", "EXPLICIT", balls(ONE, self_collision=True)),
    Timed("ball 2562, itself", "EXPLICIT", balls(ONE, level=4, self_collision=True), 1.0),
    Timed("hard ball 642", "EXPLICIT", balls(ONE, radius=0.12, **HARD)),
    Timed("resting ball 642", "EXPLICIT", balls((0.0, 0.0, 0.205))),
    Timed("4 balls apart", "EXPLICIT", balls(*APART)),
    Timed("4 balls apart, themselves", "EXPLICIT", balls(*APART, self_collision=True)),
    Timed("4 balls in a heap", "EXPLICIT", balls(*HEAP)),
    Timed("4 balls in a heap, themselves", "EXPLICIT", balls(*HEAP, self_collision=True)),
    Timed("drop 642", "EXPLICIT", bench("drop", 642)),
    Timed("drop 2562", "EXPLICIT", bench("drop", 2562)),
    Timed("pair 642", "EXPLICIT", bench("pair", 642)),
    Timed("pair 2562", "EXPLICIT", bench("pair", 2562), 1.0),
    Timed("box8 162", "EXPLICIT", bench("box8", 162)),
    Timed("box8 642", "EXPLICIT", bench("box8", 642)),
    Timed("pile 642", "EXPLICIT", lambda: pile.balls(642)),
    Timed("crate 642", "EXPLICIT", bench("crate", 642)),
    Timed("crate 2562", "EXPLICIT", bench("crate", 2562)),
    Timed("torus 512", "EXPLICIT", bench("torus", 512)),
    Timed("torus 2048", "EXPLICIT", bench("torus", 2048), 1.0),
    Timed("torus lies", "EXPLICIT", mesh("torus")),
    Timed("beast", "EXPLICIT", mesh("beast")),
    Timed("crossed coil", "EXPLICIT", mesh("crossed"), 0.7),
    Timed("jelly 4", "EXPLICIT", blocks(ONE, cell_size=0.1)),
    Timed("jelly 8", "EXPLICIT", blocks(ONE, cell_size=0.05)),
    Timed("jelly 8, 0.45", "EXPLICIT", blocks(ONE, cell_size=0.05, poisson_ratio=0.45)),
    Timed("truss 8", "EXPLICIT", blocks(ONE, cell_size=0.05, kind="TRUSS")),
    Timed("3 jellies", "EXPLICIT", blocks(*((0.05 * k, 0.0, 0.25 + 0.45 * k) for k in range(3)), cell_size=0.1)),
    Timed("drop 642", "IMPLICIT", bench("drop", 642)),
    Timed("drop 2562", "IMPLICIT", bench("drop", 2562), 1.0),
    Timed("ball 642", "IMPLICIT", balls(ONE)),
    Timed("light ball 2562", "IMPLICIT", balls(ONE, level=4, mass=0.05, stretch_modulus=1e5), 0.7),
    Timed("hard ball 642", "IMPLICIT", balls(ONE, radius=0.12, **HARD)),
    Timed("hard ball 2562", "IMPLICIT", balls(ONE, level=4, radius=0.12, **HARD), 0.7),
    Timed("ball 642, itself", "IMPLICIT", balls(ONE, self_collision=True)),
    Timed("4 balls apart", "IMPLICIT", balls(*APART, level=2)),
    Timed("4 balls in a heap", "IMPLICIT", balls(*HEAP, level=2)),
    Timed("pair 642", "IMPLICIT", bench("pair", 642)),
    Timed("crate 642", "IMPLICIT", bench("crate", 642)),
    Timed("torus 512", "IMPLICIT", bench("torus", 512)),
    Timed("crossed coil", "IMPLICIT", mesh("crossed"), 0.7),
    Timed("rigid balls 3", "IMPLICIT", rigid(3, round_ones=True)),
    Timed("rigid balls 9", "IMPLICIT", rigid(9, round_ones=True)),
    Timed("boxes 3", "RIGID", rigid(3)),
    Timed("boxes 30", "RIGID", rigid(30)),
    Timed("stack 27", "RIGID", bench("stack", 27)),
    Timed("stack 125", "RIGID", bench("stack", 125)),
    Timed("stack 343", "RIGID", bench("stack", 343)),
)
