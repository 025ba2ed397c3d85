"""Meshes for the tests: positions [m], shape (vertex_count, 3), and triangles, counter-clockwise from outside."""

import os
from pathlib import Path

import numpy as np
import pytest


def icosphere(subdivisions, radius=1.0, centre=(0.0, 0.0, 0.0)):
    """Sphere of 10 * 4^subdivisions + 2 vertices, all on the sphere."""
    golden = (1 + 5**0.5) / 2
    corners = [(0.0, s, t * golden) for s in (-1, 1) for t in (-1, 1)]
    points = np.array([np.roll(corner, turn) for turn in range(3) for corner in corners])
    # the faces of an icosahedron are its triples of corners at mutual distance 2
    near = np.abs(np.linalg.norm(points[:, None] - points, axis=2) - 2.0) < 1e-9
    faces = []
    for i in range(12):
        for j in range(i + 1, 12):
            for k in range(j + 1, 12):
                if near[i, j] and near[j, k] and near[k, i]:
                    outward = np.linalg.det(points[[i, j, k]]) > 0
                    faces.append((i, j, k) if outward else (i, k, j))
    points = list(points / np.linalg.norm(points[0]))
    for _ in range(subdivisions):
        middles, finer = {}, []
        for a, b, c in faces:
            halves = []
            for pair in ((a, b), (b, c), (c, a)):
                key = tuple(sorted(pair))
                if key not in middles:
                    middle = points[pair[0]] + points[pair[1]]
                    middles[key] = len(points)
                    points.append(middle / np.linalg.norm(middle))
                halves.append(middles[key])
            x, y, z = halves
            finer += [(a, x, z), (b, y, x), (c, z, y), (x, y, z)]
        faces = finer
    return radius * np.array(points) + np.asarray(centre, float), np.array(faces)


def uv_sphere(stacks, slices, radius=1.0):
    """Sphere of stacks and slices, two poles: positions, and outward triangles."""
    polar, around = np.pi * np.arange(1, stacks) / stacks, 2.0 * np.pi * np.arange(slices) / slices
    ring = np.stack([np.cos(around), np.sin(around)], axis=1)
    rows = [np.column_stack([np.sin(p) * ring, np.full(slices, np.cos(p))]) for p in polar]
    last, triangles = 1 + slices * len(polar), []
    for k in range(slices):
        right = (k + 1) % slices
        triangles += [(0, 1 + k, 1 + right), (last, last - slices + right, last - slices + k)]
        for row in range(len(polar) - 1):
            a, b = 1 + row * slices + k, 1 + row * slices + right
            triangles += [(a, a + slices, b + slices), (a, b + slices, b)]
    return radius * np.concatenate([[(0.0, 0.0, 1.0)], *rows, [(0.0, 0.0, -1.0)]]), np.array(triangles)


def torus(major, minor, major_count=24, minor_count=12, centre=(0.0, 0.0, 0.0)):
    """Torus about the z axis, made of rings."""
    u, v = np.meshgrid(
        np.arange(major_count) * 2 * np.pi / major_count,
        np.arange(minor_count) * 2 * np.pi / minor_count,
        indexing="ij",
    )
    across = major + minor * np.cos(v)
    points = np.stack([across * np.cos(u), across * np.sin(u), minor * np.sin(v)], axis=-1).reshape(-1, 3)
    number = np.arange(major_count * minor_count).reshape(major_count, minor_count)
    ahead, up = np.roll(number, -1, axis=0), np.roll(number, -1, axis=1)
    both = np.roll(ahead, -1, axis=1)
    quads = np.stack([number, ahead, both, up], axis=-1).reshape(-1, 4)
    return points + np.asarray(centre, float), split_quads(quads)


