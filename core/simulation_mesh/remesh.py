"""Isotropic remeshing of a closed surface (after Botsch and Kobbelt 2004) that keeps thin parts and sharp edges.

The surface starts as the drawn one. Edges are split where they are long, collapsed where they are short and flipped
towards six at each vertex; vertices move to the middle of their faces. Every change is refused that would take the
surface away from its samples (`samples.py`).
"""

from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..jit import lean_kernel
from ..topology import signed_volume, vertex_vectors
from .collapse import collapse_edges
from .crossings import crossing_vertices, without_crossings
from .drawn import Drawn
from .flip import flip_edges
from .move import move_vertices
from .split import split_edges
from .surface import Numbers, Samples, Scratch, Surface, scratch

#: Edges longer than this many wanted lengths are split, in two passes shorter ones are collapsed.
SPLIT, COLLAPSE = 4.0 / 3.0, (0.5, 0.8)
#: Large triangles are split first, from this many wanted lengths down; that changes no shape.
SPLIT_FIRST = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0, 1.0)
#: Fine meshes are coarsened by rounds, in which the wanted length grows by this factor.
GROWTH = 1.6
#: Sweeps at the wanted length; in the last `LAX_SWEEPS` edges that are stuck may cost small parts.
SWEEPS, LAX_SWEEPS = 8, 3
#: Moves per sweep and in the last one, and the share of the way that a vertex moves.
MOVES, LAST_MOVES, RATE = 2, 6, 0.8
#: The wanted length follows the number of vertices by this power.
LENGTH_POWER = 0.4
#: Vertices per wanted one before the last sweeps, which lose some.
SPARE = 1.02
#: Share of the room for new vertices that must be free, else what is alive is numbered anew before a sweep.
LEAST_FREE = 0.5
#: Elements per call of a kernel: about 0.1 s.
SLICE = 20_000


class Remeshed(NamedTuple):
    """An even surface."""

    x: FloatArray  # shape (vertex_count, 3)
    triangles: IntArray
    face: Numbers  # of each drawn vertex: the triangle that stands for it
    crossing: int  # vertices where it crosses itself


def remesh(
    drawn: Drawn, vertex_count: int, length: float, crosses_as_drawn: Callable[[], bool]
) -> Generator[float, None, Remeshed]:
    """Make a surface of about `vertex_count` vertices; yields the share that is done, returns a `Remeshed`.

    Where it crosses itself and the drawn one does not, it is made again, and changes that make crossings are refused.
    """
    made = yield from _remesh(drawn, vertex_count, length, is_guarded=False)
    if made.crossing and not crosses_as_drawn():
        drawn.samples.distance[:] = 0.0
        guarded = yield from _remesh(drawn, vertex_count, length, is_guarded=True)
        made = guarded if guarded.crossing < made.crossing else made
    return made


def _remesh(drawn: Drawn, vertex_count: int, length: float, *, is_guarded: bool) -> Generator[float, None, Remeshed]:
    m = _surface(drawn, vertex_count, length, is_guarded)
    samples, s = drawn.samples, scratch(len(drawn.samples.x))
    start = min(1.0, 1.2 * np.sqrt(drawn.areas.sum() / len(drawn.x)) / length)
    coarser = [start * GROWTH**step for step in range(100) if start * GROWTH**step < 1.0]
    parts = len(coarser) + SWEEPS + 1
    shares = iter(np.arange(1, parts + 1) / parts)
    for scale in SPLIT_FIRST:
        yield from _edges(split_edges, m, (samples, s), (SPLIT * scale * length,))
    yield next(shares)
    for scale in coarser:
        yield from _sweep(m, drawn, s, scale * length, is_splitting=True, moves=1, rate=0.7, is_lax=False)
        yield next(shares)
    for number in range(SWEEPS):
        is_last = number == SWEEPS - 1
        yield from _sweep(
            m,
            drawn,
            s,
            float(m.edge_length[0]),
            is_splitting=number < SWEEPS - 2,
            moves=LAST_MOVES if is_last else MOVES,
            rate=RATE,
            is_lax=number >= SWEEPS - LAX_SWEEPS,
        )
        if 0 < number < SWEEPS - 3:
            m.edge_length[0] *= (m.counts[2] / vertex_count) ** LENGTH_POWER
        elif number == SWEEPS - 3:
            yield from _trim(m, drawn, s, int(SPARE * vertex_count))
        yield next(shares)
    return _result(m, drawn)


