"""What is near enough to matter in a substep: which rows of the contact record are looked at, and which press.

A row whose sides were d apart when it was looked at last is left alone until both may have gone d - thickness since
(`collide.candidates.Candidates.ways`): nothing has touched or passed through. Most rows of edges are.

Rows of a vertex that has none but with given triangles stand alone: `lone.py` takes those in one go. The others are
looked at here.
"""

from ...collide.contacts import EDGE_EDGE, POINT_TRIANGLE
from ...collide.edge_gaps import evaluate_edge
from ...collide.narrow import measure, settle
from ...jit import kernel
from .swept import NEVER, cross_edges, cross_triangle

CHUNK = 128  # rows per unit of parallel work
#: Share of the thickness r that a contact keeps. Rows from here up to r are projected as well, in case others push
#: them together: what lies on several points keeps all of them in every substep, and does not rock on some.
KEPT_SHARE = 0.8
#: Marks of rows: those that do not press, those that are swept, and those that `lone.py` has projected.
IDLE, SWEPT, DONE = 0, 1, 2


@kernel
def sort_rows(
    count, edge_start, points, kind, side, vertex_count, given, chunk_start, far, mark, alone, others, chunk_row
):
    """Sort the rows of a new record: `alone` those of vertices that only meet triangles of points from `given` on.

    The numbers of the others go to `others`, ascending, points first; returns how many there are, and how many of them
    are of points. `chunk_row` is the first row of each chunk of vertices, and the last one's end.
    """
    listed = chunk = begin = 0
    while begin < edge_start:
        point = points[begin, 0]
        end = begin
        stands = point < vertex_count
        while end < edge_start and points[end, 0] == point:
            if kind[end] != POINT_TRIANGLE or side[end] < 0:
                stands = False
            if points[end, 1] < given or points[end, 2] < given or points[end, 3] < given:
                stands = False
            end += 1
        while chunk < chunk_row.shape[0] and point >= chunk_start[chunk]:
            chunk_row[chunk] = begin
            chunk += 1
        for row in range(begin, end):
            alone[row] = stands
            if not stands:
                others[listed] = row
                listed += 1
        begin = end
    chunk_row[chunk:] = edge_start
    of_points = listed
    for row in range(edge_start, count):
        alone[row] = False
        others[listed] = row
        listed += 1
    far[:count] = -1.0
    mark[:count] = IDLE
    return listed, of_points


@kernel
def sleeps(row, bodies, thickness, far, ahead):
    """Whether the sides of a row are certainly farther apart than the thickness; what is not a number is awake."""
    return far[row] - ahead[bodies[row, 0]] - ahead[bodies[row, 1]] > thickness[row]


@kernel
def choose_run(
    begin, end, points, bodies, kind, side, thickness, gap, crossed, back, lack, mark
):  # fmt: skip
    """Mark the rows of one point within the thickness, with what each lacks of its distance [m] (less than 0: it does
    not press yet); returns how many.

    Of the triangles of a body that a point has passed through the first counts, and none of that body besides.
    A point behind a surface must reach the share `back` of the thickness (`recovery.WrongSide` shifts its gap).
    """
    chosen = 0
    for row in range(begin, end):
        if kind[row] != POINT_TRIANGLE or not gap[row] < thickness[row]:
            continue
        first = True
        for other in range(begin, end):
            if other != row and bodies[other, 1] == bodies[row, 1]:
                if crossed[other] < crossed[row] or (crossed[other] == crossed[row] <= 1.0 and other < row):
                    first = False
        if first:
            lack[row] = (KEPT_SHARE if side[row] > 0 else back) * thickness[row] - gap[row]
            mark[row] = SWEPT
            chosen += 1
    return chosen


