"""Kinematics: prescribed motion of pinned vertices and colliders."""

from dataclasses import dataclass

from ..array_types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Motion:
    """Prescribed motion of the pinned vertices and the colliders during one frame: a straight line in time."""

    points: IntArray  # numbers of the points that move, shape (moving_count,)
    start: FloatArray  # [m], shape (moving_count, 3)
    end: FloatArray  # [m], shape (moving_count, 3)
    frame_time: float  # [s]

    def positions(self, share: float) -> FloatArray:
        """Positions [m] after a share (0 to 1) of the frame."""
        # exact at both ends, so that a still collider stays where it is, bit for bit
        return self.start + share * (self.end - self.start)

    @property
    def velocities(self) -> FloatArray:
        """Velocities [m/s]."""
        velocity: FloatArray = (self.end - self.start) / self.frame_time
        return velocity
