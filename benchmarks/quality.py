"""Measures of a run: free fall, volume, penetration and rest, from positions alone, the same for every engine."""

import math

import numpy as np
from numba import njit

from .scenes import GRAVITY

#: Frames between two looks at penetration.
EVERY = 3


@njit(cache=True)
def _inside(point, x, triangles):
    """Winding number of a closed surface about a point (van Oosterom and Strackee 1983)."""
    total = 0.0
    for t in range(triangles.shape[0]):
        a, b, c = x[triangles[t, 0]] - point, x[triangles[t, 1]] - point, x[triangles[t, 2]] - point
        la, lb, lc = math.sqrt((a * a).sum()), math.sqrt((b * b).sum()), math.sqrt((c * c).sum())
        volume = (
            a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
        )
        below = la * lb * lc + (a * b).sum() * lc + (b * c).sum() * la + (c * a).sum() * lb
        total += 2.0 * math.atan2(volume, below)
    return total / (4.0 * math.pi)


@njit(cache=True)
def _square_distance(point, a, b, c):
    """Squared distance of a point from a triangle: from its plane over it, else from its nearest side."""
    normal, least, is_over = np.cross(b - a, c - a), np.inf, True
    for start, end in ((a, b), (b, c), (c, a)):
        side, away = end - start, point - start
        is_over = is_over and (np.cross(normal, side) * away).sum() > 0.0
        away = away - min(max((side * away).sum() / (side * side).sum(), 0.0), 1.0) * side
        least = min(least, (away * away).sum())
    return ((point - a) * normal).sum() ** 2 / (normal * normal).sum() if is_over else least


@njit(cache=True)
def _deepest_inside(points, x, triangles):
    """Largest distance from the surface [m] of those points that a closed surface holds, 0 for none."""
    deepest = 0.0
    for k in range(points.shape[0]):
        point = points[k]
        least = np.inf
        for t in range(triangles.shape[0]):
            d = _square_distance(point, x[triangles[t, 0]], x[triangles[t, 1]], x[triangles[t, 2]])
            least = min(least, d)
            if least <= deepest * deepest:
                break
        if least > deepest * deepest and abs(_inside(point, x, triangles)) > 0.5:
            deepest = math.sqrt(least)
    return deepest


def depth_between(points, x, triangles):
    """How deep points lie inside a closed surface [m], at most; 0 where none does."""
    near = ((points > x.min(axis=0)) & (points < x.max(axis=0))).all(axis=1)
    if not near.any():
        return 0.0
    return float(_deepest_inside(points[near], x, np.asarray(triangles)))


def depth_in_boxes(points, centres, turns, halves):
    """How deep points lie inside boxes [m], at most; 0 where none does."""
    deepest = 0.0
    for centre, turn, half in zip(centres, turns, halves, strict=True):
        inside = (half - np.abs((points - centre) @ turn)).min(axis=1)
        deepest = max(deepest, float(inside.max(initial=0.0)))
    return deepest


def depth_between_boxes(centres, turns, half):
    """How deep a corner of one of many equal boxes lies inside another [m]; edges that cross are not seen."""
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = centres[:, None] + np.einsum("bij,cj->bci", turns, signs * half)
    reach = 2.0 * np.linalg.norm(half)
    order = np.argsort(centres[:, 2])
    deepest, heights = 0.0, centres[order, 2]
    for number, centre in enumerate(centres):
        near = order[np.searchsorted(heights, centre[2] - reach) : np.searchsorted(heights, centre[2] + reach)]
        near = near[np.linalg.norm(centres[near] - centre, axis=1) < reach]
        near = near[near != number]
        if len(near):
            inside = (half - np.abs((corners[near].reshape(-1, 3) - centre) @ turns[number])).min(axis=1)
            deepest = max(deepest, float(inside.max()))
    return deepest


def volumes_of(bodies, scene):
    """Volume of each soft body [m^3]."""
    found = []
    for x, (_, triangles) in zip(bodies, scene.soft, strict=True):
        a, b, c = (x[triangles[:, k]] - x[0] for k in range(3))
        found.append(float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0))
    return np.array(found)


