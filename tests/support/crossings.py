"""Crossings and bodies inside others in worlds, for tests; `core/contact/crossings.py` finds the edges that pierce."""

import numpy as np
from contact_reference import inside
from softpressure_ext.core import World
from softpressure_ext.core.contact import crossings
from softpressure_ext.core.contact.crossings import crossing_pairs, model_crossings

__all__ = ["crossing_pairs", "model_crossings"]


def world_crossings(world: World) -> int:
    """How often an edge pierces a triangle now."""
    return len(model_crossings(world.model, world.save().positions))


def crossings_by_bodies(world: World) -> dict[tuple[str, str], int]:
    """How often an edge of the first body pierces a triangle of the second one now."""
    model, name = world.model, world.model.body_names
    found = crossings.crossings_by_bodies(model, world.save().positions)
    return {(name[a], name[b]): count for (a, b), count in found.items()}


def swallowed_bodies(world: World) -> list[tuple[str, str]]:
    """Bodies that lie inside another one, both by name: what has passed through whole crosses nothing any more.

    One point of each is asked, so this tells all only where nothing crosses. A surface with a border holds nothing.
    """
    model, x = world.model, world.save().positions
    start, triangles = model.surfaces.body_triangle_start, model.surfaces.triangles
    shapes = [triangles[start[body] : start[body + 1]] for body in range(model.body_count)]
    closed = [
        bool((model.surfaces.triangle_neighbour[a:b] >= 0).all()) for a, b in zip(start[:-1], start[1:], strict=True)
    ]
    found = []
    for body, shape in enumerate(shapes):
        point = x[shape[:1, 0]]
        for other, around in enumerate(shapes):
            if body == other or not closed[other] or min(body, other) >= model.moving_count:
                continue
            corners = x[around.ravel()]
            if ((point > corners.min(axis=0)) & (point < corners.max(axis=0))).all() and inside(point, x, around)[0]:
                found.append((model.body_names[body], model.body_names[other]))
    return found


def assert_nothing_crosses(world: World) -> None:
    """No edge pierces a triangle, no body has got into another one whole, and all positions are finite."""
    assert np.isfinite(world.save().positions).all(), f"frame {world.frame}: positions are not finite"
    crossings = crossings_by_bodies(world)
    assert not crossings, f"frame {world.frame}, edges of the first that pierce the second: {crossings}"
    swallowed = swallowed_bodies(world)
    assert not swallowed, f"frame {world.frame}, the first inside the second: {swallowed}"
