"""The XPBD page: a solid ball that is pressed, folded, mirrored or scrambled recovers its shape, or does not."""

from typing import NamedTuple

import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.bodies.lattice.cells import tetrahedron_volumes

from .figures import BLUE, COLOURS, ORANGE, label_lines, number, table
from .parts import put, recorded, world_of

DEPENDS = ("core/solvers/xpbd/*.py", "core/solvers/explicit/*.py", "core/bodies/lattice/*.py")
RADIUS, MASS, MODULUS, POISSON_RATIO, DAMPING = 0.5, 10.0, 2e4, 0.3, 10.0
FRAME_RATE, SUBSTEPS = 24.0, 20
#: Edges of the cells [m], the first one that of all starts; seeds of what is scrambled.
CELLS, SEEDS, SEED = (0.2, 0.15, 0.12), range(8), 5
#: Of a ball that has recovered: shape error over its radius.
RECOVERED = 1e-3


class Case(NamedTuple):
    """How stiff the ball is, and its solver."""

    solver: str
    rigid_springs: bool = False
    volume_compliance: float | None = None  # [m^3/Pa]; None: by modulus and Poisson's ratio


CASES = {
    "XPBD": Case("XPBD"), "XPBD, α = 0": Case("XPBD", rigid_springs=True, volume_compliance=0.0),
    "XPBD, springs alone α = 0": Case("XPBD", rigid_springs=True), "ours": Case("EXPLICIT"),
}  # fmt: skip
SOFT, RIGID = list(CASES)[:2]


