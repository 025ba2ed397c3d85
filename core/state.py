"""`State`: all data of a model that change during a simulation."""

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from .animation.keyed import Keyed
from .array_types import BoolArray, FloatArray, IntArray
from .bodies.rigid.motion import start_poses
from .model import Model, RigidBodies

KeyArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PairSpeeds:
    """Approach speeds of the pairs of bodies in contact."""

    key: KeyArray  # lower body * body_count + higher body, ascending, shape (pair_count,)
    speed: FloatArray  # [m/s], negative once they separate, shape (pair_count,)

    @staticmethod
    def none() -> "PairSpeeds":
        """Nothing touches."""
        return PairSpeeds(np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class HeldImpulses:
    """Impulses at the contact points of rigid bodies in the last step of the impulse solver."""

    pair: IntArray  # numbers of the rigid bodies, the lower one first, ascending, shape (pair_count, 2)
    count: IntArray  # contact points of each pair, shape (pair_count,)
    pair_anchor: FloatArray  # in the first body's frame [m], shape (pair_count, points, 3)
    pair_impulse: FloatArray  # on the second body [N s], shape (pair_count, points, 3)
    body: IntArray  # rigid bodies at contacts with colliders, ascending, shape (given_count,)
    anchor: FloatArray  # in the body's frame [m], shape (given_count, 3)
    impulse: FloatArray  # on the collider [N s], shape (given_count, 3)

    @staticmethod
    def none() -> "HeldImpulses":
        """Nothing touches."""
        pairs, rows = np.zeros((0, 1, 3)), np.zeros((0, 3))
        return HeldImpulses(
            np.zeros((0, 2), np.int32), np.zeros(0, np.int32), pairs, pairs, np.zeros(0, np.int32), rows, rows
        )


@dataclass(slots=True)
class RigidMotion:
    """Poses and velocities of the rigid bodies."""

    pose: FloatArray  # centre of mass [m], quaternion (w, x, y, z) from the start orientation, shape (rigid_count, 7)
    velocity: FloatArray  # of the centres of mass [m/s], shape (rigid_count, 3)
    angular_momentum: FloatArray  # about the centres of mass [kg m^2/s], world axes, shape (rigid_count, 3)

    @staticmethod
    def at_start(rigid: RigidBodies) -> "RigidMotion":
        """The start motion of the builder."""
        return RigidMotion(
            start_poses(rigid.centre),
            rigid.velocity.copy(),
            np.einsum("bij,bj->bi", rigid.inertia, rigid.angular_velocity),
        )

    def copy(self) -> "RigidMotion":
        """An independent copy."""
        return RigidMotion(self.pose.copy(), self.velocity.copy(), self.angular_momentum.copy())


#: Facing in `State.wrong_side` of a point that stays crossed: it has no contact with that body.
STAYS = 2


@dataclass(slots=True)
class State:
    """Positions, velocities and gas of a model at one time."""

    positions: FloatArray  # of all points [m], shape (point_count, 3), world frame
    velocities: FloatArray  # of all points [m/s], shape (point_count, 3)
    rigid: RigidMotion
    touching: BoolArray  # whether each moving body had an active contact in the last substep, shape (moving_count,)
    gas: FloatArray  # nRT of each membrane [J], shape (membrane_count,)
    approach: PairSpeeds
    # (point, body, facing) of points behind a body's surface, shape (wrong_count, 3). Facing: see `WrongSide`; STAYS; 0
    # for a body whose self-contact is suspended
    wrong_side: IntArray
    held: HeldImpulses
    still_pose: FloatArray  # pose of each rigid body when it came to rest, shape (rigid_count, 7)
    still_time: FloatArray  # time since then [s], shape (rigid_count,)
    # size of each vertex's last change of velocity [m/s], for the simplified implicit steps, shape (vertex_count,)
    velocity_change: FloatArray
    # nRT of each membrane at the end of a pressure ramp [J], shape (membrane_count,)
    final_gas: FloatArray
    # averaged contact force on each membrane over its mass [m/s^2], shape (membrane_count, 3)
    load: FloatArray
    particles: IntArray  # features on which the particles of the pairs of skins rest; empty before their first step
    keyed: Keyed  # animated values of the last frame
    frame: int = 0  # whole frames since the start
    # time for which each moving body has been at rest [s], with the explicit solver, shape (moving_count,)
    still: FloatArray = field(default_factory=lambda: np.zeros(0))
    goals: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))  # positions [m], shape (goal_count, 3)
    # Rest lengths of all springs [m], shape (edge_count,); empty where none changes (`plasticity/`)
    rest_lengths: FloatArray = field(default_factory=lambda: np.zeros(0))
    # nRT that left each membrane through holes, hoses and pumps [J], shape (membrane_count,), see `flow/`
    lost_gas: FloatArray = field(default_factory=lambda: np.zeros(0))
    valves: FloatArray = field(default_factory=lambda: np.zeros(0))  # of the hoses, 0 to 1, shape (hose_count,)
    # Gravity less the acceleration of each membrane with a weight inside, averaged [m/s^2], shape (membrane_count, 3)
    felt_gravity: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    # normal of the surface of what fills it, upwards, and its rate of change [1/s], shape (membrane_count, 6)
    surface: FloatArray = field(default_factory=lambda: np.zeros((0, 6)))
    # Mean force [N] and torque [N m] of soft bodies on each rigid body, shape (rigid_count, 6), and whether in the last
    # tick other rigid bodies or colliders pressed it, a soft body at rest held it, and one not at rest was near it,
    # shape (rigid_count, 3); empty before the first tick (`solvers/explicit/rigid_ticks.py`)
    soft_load: FloatArray = field(default_factory=lambda: np.zeros((0, 6)))
    rigid_marks: BoolArray = field(default_factory=lambda: np.zeros((0, 3), dtype=bool))
    begins: bool = True  # whether contacts may start without a gap: at the start, and where held bodies are released

    @staticmethod
    def at_rest(model: Model) -> "State":
        """The state a simulation starts from."""
        velocities = np.zeros_like(model.rest_positions)
        velocities[: model.vertex_count] = model.start_velocities
        rigid = slice(model.vertex_count, model.moving_point_count)
        owner = model.point_body[rigid] - model.membrane_count
        turning = np.cross(model.rigid.angular_velocity[owner], model.rigid.arm)
        velocities[rigid] = model.rigid.velocity[owner] + turning
        return State(
            positions=model.start_positions.copy(),
            velocities=velocities,
            rigid=RigidMotion.at_start(model.rigid),
            touching=np.zeros(model.moving_count, dtype=bool),
            gas=gas_amount(model, model.gauge_pressure),
            approach=PairSpeeds.none(),
            wrong_side=np.zeros((0, 3), dtype=np.int32),
            held=HeldImpulses.none(),
            still_pose=start_poses(model.rigid.centre),
            still_time=np.zeros(model.rigid_count),
            still=np.zeros(model.moving_count),
            velocity_change=np.zeros(model.vertex_count),
            final_gas=gas_amount(model, model.gauge_pressure),
            load=np.zeros((model.membrane_count, 3)),
            particles=np.zeros(0, dtype=np.int32),
            keyed=Keyed.at_start(model),
            goals=model.goals.rest.copy(),
            rest_lengths=model.edges.rest_length[: None if model.creeps else 0].copy(),
            lost_gas=np.zeros(model.membrane_count),
            valves=model.hoses.valve.copy(),
            felt_gravity=np.zeros((model.membrane_count if model.fill_mass.any() else 0, 3)),
            surface=level_surfaces(model),
        )

    def copy(self) -> "State":
        """An independent copy; it shares what is replaced, never changed."""
        other = object.__new__(State)
        for name in _NAMES:
            value = getattr(self, name)
            setattr(other, name, value.copy() if name in _CHANGED else value)
        return other


