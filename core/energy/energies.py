"""The list of energies of elements, and the elements of a model.

Springs, hinges, gas and tetrahedra are not in it: kernels of their own (`solvers/explicit/skins.py`) evaluate several
at a time, and the last three depend on more than one sum of points.
"""

import numpy as np

from ..array_types import FloatArray, IntArray
from ..model import Model
from .attachment import ATTACHMENT
from .elements import Elements, Energy, address_of
from .stiffening import STIFFENING

#: All energies of elements: a new one needs its file and an entry here.
ENERGIES: tuple[Energy, ...] = (ATTACHMENT, STIFFENING)


class ModelElements:
    """The elements of a model; `rows`: their arrays for kernels.

    `joints`: whether joints (`Energy.is_joint`) are included. `place`: numbers of the model's points in the kernels'
    arrays, shape (point_count,); the model's if None.
    """

    def __init__(self, model: Model, *, joints: bool = True, place: IntArray | None = None) -> None:
        self._model = model
        self._energies = [energy for energy in ENERGIES if joints and energy.is_joint]
        self._energies += [energy for energy in ENERGIES if not energy.is_joint]
        parts = [energy.elements(model) for energy in self._energies]
        counts = np.array([len(part.points) for part in parts], np.int64)
        widths = np.array([part.parameters.shape[1] for part in parts], np.int64)
        addresses = np.array([address_of(energy.potential) for energy in self._energies], np.int64)
        self._ends = np.cumsum(counts)
        width = np.repeat(widths, counts)
        points = np.concatenate([np.zeros((0, 4), np.int32), *(part.points for part in parts)]).astype(np.int32)
        self.rows = Elements(
            points=points if place is None else place[points],
            weights=np.concatenate([np.zeros((0, 4)), *(part.weights for part in parts)]),
            offset=np.concatenate([np.zeros((0, 3)), *(part.offset for part in parts)]),
            parameters=np.concatenate([np.zeros(0), *(part.parameters.ravel() for part in parts)]),
            first=np.cumsum(width) - width,
            potential=np.repeat(addresses, counts),
        )

    def __len__(self) -> int:
        return len(self.rows.first)

    def begin(self, x: FloatArray) -> None:
        """Update the offsets of joints for a step that starts at x [m], all points of the model."""
        for energy, last, start in zip(self._energies, self._ends, np.concatenate([[0], self._ends[:-1]]), strict=True):
            if energy.offset is not None and last > start:
                self.rows.offset[start:last] = energy.offset(self._model, x)

    def rigid_bodies(self) -> IntArray:
        """Body numbers of the rigid bodies with points of elements."""
        body = self._model.point_body[self.rows.points[self.rows.weights != 0.0]]
        return np.unique(body[(body >= self._model.membrane_count) & (body < self._model.moving_count)])