def model(case=CASES[SOFT], cell=CELLS[0]):
    """The ball, subdivided so that its surface is rounder than its cells."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_solid(
        "ball", *shapes.icosphere(2, RADIUS), cell_size=cell, mass=MASS, modulus=MODULUS, poisson_ratio=POISSON_RATIO,
        damping=DAMPING, rigid_springs=case.rigid_springs, volume_compliance=case.volume_compliance,
    )  # fmt: skip
    return builder.build()


def pressed(x):
    """All points in the plane z = 0."""
    return x * (1.0, 1.0, 0.0)


def scrambled(x, seed=SEED):
    """Each point at a random spot of the box around all."""
    return np.random.default_rng(seed).uniform(x.min(axis=0), x.max(axis=0), x.shape)


def folded(x):
    """The upper half mirrored through the lower one."""
    middle = 0.5 * (x[:, 2].min() + x[:, 2].max())
    return np.column_stack([x[:, :2], np.where(x[:, 2] > middle, 2.0 * middle - x[:, 2], x[:, 2])])


def mirrored(x):
    """The mirror image: each spring has its length, each tetrahedron is inverted."""
    return x * (1.0, 1.0, -1.0)


STARTS = {"pressed": pressed, "folded": folded, "mirrored": mirrored, "scrambled": scrambled}


def shape_error(x, rest, mass):
    """Root mean square of how far the points are from the rest shape, moved and turned as fits best [m] (Kabsch)."""
    x, rest = x - mass @ x / mass.sum(), rest - mass @ rest / mass.sum()
    u, _, v = np.linalg.svd((mass[:, None] * rest).T @ x)
    u[:, -1] *= np.sign(np.linalg.det(u @ v))  # a turn, no mirror
    away = x - rest @ (u @ v)
    return float(np.sqrt(mass @ (away**2).sum(axis=1) / mass.sum()))


def release(case, start, frames, cell=CELLS[0]):
    """Shape error over the radius, inverted tetrahedra and positions by frame, from `start(rest)` on."""
    scene = model(case, cell)
    n, rest = scene.vertex_count, scene.rest_positions[: scene.vertex_count]
    world = put(world_of(scene, case.solver, SUBSTEPS, FRAME_RATE), start(rest))
    row = {"shape": [], "inverted": [], "positions": []}

    def note():
        x = world.save().positions[:n]
        row["shape"].append(shape_error(x, rest, scene.vertex_mass) / RADIUS)
        row["inverted"].append(int(np.count_nonzero(tetrahedron_volumes(x, scene.tetrahedra.points) <= 0.0)))
        row["positions"].append(x.copy())

    return recorded(world, frames, row, note)


def scramble(case, cell, seeds, frames):
    """Of scrambled balls by seed: shape error and share of inverted tetrahedra at the end."""
    count = len(model(case, cell).tetrahedra.points)
    runs = [release(case, lambda x, seed=seed: scrambled(x, seed), frames, cell) for seed in seeds]
    return {"shape": [run["shape"][-1] for run in runs], "inverted": [run["inverted"][-1] / count for run in runs]}


def run(quick=False):
    """Runs by start and case, and scrambled ones by case and cell."""
    frames, scene = 24 if quick else 48, model()
    cells, seeds = (CELLS[:1], SEEDS[:2]) if quick else (CELLS, SEEDS)
    return {
        "frames": frames, "vertices": scene.vertex_count, "tetrahedra": len(scene.tetrahedra.points),
        "triangles": scene.surfaces.triangles, "rest": scene.rest_positions,
        "runs": {
            (name, told): release(case, start, frames) for name, start in STARTS.items() for told, case in CASES.items()
        },
        "scrambled": {
            (told, cell): scramble(CASES[told], cell, seeds, frames) for told in (SOFT, RIGID) for cell in cells
        },
    }  # fmt: skip


def values(data):
    """What stands in the text."""

    def told(run):
        return "diverged" if "error" in run else f"{number(run['shape'][-1], 2)}, {run['inverted'][-1]}"

    def recovered(found):
        return f"{sum(error < RECOVERED for error in found['shape'])} of {len(found['shape'])}"

    rows = []
    for start in STARTS:
        runs = [data["runs"][start, case] for case in CASES]
        rows.append([f"{start} ({runs[0]['inverted'][0]} inverted)", *(told(run) for run in runs)])
    cells = sorted({cell for _, cell in data["scrambled"]}, reverse=True)
    spread = []
    for case in (SOFT, RIGID):
        found = [data["scrambled"][case, cell] for cell in cells]
        spread.append([case, *(f"{recovered(each)}, {100.0 * max(each['inverted']):.0f} %" for each in found)])
    seconds = number(data["frames"] / FRAME_RATE)
    rigid = {cell: data["scrambled"][RIGID, cell] for cell in cells}
    soft = sum(error < RECOVERED for cell in cells for error in data["scrambled"][SOFT, cell]["shape"])
    return {
        "vertices": str(data["vertices"]), "tetrahedra": str(data["tetrahedra"]),
        "seconds": seconds,
        "starts": table([f"start: shape error and inverted after {seconds} s", *CASES], rows),
        "cells": table(["recovered, and most inverted", *(f"cells of {cell:g} m" for cell in cells)], spread),
        "coarse": recovered(rigid[cells[0]]), "middle": recovered(rigid[cells[len(cells) // 2]]),
        "fine": recovered(rigid[cells[-1]]),
        "inverted": f"{100.0 * np.mean(rigid[cells[-1]]['inverted']):.0f}",
        "soft": f"{soft} of {len(cells) * len(rigid[cells[0]]['shape'])}",
    }  # fmt: skip


def draw(figures, data):
    """All figures."""
    last = data["frames"]
    frames = (0, 1, 2, min(6, last), last)

    def errors(*panels):
        for axes, case in zip(panels, (SOFT, RIGID), strict=True):
            for start, colour in zip(STARTS, COLOURS, strict=False):
                shape = data["runs"][start, case]["shape"]
                axes.semilogy(np.arange(len(shape)) / FRAME_RATE, shape, label=start, color=colour)
            axes.set_title(case, fontsize=10)
            axes.set(xlabel="time [s]", ylabel="shape error / radius", ylim=(1e-17, 10.0))
        label_lines(*panels)

    def balls(picture):
        for row, (start, colour) in enumerate((("pressed", BLUE), ("scrambled", ORANGE))):
            found = data["runs"][start, SOFT]["positions"]
            picture.label((-1.3 * RADIUS, 0.0, -3.2 * RADIUS * row), start, 0.35 * RADIUS, "RIGHT")
            for place, x in enumerate([data["rest"], *(found[k] for k in frames)]):
                shift = np.array([2.6 * RADIUS * place, 0.0, -3.2 * RADIUS * row])
                picture.mesh(x[: data["vertices"]] + shift, data["triangles"], colour)
                told = "before" if place == 0 else f"{frames[place - 1] / FRAME_RATE:.2f} s"
                picture.label(shift - (0.0, 0.0, 1.6 * RADIUS), told, 0.3 * RADIUS)

    figures.curves("flattened", errors, panels=2)
    figures.bodies("flattened_ball", balls, turn=(80.0, 0.0))