def tube(major, minor, turns, rise, major_count=60, minor_count=12):
    """Closed tube of radius `minor` along a helix that rises by `rise` per turn; vertices are numbered along it."""
    u = np.linspace(0.0, 2.0 * np.pi * turns, major_count)
    outward = np.stack([np.cos(u), np.sin(u), np.zeros_like(u)], axis=1)
    middle = major * outward + np.outer(u / (2.0 * np.pi) * rise, [0.0, 0.0, 1.0])
    v = np.arange(minor_count) * 2.0 * np.pi / minor_count
    ring = np.cos(v)[None, :, None] * outward[:, None] + np.sin(v)[None, :, None] * np.array([0.0, 0.0, 1.0])
    points = np.concatenate([middle[:1], (middle[:, None] + minor * ring).reshape(-1, 3), middle[-1:]])
    number = 1 + np.arange(major_count * minor_count).reshape(major_count, minor_count)
    quads = np.stack(
        [number[:-1], number[1:], np.roll(number, -1, axis=1)[1:], np.roll(number, -1, axis=1)[:-1]], axis=-1
    ).reshape(-1, 4)
    first = np.stack([np.zeros(minor_count, int), number[0], np.roll(number[0], -1)], axis=1)
    last = np.stack([np.full(minor_count, len(points) - 1), np.roll(number[-1], -1), number[-1]], axis=1)
    return points, np.concatenate([first, split_quads(quads), last])


def grid(size, cells=1, z=0.0):
    """Open square plate of edge `size` in the plane z, facing up."""
    line = np.linspace(-0.5 * size, 0.5 * size, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    number = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    quads = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 4)
    return np.stack([x, y, np.full_like(x, z)], axis=-1).reshape(-1, 3), split_quads(quads)


def box(size=1.0, cells=3, centre=(0.0, 0.0, 0.0)):
    """Cube of edge `size`, each side cut into cells."""
    corner = {}
    quads = []
    for axis in range(3):
        for end in (0, cells):
            for p in range(cells):
                for q in range(cells):
                    ring = [(p, q), (p + 1, q), (p + 1, q + 1), (p, q + 1)]
                    lattice = [np.roll((end, *place), axis) for place in (ring if end else ring[::-1])]
                    quads.append([corner.setdefault(tuple(spot.tolist()), len(corner)) for spot in lattice])
    points = (np.array(list(corner), float) / cells - 0.5) * size + np.asarray(centre, float)
    return points, split_quads(np.array(quads))


def split_quads(quads):
    """Two triangles for every quad."""
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def prism(outline, height):
    """Solid over an outline, shape (n, 2), counter-clockwise, that its first corner sees all of."""
    n = len(outline)
    x = np.concatenate([np.c_[outline, np.zeros(n)], np.c_[outline, np.full(n, height)]])
    fan = [(0, k, k + 1) for k in range(1, n - 1)]
    bottom, top = [(a, c, b) for a, b, c in fan], [(a + n, b + n, c + n) for a, b, c in fan]
    sides = [(k, (k + 1) % n, (k + 1) % n + n) for k in range(n)] + [(k, (k + 1) % n + n, k + n) for k in range(n)]
    return x, np.array(bottom + top + sides)


def outward(x, triangles):
    """Triangles of a convex mesh, turned so that they face away from its middle."""
    a, b, c = (x[triangles[:, corner]] for corner in range(3))
    is_in = np.einsum("ij,ij->i", np.cross(b - a, c - a), (a + b + c) / 3.0 - x.mean(axis=0)) < 0.0
    return np.where(is_in[:, None], triangles[:, ::-1], triangles)


def hull(points):
    """The convex hull of points: those on it, and its triangles."""
    from scipy.spatial import ConvexHull

    used, place = np.unique(ConvexHull(points).simplices, return_inverse=True)
    return points[used], outward(points[used], place.reshape(-1, 3))


