"""The outline of a flat body: one closed polyline that lies in a plane and does not cross itself."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...array_types import FloatArray, IntArray
from ...errors import MeshError
from ...tiny import ROUNDING
from ..lattice.main_directions import main_directions

#: Share of its size by which an outline may leave its plane.
FLATNESS = 1e-4


class Outline(NamedTuple):
    """A closed polyline in a plane."""

    vertices: IntArray  # the caller's numbers, counter-clockwise about the normal, shape (outline_count,)
    corners: FloatArray  # where they are [m], in the plane, shape (outline_count, 3)
    normal: FloatArray  # unit vector, shape (3,)
    origin: FloatArray  # a point of the plane [m]

    def flattened(self, positions: FloatArray) -> FloatArray:
        """Positions [m] moved along the normal into the plane."""
        away = np.einsum("ij,j->i", positions - self.origin, self.normal)
        moved: FloatArray = positions - away[:, None] * self.normal
        return moved

    def axes(self) -> FloatArray:
        """Two unit vectors that span the plane, along the main directions of the sides, shape (2, 3)."""
        first = np.zeros(3)
        first[int(np.argmin(np.abs(self.normal)))] = 1.0
        first -= np.einsum("i,i->", first, self.normal) * self.normal
        first /= np.linalg.norm(first)
        spanning = np.stack([first, np.cross(self.normal, first)])
        sides = (np.roll(self.corners, -1, axis=0) - self.corners) @ spanning.T
        axes: FloatArray = main_directions(sides).T @ spanning
        return axes

    def in_plane(self, positions: FloatArray) -> FloatArray:
        """Coordinates [m] of positions along the axes, from the origin, shape (n, 2)."""
        spanned: FloatArray = np.einsum("ij,aj->ia", positions - self.origin, self.axes())
        return spanned


def outline_of(name: str, positions: FloatArray, given: ArrayLike | None) -> Outline:
    """The outline of a body from its vertices in order, or from its edges in any order.

    `positions` [m], shape (vertex_count, 3); `given`: None for all vertices in their order, vertex numbers in order,
    shape (n,), or edges, shape (n, 2). Raises `MeshError` with a sentence for what is not one closed flat outline.
    """
    if not np.all(np.isfinite(positions)):
        raise MeshError(f"{name}: vertices with invalid coordinates (NaN or infinite). Delete or move them.")
    if given is None:
        vertices = np.arange(len(positions), dtype=np.int32)
    else:
        numbers = np.asarray(given, dtype=np.int32)
        if numbers.size and (numbers.min() < 0 or numbers.max() >= len(positions)):
            raise MeshError(f"{name}: the outline names vertex {int(numbers.max())} of {len(positions)}. Rebuild it.")
        vertices = walk(name, numbers) if numbers.ndim == 2 else numbers
    if len(vertices) < 3:
        raise MeshError(f"{name}: an outline of {len(vertices)} vertices encloses nothing. Give at least 3.")
    if len(np.unique(vertices)) < len(vertices):
        raise MeshError(f"{name}: the outline comes through a vertex twice. Give each vertex once.")
    corners = positions[vertices]
    normal = _plane(name, corners)
    origin = corners[0].copy()
    found = Outline(vertices, corners, normal, origin)
    found = found._replace(corners=found.flattened(corners))
    _check_crossings(name, found)
    return found


def check_loop(name: str, positions: FloatArray, given: ArrayLike | None) -> Outline:
    """`outline_of` where every vertex must be on the outline."""
    found = outline_of(name, positions, given)
    inner = len(positions) - len(found.vertices)
    if inner:
        raise MeshError(
            f"{name}: {inner} vertices that are not on the outline; a loop is its outline only. Dissolve inner "
            "vertices and delete loose ones.",
            "INNER",
        )
    return found


def is_flat(positions: FloatArray) -> bool:
    """Whether points [m] lie in a plane, as far as an outline must."""
    if len(positions) < 3 or not np.isfinite(positions).all():
        return False
    arms = positions - positions.mean(axis=0)
    away = np.einsum("ij,j->i", arms, np.linalg.eigh(np.einsum("ij,ik->jk", arms, arms))[1][:, 0])
    return float(np.abs(away).max()) <= 0.5 * FLATNESS * float(np.linalg.norm(np.ptp(positions, axis=0)))


def walk(name: str, edges: IntArray) -> IntArray:
    """Vertices along edges that form one closed outline, from the lowest number on; raises `MeshError` if not."""
    if len(edges) == 0:
        raise MeshError(f"{name}: no edges. A loop needs a closed outline of edges.")
    low = np.sort(edges.astype(np.int64), axis=1)
    if (low[:, 0] == low[:, 1]).any() or len(np.unique(low, axis=0)) < len(low):
        raise MeshError(f"{name}: doubled edges. Merge them.", "DOUBLED")
    uses = np.bincount(edges.ravel())
    ends, branches = int((uses == 1).sum()), int((uses > 2).sum())
    if ends or branches:
        what = [f"{ends} loose ends" if ends else "", f"{branches} branches" if branches else ""]
        raise MeshError(
            f"{name}: the outline has {' and '.join(part for part in what if part)}; it must be one closed ring. "
            "Join the ends and delete edges that branch off.",
            "LOOSE_ENDS",
        )
    neighbours: dict[int, list[int]] = {}
    for a, b in edges.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    first = min(neighbours)
    path = [first]
    before, here = first, min(neighbours[first])
    while here != first:
        path.append(here)
        before, here = here, next(other for other in neighbours[here] if other != before)
    if len(path) < len(edges):
        raise MeshError(
            f"{name}: more than one outline; one of {len(path)} edges, {len(edges) - len(path)} edges besides. "
            "Separate them into objects of their own.",
            "SEVERAL",
        )
    return np.array(path, np.int32)


def boundary(faces: IntArray) -> IntArray:
    """Edges of triangles, or of quads, that belong to one face only, along its winding, shape (n, 2)."""
    sides = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    _, inverse, uses = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True)
    return sides[uses[inverse.ravel()] == 1].astype(np.int32)


def _plane(name: str, corners: FloatArray) -> FloatArray:
    """Unit normal of the outline's plane, about which it runs counter-clockwise."""
    arms = corners - corners[0]  # from a corner: exact where all lie in a plane along the axes
    area2 = np.cross(arms, np.roll(arms, -1, axis=0)).sum(axis=0)
    size = float(np.linalg.norm(np.ptp(corners, axis=0)))
    length = float(np.linalg.norm(area2))
    if not length > 1e-9 * size * size:
        raise MeshError(f"{name}: the outline encloses no area ({0.5 * length:.3g} m\u00b2). Widen it, or uncross it.")
    normal = area2 / length
    away = float(np.abs(np.einsum("ij,j->i", arms, normal)).max())
    if away > FLATNESS * size:
        raise MeshError(
            f"{name}: not flat; a vertex of the outline is {away:.3g} m off its plane. "
            "Scale it to 0 along the plane's normal."
        )
    return np.asarray(normal)


