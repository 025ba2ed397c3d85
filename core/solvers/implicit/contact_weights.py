"""Contact weights of edge pairs (`narrow_phase.edge_edge`), kept across the searches within a step.

A weight changes at the start of a substep only, and a hard impact has searches in every substep. If each search started
from zero, pairs that come within the thickness would limit steps but never exert a force.
"""

import numpy as np
from numpy.typing import NDArray

from ...contact.contacts import Contacts
from ...model import FloatArray


class ContactWeights:
    """Contact weights at the start of a step, for a model with `edge_count` edges."""

    def __init__(self, edge_count: int) -> None:
        self._edge_count = edge_count
        self._keys: NDArray[np.int64] = np.zeros(0, np.int64)
        self._weights: FloatArray = np.zeros(0)

    def begin(self, contacts: Contacts) -> None:
        """Set the contact weights of a contact set that was just searched, and whose gaps were evaluated.

        Edge pairs within the thickness keep the weight with which the step began, 0 for new ones; vertices against
        triangles have 1.
        """
        edges = slice(contacts.edge_start, contacts.first_element)
        contacts.contact_weight[: contacts.count] = 1.0
        if contacts.first_element > contacts.edge_start:
            far = contacts.distance[edges] >= contacts.thickness[edges]
            held = np.zeros(len(far))
            if len(self._keys):
                key = self._pair_keys(contacts)
                place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
                held = np.where(self._keys[place] == key, self._weights[place], 0.0)
            contacts.contact_weight[edges] = np.where(far, contacts.target_weight[edges], held)

    def hold(self, contacts: Contacts) -> None:
        """Let searches until the next call keep the present weights of edge pairs."""
        weights = contacts.contact_weight[contacts.edge_start : contacts.first_element]
        used = weights > 0.0
        self._keys, self._weights = self._pair_keys(contacts)[used], weights[used]

    def forget(self) -> None:
        """Let the next search start from the target weights."""
        self._keys, self._weights = self._keys[:0], self._weights[:0]

    def _pair_keys(self, contacts: Contacts) -> NDArray[np.int64]:
        """Keys of the edge pairs, ascending."""
        edges = contacts.edges[contacts.edge_start : contacts.first_element].astype(np.int64)
        return np.asarray(edges[:, 0] * self._edge_count + edges[:, 1])
