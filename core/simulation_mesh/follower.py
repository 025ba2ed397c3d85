"""Follower: a drawn mesh on an even one.

Each drawn vertex keeps its place on one triangle and its offset in the frame there: the interpolated normal and the
direction of a side across it. Rigid motions are followed exactly.
"""

import numpy as np

from ..array_types import FloatArray
from ..contact.narrow_phase.closest_points import closest_on_corners
from ..jit import kernel, lean_kernel
from ..team import share
from ..topology import face_normals, grouped, vertex_normals
from .even import EvenMesh
from .surface import Numbers

#: Binding: triangles within this many rings of where the remesher left a vertex.
RINGS = 2
#: What a turn of the normal by a right angle costs, in squared sides; facing away costs as much as is needed.
TURN_COST, AWAY_COST = 0.02, 1e3
#: Vertices per job of a thread.
CHUNK = 50_000


class Follower:
    """Where drawn vertices are when an even mesh has moved."""

    def __init__(self, even: EvenMesh, drawn_positions: FloatArray) -> None:
        """Bind drawn vertices, shape (drawn_count, 3), to an even mesh that was made of them."""
        x, drawn = np.ascontiguousarray(even.positions, float), np.ascontiguousarray(drawn_positions, float)
        self._triangles = np.ascontiguousarray(even.triangles, np.int64)
        self._even = even
        count = len(drawn)
        normals = even.drawn_normals
        self.triangle, self.weights = np.zeros(count, np.int64), np.zeros((count, 3))
        start, entry = grouped(self._triangles.ravel().astype(np.int32), len(x))
        unit = face_normals(x, self._triangles)
        bind(drawn, normals, x, self._triangles, unit, start, entry // 3, even.face, self.triangle, self.weights)
        self.offsets = np.zeros((count, 3))
        set_offsets(x, vertex_normals(x, self._triangles), self._triangles, self._binding(), drawn)
        #: How far drawn vertices stand off the even surface, on either side, in its units.
        self.reach: FloatArray = np.sqrt((self.offsets * self.offsets).sum(axis=1))

    def _binding(self) -> tuple[Numbers, FloatArray, FloatArray]:
        return self.triangle, self.weights, self.offsets

    @property
    def stand_off(self) -> float:
        """How far drawn vertices stand out of the even surface at most, in its units."""
        return float(self.reach[self.offsets[:, 2] > 0.0].max(initial=0.0))

    def positions(self, even_positions: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Drawn positions, shape (drawn_count, 3), for positions of the even mesh's vertices."""
        x = np.ascontiguousarray(even_positions, float)
        normals = np.zeros_like(x)
        set_vertex_normals(x, self._triangles, normals)
        out = np.empty_like(self.offsets) if out is None else out
        share(
            lambda first, last: follow(x, normals, self._triangles, self._binding(), first, last, out), len(out), CHUNK
        )
        return out

    def interpolated(self, even_values: FloatArray, chosen: Numbers | slice = slice(None)) -> FloatArray:
        """Values at drawn vertices, or chosen ones, from values at the even mesh's vertices, shape (count, ...)."""
        corners = self._triangles[self.triangle[chosen]]
        found: FloatArray = np.einsum("vk,vk...->v...", self.weights[chosen], even_values[corners])
        return found

    def transfer(self, drawn_values: FloatArray) -> FloatArray:
        """Values at even vertices, such as weights of a group: those of the drawn surface where it is nearest.

        `drawn_values`: shape (drawn_count, ...). Of the drawn surface only what faces the same way counts.
        """
        values = np.asarray(drawn_values, float)[self._even.nearest]
        found: FloatArray = np.einsum("vk,vk...->v...", self._even.nearest_weights, values)
        return found


@lean_kernel
def set_vertex_normals(x, triangles, normals):
    """`topology.vertex_normals` in a tenth of the time, as they are needed in each frame; `normals`: zeros."""
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        for k in range(3):
            v = triangles[t, k]
            normals[v, 0] += nx
            normals[v, 1] += ny
            normals[v, 2] += nz
    for v in range(x.shape[0]):
        length = np.sqrt(normals[v, 0] ** 2 + normals[v, 1] ** 2 + normals[v, 2] ** 2)
        scale = 1.0 / max(length, 1e-30)
        normals[v, 0] *= scale
        normals[v, 1] *= scale
        normals[v, 2] *= scale


@kernel
def bind(p, normals, x, triangles, unit, start, entry, face, triangle, weights):
    """Triangle and weights of each drawn vertex, within two rings of `face`: by distance, and by how normals agree."""
    seen, waiting = np.full(triangles.shape[0], -1), np.empty(triangles.shape[0], np.int64)
    for i in range(p.shape[0]):
        waiting[0] = face[i]
        seen[face[i]] = i
        count, begun = 1, 0
        for _ in range(RINGS):
            ended = count
            for j in range(begun, ended):
                for k in range(3):
                    v = triangles[waiting[j], k]
                    for q in range(start[v], start[v + 1]):
                        if seen[entry[q]] != i:
                            seen[entry[q]] = i
                            waiting[count] = entry[q]
                            count += 1
            begun = ended
        best = 1e30
        for j in range(count):
            t = waiting[j]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            wa, wb, wc, _, _, _, cost, _ = closest_on_corners(p, i, x, a, b, c)
            side = (x[a, 0] - x[b, 0]) ** 2 + (x[a, 1] - x[b, 1]) ** 2 + (x[a, 2] - x[b, 2]) ** 2
            along = unit[t, 0] * normals[i, 0] + unit[t, 1] * normals[i, 1] + unit[t, 2] * normals[i, 2]
            cost += side * (TURN_COST * (1.0 - along) + (AWAY_COST if along < -0.2 else 0.0))
            if cost < best:
                best, triangle[i] = cost, t
                weights[i, 0], weights[i, 1], weights[i, 2] = wa, wb, wc


@lean_kernel
def set_offsets(x, normals, triangles, binding, drawn):
    """Offsets of drawn positions in the frames of their triangles."""
    triangle, weights, offsets = binding
    for i in range(triangle.shape[0]):
        t = triangle[i]
        qx, qy, qz, nx, ny, nz, ex, ey, ez = frame(x, normals, triangles, t, weights, i)
        bx, by, bz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
        dx, dy, dz = drawn[i, 0] - qx, drawn[i, 1] - qy, drawn[i, 2] - qz
        offsets[i, 0] = dx * ex + dy * ey + dz * ez
        offsets[i, 1] = dx * bx + dy * by + dz * bz
        offsets[i, 2] = dx * nx + dy * ny + dz * nz


@lean_kernel
def follow(x, normals, triangles, binding, first, last, out):
    """Positions of drawn vertices first .. last - 1."""
    triangle, weights, offsets = binding
    for i in range(first, last):
        qx, qy, qz, nx, ny, nz, ex, ey, ez = frame(x, normals, triangles, triangle[i], weights, i)
        bx, by, bz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
        u, v, w = offsets[i, 0], offsets[i, 1], offsets[i, 2]
        out[i, 0] = qx + u * ex + v * bx + w * nx
        out[i, 1] = qy + u * ey + v * by + w * ny
        out[i, 2] = qz + u * ez + v * bz + w * nz


@lean_kernel
def frame(x, normals, triangles, t, weights, i):
    """A point of a triangle, the unit normal there and a unit vector across it along the first side."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    u, v, w = weights[i, 0], weights[i, 1], weights[i, 2]
    nx = u * normals[a, 0] + v * normals[b, 0] + w * normals[c, 0]
    ny = u * normals[a, 1] + v * normals[b, 1] + w * normals[c, 1]
    nz = u * normals[a, 2] + v * normals[b, 2] + w * normals[c, 2]
    scale = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz + 1e-30)
    nx, ny, nz = scale * nx, scale * ny, scale * nz
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    along = ex * nx + ey * ny + ez * nz
    ex, ey, ez = ex - along * nx, ey - along * ny, ez - along * nz
    scale = 1.0 / np.sqrt(ex * ex + ey * ey + ez * ez + 1e-60)
    qx = u * x[a, 0] + v * x[b, 0] + w * x[c, 0]
    qy = u * x[a, 1] + v * x[b, 1] + w * x[c, 1]
    qz = u * x[a, 2] + v * x[b, 2] + w * x[c, 2]
    return qx, qy, qz, nx, ny, nz, scale * ex, scale * ey, scale * ez