@kernel
def look_at_points(
    x, before, of_points, others, ahead, behind, back, triangles, triangle_neighbour, points, kind, triangle, bodies,
    thickness, side, facing, offset, local, weights, normal, distance, gap, feature, far, crossed, lack, mark, reached,
):  # fmt: skip
    """Geometry at x of the rows of points in the first places of `others`, those that were passed through since
    `before`, and what presses. Rows of one point are worked on together, by the chunk in which they begin.
    """
    for chunk in range((of_points + CHUNK - 1) // CHUNK):
        place, stop = chunk * CHUNK, min(of_points, (chunk + 1) * CHUNK)
        while place > 0 and place < stop and points[others[place], 0] == points[others[place - 1], 0]:
            place += 1
        while place < stop:
            begin = others[place]
            end = begin
            awake = False
            while place < of_points and points[others[place], 0] == points[begin, 0]:
                place += 1
                crossed[end], mark[end], reached[end] = NEVER, IDLE, 0.0
                awake = awake or not sleeps(end, bodies, thickness, far, ahead)
                end += 1
            if not awake:
                continue
            for row in range(begin, end):
                measure(
                    x, triangles, triangle_neighbour, points[row, 0], triangle[row], side[row], facing[row],
                    bodies[row, 0] == bodies[row, 1], row, weights, normal, distance, gap, feature,
                )  # fmt: skip
                if side[row] < 0:
                    gap[row] += offset[row]
                far[row] = distance[row] + behind[bodies[row, 0]] + behind[bodies[row, 1]]
            if end > begin + 1:
                settle(begin, end, points, bodies, thickness, side, normal, distance, feature, local, gap)
            for row in range(begin, end):
                if kind[row] == POINT_TRIANGLE and side[row] > 0:
                    crossed[row] = cross_triangle(before, x, points, row, weights, normal, gap)
            choose_run(begin, end, points, bodies, kind, side, thickness, gap, crossed, back, lack, mark)


@kernel
def look_at_edges(
    x, before, first, last, others, ahead, behind, points, kind, bodies, apex, soft, thickness, side, share, weights,
    normal, distance, gap, wanted, far, crossed, lack, mark, reached,
):  # fmt: skip
    """`look_at_points` for the rows of edges, in the places first .. last - 1 of `others`."""
    for chunk in range((last - first + CHUNK - 1) // CHUNK):
        for place in range(first + chunk * CHUNK, min(last, first + (chunk + 1) * CHUNK)):
            row = others[place]
            crossed[row], mark[row], reached[row] = NEVER, IDLE, 0.0
            if kind[row] != EDGE_EDGE or sleeps(row, bodies, thickness, far, ahead):
                continue
            evaluate_edge(row, x, points, apex, soft, thickness, side, share, weights, normal, distance, gap, wanted)
            far[row] = distance[row] + behind[bodies[row, 0]] + behind[bodies[row, 1]]
            if side[row] < 0:
                continue
            crossed[row] = cross_edges(before, x, points, row, weights, normal, gap)
            if crossed[row] <= 1.0:
                lack[row] = KEPT_SHARE * thickness[row] - gap[row]
                mark[row] = SWEPT
            elif wanted[row] > 0.0 and distance[row] < thickness[row]:
                lack[row] = wanted[row] * (KEPT_SHARE * thickness[row] - distance[row])
                mark[row] = SWEPT


@kernel
def mark_busy(listed, others, mark, points, busy, value):
    """Set `busy` of the vertices of those rows among the first of `others` that press, shape (vertex_count,).

    Returns whether there is such a row.
    """
    found = False
    for place in range(listed):
        row = others[place]
        if mark[row] == SWEPT:
            found = True
            for slot in range(4):
                if points[row, slot] < busy.shape[0]:
                    busy[points[row, slot]] = value
    return found


@kernel
def list_swept(count, mark, lack, rows, depth):
    """Rows that are swept, ascending, into `rows`, and what each lacks [m] into `depth`; returns their number."""
    swept = 0
    for row in range(count):
        if mark[row] == SWEPT:
            rows[swept], depth[swept] = row, lack[row]
            swept += 1
    return swept