class Watch:
    """Follows a run frame by frame; `report` sums it up."""

    def __init__(self, scene, engine):
        self._scene = scene
        self._halves = np.array([np.array(box.size) / 2 for box in scene.rigid]).reshape(-1, 3)
        self._bodies, self._poses = engine.soft(), engine.rigid() if scene.rigid else None
        self._rest = volumes_of(self._bodies, scene)
        self._start = self._height()
        self._frames, self._ratios, self._deepest = 0, [], 0.0
        self._fell = self._speed = None
        self.finite = True

    def look(self, engine):
        """Take in where the engine is after a frame; False where that is nowhere."""
        before, poses_before = self._bodies, self._poses
        self._bodies = engine.soft()
        self._poses = engine.rigid() if self._scene.rigid else None
        self._frames += 1
        everything = [*self._bodies, *(self._poses[:1] if self._poses is not None else ())]
        self.finite = all(np.isfinite(x).all() and np.abs(x).max() < 1e3 for x in everything)
        if not self.finite:
            return False
        if self._scene.soft:
            self._ratios.append(volumes_of(self._bodies, self._scene) / self._rest)
        if self._frames == self._scene.free_frames:
            self._fell = self._start - self._height()
        if self._frames % EVERY == 0 or self._frames == self._scene.frames:
            self._deepest = max(self._deepest, self._depth())
        moved = [now - then for now, then in zip(self._bodies, before, strict=True)]
        if self._poses is not None:
            moved.append(self._corners(self._poses) - self._corners(poses_before))
        square = np.mean([np.mean(np.sum(move**2, axis=-1)) for move in moved])
        self._speed = float(np.sqrt(square)) / self._scene.frame_time
        return True

    def report(self):
        """Error of free fall; worst volume at the end and its error; deepest penetration [m];
        RMS speed in the last frame [m/s]; where the watched body ends [m]. `None` for what was not reached.
        """
        scene = self._scene
        time = scene.free_frames * scene.frame_time
        result = {
            "finite": self.finite,
            "free_fall_error": None if self._fell is None else self._fell / (0.5 * GRAVITY * time**2) - 1.0,
            "volume_ratio_end": None,
            "volume_error": None,
            "deepest": self._deepest if self.finite else None,
            "rest_speed": self._speed if self.finite and self._frames >= scene.frames else None,
            "height_end": self._height() if self.finite else None,
        }
        if self._ratios:
            last = np.mean(self._ratios[-10:], axis=0)
            wanted = 1.0 if scene.volume_ratio is None else scene.volume_ratio
            worst = float(last[np.argmax(np.abs(last - wanted))])
            result["volume_ratio_end"] = worst
            if scene.volume_ratio is not None:
                result["volume_error"] = worst / scene.volume_ratio - 1.0
        return result

    def _height(self):
        """Of the body that is watched: mean of its vertices, which have equal masses, or its centre [m]."""
        if self._scene.watched < 0:
            return float(np.mean([x[:, 2].mean() for x in self._bodies]))
        if self._scene.watched < len(self._bodies):
            return float(self._bodies[self._scene.watched][:, 2].mean())
        return float(self._poses[0][self._scene.watched - len(self._bodies), 2])

    def _corners(self, poses):
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return poses[0][:, None] + np.einsum("bij,bcj->bci", poses[1], signs * self._halves[:, None])

    def _depth(self):
        scene, bodies = self._scene, self._bodies
        places = np.array([box.centre for box in scene.colliders])
        upright = np.broadcast_to(np.eye(3), (len(places), 3, 3))
        halves = np.array([box.size for box in scene.colliders]) / 2
        points = list(bodies)
        deepest = 0.0
        if self._poses is not None:
            points.append(self._corners(self._poses).reshape(-1, 3))
            for x in bodies:
                deepest = max(deepest, depth_in_boxes(x, *self._poses, self._halves))
            if len(scene.rigid) > 1:
                deepest = max(deepest, depth_between_boxes(*self._poses, self._halves[0]))
        for x in points:
            deepest = max(deepest, depth_in_boxes(x, places, upright, halves))
        for number, x in enumerate(bodies):
            for other, y in enumerate(points):
                if other != number:
                    deepest = max(deepest, depth_between(y, x, scene.soft[number][1]))
        return deepest
