"""Contact weights of edge pairs: what the geometry asks for (`narrow_phase.edge_edge`) when a step begins, or when a
pair comes within the reach of a search, and kept for the rest of the step.

So the energy that a step minimises does not jump. If a search set the weights of what is near anew, edges could lose
their force in mid-impact, and be pressed together until no step is left.
"""

import numpy as np
from numpy.typing import NDArray

from ...contact.contacts import Contacts
from ...model import FloatArray


class ContactWeights:
    """Contact weights of the pairs known so far in a step, for a model with `edge_count` edges."""

    def __init__(self, edge_count: int) -> None:
        self._edge_count = edge_count
        self._keys: NDArray[np.int64] = np.zeros(0, np.int64)
        self._weights: FloatArray = np.zeros(0)

    def forget(self) -> None:
        """Begin a frame: the first search sets all weights."""
        self._keys, self._weights = self._keys[:0], self._weights[:0]

    def renew(self, contacts: Contacts) -> bool:
        """Begin a step: set all weights, with gaps just evaluated; True if one of a pair that may press has changed."""
        edges = slice(contacts.edge_start, contacts.first_element)
        near = contacts.distance[edges] < contacts.thickness[edges]
        has_changed = bool((contacts.contact_weight[edges] != contacts.target_weight[edges])[near].any())
        contacts.contact_weight[edges] = contacts.target_weight[edges]
        self._hold(contacts)
        return has_changed

    def begin(self, contacts: Contacts) -> None:
        """Set the weights of a contact set that was just searched, and whose gaps were evaluated.

        Edge pairs within the thickness keep theirs, if they had one; vertices against triangles have 1.
        """
        edges = slice(contacts.edge_start, contacts.first_element)
        contacts.contact_weight[: contacts.count] = 1.0
        weights = contacts.target_weight[edges].copy()
        if len(self._keys):
            key = self._pair_keys(contacts)
            place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
            near = contacts.distance[edges] < contacts.thickness[edges]
            weights = np.where(near & (self._keys[place] == key), self._weights[place], weights)
        contacts.contact_weight[edges] = weights
        self._hold(contacts)

    def _hold(self, contacts: Contacts) -> None:
        """Remember the weights of a contact set."""
        weights = contacts.contact_weight[contacts.edge_start : contacts.first_element]
        used = weights > 0.0
        self._keys, self._weights = self._pair_keys(contacts)[used], weights[used]

    def _pair_keys(self, contacts: Contacts) -> NDArray[np.int64]:
        """Keys of the edge pairs, ascending."""
        edges = contacts.edges[contacts.edge_start : contacts.first_element].astype(np.int64)
        return np.asarray(edges[:, 0] * self._edge_count + edges[:, 1])