_NAMES = tuple(each.name for each in fields(State))
#: Fields of `State` that change in place.
_CHANGED = {
    "positions", "velocities", "rigid", "touching", "gas", "wrong_side", "still_pose", "still_time", "velocity_change",
    "final_gas", "load", "particles", "still",
}  # fmt: skip


def gas_amount(model: Model, gauge_pressure: FloatArray) -> FloatArray:
    """nRT [J] that gives each membrane its gauge pressure [Pa] at rest."""
    return np.array([gas_of(model, body, pressure) for body, pressure in enumerate(gauge_pressure.tolist())])


def gas_of(model: Model, membrane: int, gauge_pressure: float) -> float:
    """nRT [J] that gives a membrane its gauge pressure [Pa] at rest."""
    filling = model.fillings[membrane]
    volume = float(model.rest_volume[membrane]) if filling is None else filling.volume(gauge_pressure)
    share = volume / float(model.rest_volume[membrane]) if model.has_gas(membrane) else 1.0
    gas = (gauge_pressure + float(model.gas_base[membrane])) * volume
    return float(gas * share ** (float(model.gas_exponent[membrane]) - 1.0))


def gas_of_amount(model: Model, membrane: int, amount: float) -> float:
    """What the gas law of a membrane takes for an nRT [J] at the drawn volume: that, unless the volume is held."""
    return amount + float((model.gas_base[membrane] - model.ambient_pressure) * model.drawn_volume[membrane])


def volume_share(model: Model) -> FloatArray:
    """Volume at the start over that at rest, 1 without gas, shape (membrane_count,)."""
    share = np.ones(model.membrane_count)
    np.divide(model.start_volume, model.rest_volume, out=share, where=model.rest_volume > 0.0)
    return share


def level_surfaces(model: Model) -> FloatArray:
    """`State.surface` of liquids at rest across gravity; empty if no membrane is filled."""
    size = float(np.sqrt(model.gravity @ model.gravity))
    up = -model.gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    return np.tile([*up, 0.0, 0.0, 0.0], (model.membrane_count if model.fill_mass.any() else 0, 1))
