"""Contact weights of edge pairs (`narrow_phase.edge_edge`), kept across the searches within a step.

A weight changes at the start of a substep only, and a hard impact has searches in every substep. Without these, pairs
that come within the thickness in one would start from zero at each search: filtered, but never pushed.
"""

import numpy as np
from numpy.typing import NDArray

from ...contact.contacts import Contacts
from ...model import FloatArray


class ContactWeights:
    """Shares with which a step began, of a model with so many edges."""

    def __init__(self, edge_count: int) -> None:
        self._edge_count = edge_count
        self._keys: NDArray[np.int64] = np.zeros(0, np.int64)
        self._shares: FloatArray = np.zeros(0)

    def begin(self, contacts: Contacts) -> None:
        """Set the shares of a record that was just searched, and whose gaps were evaluated.

        Edges within the thickness have the share with which the step began, none if they are new there; points
        against triangles own all.
        """
        edges = slice(contacts.edge_start, contacts.first_element)
        contacts.share[: contacts.count] = 1.0
        if contacts.first_element > contacts.edge_start:
            far = contacts.distance[edges] >= contacts.thickness[edges]
            held = np.zeros(len(far))
            if len(self._keys):
                key = self._names(contacts)
                place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
                held = np.where(self._keys[place] == key, self._shares[place], 0.0)
            contacts.share[edges] = np.where(far, contacts.wanted[edges], held)

    def hold(self, contacts: Contacts) -> None:
        """Let searches until the next call keep the shares that edges have now."""
        shares = contacts.share[contacts.edge_start : contacts.first_element]
        used = shares > 0.0
        self._keys, self._shares = self._names(contacts)[used], shares[used]

    def forget(self) -> None:
        """The next search starts from what presses."""
        self._keys, self._shares = self._keys[:0], self._shares[:0]

    def _names(self, contacts: Contacts) -> NDArray[np.int64]:
        """What the record's pairs of edges are known by, ascending."""
        edges = contacts.edges[contacts.edge_start : contacts.first_element].astype(np.int64)
        return np.asarray(edges[:, 0] * self._edge_count + edges[:, 1])
