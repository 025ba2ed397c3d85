"""Contact impulses of a step, summed per pair of bodies."""

import numpy as np

from ..contact.contacts import Contacts
from ..jit import kernel
from ..model import FloatArray, IntArray, Model
from ..state import KeyArray, PairSpeeds


class PairImpulses:
    """Sums over the contacts of each pair of bodies that the contact set holds; one row per pair, by `key`.

    key: lower body * body_count + higher body, ascending, shape (pair_count,); low, high: the bodies; impulse: net
    normal impulse on the lower body [N s], shape (pair_count, 3); point: where it acts [m], times `load`; load: sum of
    the sizes of all normal impulses [N s].
    """

    def __init__(self, model: Model) -> None:
        self._body_count = model.body_count
        self._record = -1
        self._row_pair: IntArray = np.zeros(0, np.int32)
        self._set(np.zeros(0, np.int64))

    def _set(self, key: KeyArray) -> None:
        self.key = key
        self.low: IntArray = (key // self._body_count).astype(np.int32)
        self.high: IntArray = (key % self._body_count).astype(np.int32)
        self.impulse: FloatArray = np.zeros((len(key), 3))
        self.point: FloatArray = np.zeros((len(key), 3))
        self.load: FloatArray = np.zeros(len(key))

    def clear(self) -> None:
        """No impulse yet."""
        self.impulse[:] = 0.0
        self.point[:] = 0.0
        self.load[:] = 0.0

    def add(self, contacts: Contacts, record: int, x: FloatArray, normal_force: FloatArray, time: float) -> None:
        """Add `normal_force` [N] of the contacts over a time [s]; x positions of all points [m].

        `record` numbers the searches: pairs are listed anew when it changes.
        """
        if record != self._record:
            self._follow(contacts)
            self._record = record
        add_pairs(
            contacts.count, x, contacts.points, contacts.weights, contacts.normal, contacts.bodies, self._row_pair,
            normal_force, time, self.impulse, self.point, self.load,
        )  # fmt: skip

    def _follow(self, contacts: Contacts) -> None:
        """List the pairs of the contact set, besides those that have an impulse already."""
        first, second = contacts.bodies[: contacts.count].astype(np.int64).T
        row_key = np.minimum(first, second) * self._body_count + np.maximum(first, second)
        # rows of a pair follow each other: one of each run is enough to sort
        key = np.unique(row_key[np.flatnonzero(np.diff(row_key, prepend=-1))])
        kept = self.load > 0.0
        old = self.key[kept], self.impulse[kept], self.point[kept], self.load[kept]
        self._set(np.union1d(old[0], key))
        place = np.searchsorted(self.key, old[0])
        self.impulse[place], self.point[place], self.load[place] = old[1:]
        self._row_pair = np.searchsorted(self.key, row_key).astype(np.int32)

    def speeds(self, known: PairSpeeds) -> FloatArray:
        """Approach speed [m/s] of each pair from a state, 0 for pairs that the state does not have."""
        if len(known.key) == 0:
            return np.zeros(len(self.key))
        place = np.minimum(np.searchsorted(known.key, self.key), len(known.key) - 1)
        return np.where(known.key[place] == self.key, known.speed[place], 0.0)


@kernel
def add_pairs(count, x, points, weights, normal, bodies, row_pair, normal_force, time, impulse, point, load):
    """Add the normal impulses of all contacts to their pairs; contacts of a body with itself change none."""
    for c in range(count):
        n = time * normal_force[c]
        if n == 0.0 or bodies[c, 0] == bodies[c, 1]:
            continue
        sign = 1.0 if bodies[c, 0] < bodies[c, 1] else -1.0
        pair = row_pair[c]
        load[pair] += n
        for axis in range(3):
            impulse[pair, axis] += sign * n * normal[c, axis]
            # halfway between the two sides
            middle = 0.0
            for slot in range(4):
                middle += 0.5 * abs(weights[c, slot]) * x[points[c, slot], axis]
            point[pair, axis] += n * middle
