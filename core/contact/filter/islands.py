"""Islands: moving bodies that candidate pairs join. A step is shortened for all bodies of an island alike."""

import numpy as np

from ...jit import kernel
from ...model import Model
from ...union_find import name_islands, unite
from ..contacts import EDGE_EDGE, POINT_TRIANGLE, Contacts


class Islands:
    """The islands of a model's moving bodies."""

    def __init__(self, model: Model) -> None:
        #: Lowest body of each moving body's island.
        self.of_body = np.arange(model.moving_count)

    def follow(self, contacts: Contacts) -> None:
        """Update the islands from a contact set."""
        self.of_body[:] = np.arange(len(self.of_body))
        join_bodies(contacts.first_element, contacts.bodies, contacts.kind, self.of_body)


@kernel
def join_bodies(count, bodies, kind, island):
    """Give bodies of one island the number of its lowest body."""
    for row in range(count):
        a, b = bodies[row, 0], bodies[row, 1]
        if a == b or a >= island.shape[0] or b >= island.shape[0]:
            continue
        if kind[row] == POINT_TRIANGLE or kind[row] == EDGE_EDGE:
            unite(island, a, b)
    name_islands(island)