def _check_crossings(name: str, outline: Outline) -> None:
    """Raise `MeshError` where two sides of an outline cross or touch."""
    p = outline.in_plane(outline.corners)
    count = len(p)
    d = np.roll(p, -1, axis=0) - p
    length2 = np.einsum("ij,ij->i", d, d)
    if length2.min() == 0.0:
        raise MeshError(f"{name}: an edge of no length. Merge its ends.", "DOUBLED")
    before = np.roll(d, 1, axis=0)
    back = np.abs(before[:, 0] * d[:, 1] - before[:, 1] * d[:, 0]) <= ROUNDING * np.sqrt(length2 * np.roll(length2, 1))
    back &= np.einsum("ij,ij->i", before, d) < 0.0
    if back.any():
        corner = int(outline.vertices[np.flatnonzero(back)[0]])
        raise MeshError(f"{name}: the outline turns back on itself at vertex {corner}. Open the angle, or delete it.")
    low, high = np.minimum(p, p + d), np.maximum(p, p + d)
    for i in range(count - 2):
        others = np.arange(i + 2, count - (i == 0))
        near = ((low[others] <= high[i]) & (high[others] >= low[i])).all(axis=1)
        others = others[near]
        if len(others) == 0:
            continue
        across = d[i, 0] * d[others, 1] - d[i, 1] * d[others, 0]
        gap = p[others] - p[i]
        with np.errstate(divide="ignore", invalid="ignore"):
            s = (gap[:, 0] * d[others, 1] - gap[:, 1] * d[others, 0]) / across
            t = (gap[:, 0] * d[i, 1] - gap[:, 1] * d[i, 0]) / across
        hit = np.flatnonzero((s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0))
        if len(hit):
            other, place = (
                int(others[hit[0]]),
                outline.corners[i] + s[hit[0]] * (outline.corners[(i + 1) % count] - outline.corners[i]),
            )
            raise MeshError(
                f"{name}: the outline crosses itself at ({place[0]:.4g}, {place[1]:.4g}, {place[2]:.4g}) m, between "
                f"the edges at vertices {int(outline.vertices[i])} and {int(outline.vertices[other])}. "
                "Move the vertices apart."
            )
