"""Contact weights of edge pairs (`narrow_phase.edge_edge`), kept across the searches within a step.

A weight changes at the start of a substep only, and a hard impact has searches in every substep. If a search set it
anew, pairs within the thickness would lose their force in mid-impact, and be pressed together until no step is left.
"""

import numpy as np
from numpy.typing import NDArray

from ...contact.contacts import Contacts
from ...model import FloatArray
from ...state import FrictionSprings


class ContactWeights:
    """Contact weights of the pairs known so far in a step, of a model with so many edges and points."""

    def __init__(self, edge_count: int, point_count: int) -> None:
        self._edge_count, self._point_count = edge_count, point_count
        self._keys: NDArray[np.int64] = np.zeros(0, np.int64)
        self._weights: FloatArray = np.zeros(0)

    def start(self, contacts: Contacts, stuck: FrictionSprings) -> None:
        """Begin a step from a state: its pairs, `stuck`, have their weights again."""
        edge = stuck.point >= self._point_count
        keys = (stuck.point[edge].astype(np.int64) - self._point_count) * self._edge_count + stuck.other[edge]
        order = np.argsort(keys)
        self._keys, self._weights = keys[order], stuck.share[edge][order]
        weights = contacts.contact_weight[contacts.edge_start : contacts.first_element]
        weights[:] = self._known(contacts, weights)

    def begin(self, contacts: Contacts) -> None:
        """Set the contact weights of a contact set that was just searched, and whose gaps were evaluated.

        Edge pairs within the thickness keep their weight, 0 for new ones; farther ones have their target; vertices
        against triangles have 1.
        """
        edges = slice(contacts.edge_start, contacts.first_element)
        contacts.contact_weight[: contacts.count] = 1.0
        far = contacts.distance[edges] >= contacts.thickness[edges]
        known = self._known(contacts, np.zeros(len(far)))
        contacts.contact_weight[edges] = np.where(far, contacts.target_weight[edges], known)
        self.hold(contacts)

    def hold(self, contacts: Contacts) -> None:
        """Let searches from now on keep the present weights of edge pairs."""
        weights = contacts.contact_weight[contacts.edge_start : contacts.first_element]
        used = weights > 0.0
        self._keys, self._weights = self._pair_keys(contacts)[used], weights[used]

    def _known(self, contacts: Contacts, otherwise: FloatArray) -> FloatArray:
        """Weight of each edge pair of a contact set, `otherwise` of those that are not known."""
        if not len(self._keys):
            return otherwise
        key = self._pair_keys(contacts)
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[place] == key, self._weights[place], otherwise)

    def _pair_keys(self, contacts: Contacts) -> NDArray[np.int64]:
        """Keys of the edge pairs, ascending."""
        edges = contacts.edges[contacts.edge_start : contacts.first_element].astype(np.int64)
        return np.asarray(edges[:, 0] * self._edge_count + edges[:, 1])
