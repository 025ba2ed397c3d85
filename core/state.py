"""`State`: everything that changes while a model is simulated, and nothing else."""

from dataclasses import dataclass

import numpy as np

from .model import BoolArray, FloatArray, IntArray, Model


@dataclass(frozen=True, slots=True)
class StuckContacts:
    """Friction springs of the contacts that press, between two substeps."""

    point: IntArray  # or point_count + the first edge, shape (stuck_count,)
    other: IntArray  # the other body, or the second edge
    stretch: FloatArray  # along the surface [m], shape (stuck_count, 3)

    @staticmethod
    def none() -> "StuckContacts":
        """No contact presses."""
        return StuckContacts(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3)))


@dataclass(slots=True)
class State:
    """Positions, velocities and gas of a model at one time."""

    positions: FloatArray  # of all points [m], shape (point_count, 3), world frame
    velocities: FloatArray  # of all points [m/s], shape (point_count, 3)
    touching: BoolArray  # whether a contact pushed each membrane in the last substep, shape (membrane_count,)
    gas: FloatArray  # nRT of each membrane [J], shape (membrane_count,)
    approach_speed: FloatArray  # of each pair in contact [m/s], negative once it parts, (membrane_count, body_count)
    wrong_side: IntArray  # (point, body, facing) of points behind a body's surface, shape (wrong_count, 3)
    stuck: StuckContacts  # friction springs
    frame: int = 0  # whole frames since the start

    @staticmethod
    def at_rest(model: Model) -> "State":
        """The state a simulation starts from."""
        velocities = np.zeros_like(model.rest_positions)
        velocities[: model.vertex_count] = model.start_velocities
        return State(
            positions=model.rest_positions.copy(),
            velocities=velocities,
            touching=np.zeros(model.membrane_count, dtype=bool),
            gas=gas_amount(model, model.gauge_pressure),
            approach_speed=np.zeros((model.membrane_count, model.body_count)),
            wrong_side=np.zeros((0, 3), dtype=np.int32),
            stuck=StuckContacts.none(),
        )

    def copy(self) -> "State":
        """An independent copy."""
        return State(
            positions=self.positions.copy(),
            velocities=self.velocities.copy(),
            touching=self.touching.copy(),
            gas=self.gas.copy(),
            approach_speed=self.approach_speed.copy(),
            wrong_side=self.wrong_side.copy(),
            stuck=self.stuck,
            frame=self.frame,
        )


def gas_amount(model: Model, gauge_pressure: FloatArray) -> FloatArray:
    """nRT [J] that gives each membrane its gauge pressure [Pa] at its rest volume."""
    return (gauge_pressure + model.ambient_pressure) * model.rest_volume