def rotation(axis, angle):
    """Rotation matrix about an axis by an angle [rad] (Rodrigues)."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def read_obj(path):
    """Vertices and fan-split triangles of a Wavefront file; texture coordinates and normals are left out."""
    points, triangles = [], []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            corner = [int(word.split("/")[0]) - 1 for word in words[1:]]
            triangles += [[corner[0], corner[k], corner[k + 1]] for k in range(1, len(corner) - 1)]
    return np.array(points), np.array(triangles)


def foreign_mesh(name):
    """A mesh people really load, from outside the project; skips the test, loudly, where it is absent.

    Looked for in the folder that SOFTPRESSURE_MESHES names, else in `shared/meshes` beside the checkout.
    """
    beside = Path(__file__).resolve().parents[3] / "shared" / "meshes"
    folder = Path(os.environ.get("SOFTPRESSURE_MESHES", beside))
    path = folder / name
    if not path.is_file():
        pytest.skip(f"NOT TESTED: {name} is not in {folder}; set SOFTPRESSURE_MESHES to a folder that holds it")
    return read_obj(path)


def beast(cell=0.05):
    """A round animal of cubes, smoothed: legs, head, horns and tail, 1.1 m long. Closed, in triangles.

    Stands in for meshes that people really load, where a test must not depend on them.
    """
    filled = np.zeros((24, 12, 20), bool)
    for low, high in (
        ((5, 3, 7), (17, 9, 13)),  # body
        ((5, 3, 1), (7, 5, 7)), ((5, 7, 1), (7, 9, 7)), ((14, 3, 1), (16, 5, 7)), ((14, 7, 1), (16, 9, 7)),  # legs
        ((16, 4, 11), (22, 8, 16)),  # head
        ((18, 4, 16), (19, 5, 19)), ((18, 7, 16), (19, 8, 19)),  # horns
        ((1, 5, 11), (5, 6, 12)),  # tail
    ):  # fmt: skip
        filled[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = True
    quads = []
    for axis in range(3):
        across = [(axis + 1) % 3, (axis + 2) % 3]
        corner = np.zeros((4, 3), int)
        corner[[1, 2], across[0]] = 1
        corner[[2, 3], across[1]] = 1
        for side in (0, 1):
            is_open = filled & ~np.roll(filled, 1 - 2 * side, axis=axis)
            face = np.argwhere(is_open)[:, None, :] + corner[None] + side * np.eye(3, dtype=int)[axis]
            quads.append(face if side else face[:, ::-1])
    points, numbers = np.unique(np.concatenate(quads).reshape(-1, 3), axis=0, return_inverse=True)
    quads = numbers.reshape(-1, 4)
    x, edges = points * cell, np.unique(np.sort(quads[:, [[0, 1], [1, 2], [2, 3], [3, 0]]].reshape(-1, 2)), axis=0)
    for _ in range(6):
        near, count = np.zeros_like(x), np.bincount(edges.ravel())
        np.add.at(near, edges[:, 0], x[edges[:, 1]])
        np.add.at(near, edges[:, 1], x[edges[:, 0]])
        x = 0.5 * (x + near / count[:, None])
    return x, split_quads(quads)


def ring(count, radius=1.0, centre=(0.0, 0.0), twist=0.0):
    """Corners of a regular polygon in the plane, counter-clockwise, shape (count, 2)."""
    turn = twist + 2 * np.pi * np.arange(count) / count
    return radius * np.stack([np.cos(turn), np.sin(turn)], axis=1) + np.asarray(centre, float)


def bark(count=360, radius=1.0):
    """A deeply folded outline with overhangs, as a slice of old wood has, shape (count, 2)."""
    turn = 2 * np.pi * np.arange(count) / count
    away = radius * (1.0 + 0.15 * np.cos(2 * turn) + 0.22 * np.cos(7 * turn))
    lean = turn + 0.1 * np.sin(14 * turn)
    return away[:, None] * np.stack([np.cos(lean), np.sin(lean)], axis=1)


def upright(flat, height=0.0):
    """Points of the plane in the world's plane y = 0, the second coordinate upwards, shape (n, 3)."""
    flat = np.asarray(flat, float)
    return np.stack([flat[:, 0], np.zeros(len(flat)), flat[:, 1] + height], axis=1)


def shoelace(flat):
    """Signed area of an outline (Gauss), shape (n, 2)."""
    x, y = np.asarray(flat).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def standing(x, size=1.0, height=0.3):
    """Upright along z, of the given extent, above the floor [m]."""
    x = x[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
    x = (x - x.mean(axis=0)) * size / np.ptp(x, axis=0).max()
    return x + [0.0, 0.0, height - x[:, 2].min()]
