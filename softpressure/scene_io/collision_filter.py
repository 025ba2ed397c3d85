"""Contact between bodies: all pairs, except those that a body's collision collection excludes."""

from collections.abc import Sequence

import bpy
import numpy as np
from numpy.typing import NDArray


def accepted(obj: bpy.types.Object) -> frozenset[int] | None:
    """`session_uid` of the objects in a body's collision collection and those within it; None for all."""
    collection = obj.softpressure.collision_collection
    return None if collection is None else frozenset(other.session_uid for other in collection.all_objects)


def ignored(uids: Sequence[int], accepted_of: Sequence[frozenset[int] | None]) -> NDArray[np.bool_] | None:
    """Pairs of bodies without contact, for the core, shape (body_count, body_count); None for none.

    `uids`: `session_uid` of each body's object; `accepted_of`: result of `accepted` for each.
    """
    if all(each is None for each in accepted_of):
        return None
    return np.array([[each is not None and uid not in each for uid in uids] for each in accepted_of])