def _trim(m: Surface, drawn: Drawn, s: Scratch, vertex_count: int) -> Iterator[float]:
    """Split as many of the longest edges, or collapse as many of the shortest, as vertices lack or are too many."""
    half = np.arange(3 * int(m.counts[1]))
    half = half[(m.origin[half] >= 0) & (half < m.twin[half])]
    end = m.origin[np.where(half % 3 == 2, half - 2, half + 1)]
    lengths = np.sort(np.linalg.norm(m.x[m.origin[half]] - m.x[end], axis=1))
    lack = vertex_count - int(m.counts[2])
    both = drawn.samples, s
    if lack > 0:
        yield from _edges(split_edges, m, both, (lengths[-min(lack, len(lengths)) - 1],))
    elif lack < 0:
        yield from _edges(collapse_edges, m, both, (lengths[min(-lack, len(lengths) - 1)], False))
    yield from _relax(m, drawn, s, MOVES, RATE)


def _sweep(
    m: Surface, drawn: Drawn, s: Scratch, length: float, *, is_splitting: bool, moves: int, rate: float, is_lax: bool
) -> Iterator[float]:
    """One sweep: split, collapse twice, flip twice, move."""
    both = drawn.samples, s
    if len(m.x) - m.counts[0] < LEAST_FREE * (len(m.x) - len(drawn.x)):
        _renumber(m)
    if is_splitting:
        yield from _edges(split_edges, m, both, (SPLIT * length,))
    for share in COLLAPSE:
        yield from _edges(collapse_edges, m, both, (share * length, is_lax))
    yield from _relax(m, drawn, s, moves, rate)


def _relax(m: Surface, drawn: Drawn, s: Scratch, moves: int, rate: float) -> Iterator[float]:
    """Flip twice, and move."""
    both = drawn.samples, s
    for _ in range(2):
        yield from _edges(flip_edges, m, both, ())
    for _ in range(moves):
        for first in range(0, int(m.counts[0]), SLICE):
            move_vertices(m, *both[:1], drawn.lines, s, first, min(first + SLICE, int(m.counts[0])), rate)
            yield np.nan


def _edges(function: Any, m: Surface, both: tuple[Samples, Scratch], more: tuple[Any, ...]) -> Iterator[float]:
    """Call a kernel for all half-edges that there are now, slice by slice."""
    last = 3 * int(m.counts[1])
    for first in range(0, last, 6 * SLICE):
        function(m, *both, first, min(first + 6 * SLICE, last), *more)
        yield np.nan


def _surface(drawn: Drawn, vertex_count: int, length: float, is_guarded: bool) -> Surface:
    """The drawn surface as the working mesh, with room to grow."""
    vertices = len(drawn.x) + 8 * vertex_count + 1000
    faces = len(drawn.triangles) + 16 * vertex_count + 2000
    guarded = faces if is_guarded else 0
    origin = drawn.triangles.ravel()
    outgoing = np.full(len(drawn.x), -1)
    outgoing[origin] = np.arange(len(origin))
    line = np.full(len(drawn.x), -1)
    line[drawn.lines.ends.ravel()] = np.arange(drawn.lines.ends.size) // 2
    m = Surface(
        _room(drawn.x, vertices, 0.0),
        _room(origin, 3 * faces, -1),
        _room(drawn.twin, 3 * faces, -1),
        _room(drawn.sharp, 3 * faces, False),
        _room(outgoing, vertices, -1),
        _room(np.bincount(origin, minlength=len(drawn.x)), vertices, 0),
        _room(line, vertices, -1),
        np.full(faces, -1),
        np.full(len(drawn.samples.x), -1),
        np.array([len(drawn.x), len(drawn.triangles), len(drawn.x)]),
        np.array([length]),
        np.full(1 << faces.bit_length() if is_guarded else 0, -1),
        np.full(guarded, -1),
        np.full(guarded, -1),
        np.full(guarded, -1),
        np.zeros(2),
    )
    list_samples(m, drawn.sample_face)
    return m


def _room(values: Any, count: int, fill: Any) -> Any:
    """An array that begins with these values and has room for more."""
    whole = np.full((count, *values.shape[1:]), fill, values.dtype)
    whole[: len(values)] = values
    return whole


