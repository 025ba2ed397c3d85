"""Which particles of a truss are near each other: pairs of circles, or spheres in space (Kurmaly and Wu 2021, 4).

The particles of each truss are sorted into cubes as wide as the reach; each looks into its own cube and the 26 around
it. Of a flat truss the two copies of its points are two groups that do not see each other.
"""

import numpy as np

from ..array_types import FloatArray, IntArray
from ..jit import kernel

#: Cubes along one axis at most: where points run away from each other, cubes are larger, and keys stay whole numbers.
MOST_CUBES = 1_000_000


def near_pairs(x: FloatArray, points: IntArray, reach: float) -> IntArray:
    """Pairs of `points`, the lower number first, nearer to each other than `reach` [m] at x, ascending, (n, 2)."""
    if len(points) < 2:
        return np.zeros((0, 2), np.int32)
    spots = x[points]
    low = spots.min(axis=0)
    size = max(reach, float((spots.max(axis=0) - low).max()) / MOST_CUBES)
    cube = ((spots - low) / size).astype(np.int64) + 1
    count = cube.max(axis=0) + 2  # an empty layer around all
    key = (cube[:, 0] * count[1] + cube[:, 1]) * count[2] + cube[:, 2]
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    steps = np.indices((3, 3, 3)).reshape(3, -1) - 1
    around = (steps[0] * count[1] + steps[1]) * count[2] + steps[2]
    found = np.zeros((0, 2), np.int32)
    needed = collect_pairs(spots, order, sorted_key, key, around, reach, found)
    found = np.zeros((needed, 2), np.int32)
    collect_pairs(spots, order, sorted_key, key, around, reach, found)
    pairs = np.sort(points[found], axis=1)
    return np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], dtype=np.int32)


@kernel
def collect_pairs(spots, order, sorted_key, key, around, reach, found):
    """Number of pairs nearer than `reach`; as many as have room are written into `found`, shape (room, 2)."""
    count = 0
    for i in range(spots.shape[0]):
        for step in around:
            wanted = key[i] + step
            place = np.searchsorted(sorted_key, wanted)
            while place < sorted_key.shape[0] and sorted_key[place] == wanted:
                j = order[place]
                place += 1
                if j <= i:
                    continue
                dx, dy, dz = spots[i, 0] - spots[j, 0], spots[i, 1] - spots[j, 1], spots[i, 2] - spots[j, 2]
                if dx * dx + dy * dy + dz * dz < reach * reach:
                    if count < found.shape[0]:
                        found[count, 0], found[count, 1] = i, j
                    count += 1
    return count