def _renumber(m: Surface) -> None:
    """Number what is alive without gaps, in the order that it has: splits need room, of which fans take much."""
    face = np.flatnonzero(m.origin[::3] >= 0)
    half = (3 * face[:, None] + np.arange(3)).ravel()
    vertex = np.unique(m.origin[half])
    new_face, new_vertex = np.full(len(m.origin) // 3, -1), np.full(len(m.x), -1)
    new_face[face], new_vertex[vertex] = np.arange(len(face)), np.arange(len(vertex))

    def to_new(half_edges: Numbers) -> Numbers:
        return np.asarray(3 * new_face[half_edges // 3] + half_edges % 3)

    for array, values, fill in (
        (m.origin, new_vertex[m.origin[half]], -1), (m.twin, to_new(m.twin[half]), -1), (m.sharp, m.sharp[half], False),
        (m.x, m.x[vertex], 0.0), (m.outgoing, to_new(m.outgoing[vertex]), -1), (m.valence, m.valence[vertex], 0),
        (m.line, m.line[vertex], -1), (m.first_sample, m.first_sample[face], -1),
    ):  # fmt: skip
        array[: len(values)], array[len(values) :] = values, fill
    m.counts[0], m.counts[1] = len(vertex), len(face)


@lean_kernel
def list_samples(m, face):
    """Put each sample into the list of its face."""
    for sample in range(face.shape[0]):
        m.next_sample[sample] = m.first_sample[face[sample]]
        m.first_sample[face[sample]] = sample


@lean_kernel
def set_faces(m, face):
    """The face in whose list each of the first samples is."""
    for f in range(m.first_sample.shape[0]):
        sample = m.first_sample[f]
        while sample >= 0:
            if sample < face.shape[0]:
                face[sample] = f
            sample = m.next_sample[sample]


@lean_kernel
def spread_faces(triangles, known, face):
    """Let vertices that have no face yet take one of a neighbour; `known`: the faces before."""
    for t in range(triangles.shape[0]):
        best = max(known[triangles[t, 0]], known[triangles[t, 1]], known[triangles[t, 2]])
        for k in range(3):
            if known[triangles[t, k]] < 0:
                face[triangles[t, k]] = max(face[triangles[t, k]], best)


def _result(m: Surface, drawn: Drawn) -> Remeshed:
    """What is alive, renumbered, with the drawn volume as far as that makes no crossings."""
    alive = np.flatnonzero(m.origin[::3] >= 0)
    triangles = m.origin.reshape(-1, 3)[alive]
    used, renumbered = np.unique(triangles, return_inverse=True)
    made = renumbered.reshape(-1, 3).astype(np.int32)
    sample_face = np.zeros(len(drawn.sampled), np.int64)
    set_faces(m, sample_face)
    new_face = np.zeros(len(m.first_sample), np.int64)
    new_face[alive] = np.arange(len(alive))
    face = np.full(len(drawn.x), -1)
    face[drawn.sampled] = new_face[sample_face]
    while (face < 0).any():
        spread_faces(drawn.triangles, face.copy(), face)
    is_sharp = np.zeros(len(m.x), bool)
    is_sharp[m.origin[m.sharp]] = True
    sharp, volume = is_sharp[used], signed_volume(drawn.x, drawn.triangles)

    def offset(fixed: BoolArray) -> FloatArray:
        return with_volume(m.x[used], made, fixed, volume)

    x = offset(sharp)
    crossing = crossing_vertices(x, made)
    if crossing.any() and not crossing_vertices(m.x[used], made).any():
        x, crossing = without_crossings(offset, made, sharp | crossing), np.zeros_like(crossing)
    return Remeshed(x, made, face, int(crossing.sum()))


def with_volume(x: FloatArray, triangles: Numbers, fixed: BoolArray, volume: float) -> FloatArray:
    """Positions offset along the normals by one length, those of `fixed` vertices not, so that they enclose `volume`.

    Newton's method; the volume is a cubic function of the offset.
    """
    for _ in range(3):
        gradient = vertex_vectors(x, triangles) / 6.0
        normals = gradient / np.maximum(np.linalg.norm(gradient, axis=1), 1e-30)[:, None]
        normals[fixed] = 0.0
        rate = float(np.einsum("ij,ij->", gradient, normals))
        if rate > 0.0:
            x = x + normals * ((volume - signed_volume(x, triangles)) / rate)
    return x
