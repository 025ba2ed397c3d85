"""The scene's time: how much of it passes per frame of the timeline, and which frame its animation is at.

*Time Stretching* maps frames of the timeline to frames of animation; *Speed* scales the time of the simulation alone.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .mesh_io import FloatArray

#: What the functions below read of `scene.render`.
RENDER = ("fps", "fps_base", "frame_map_old", "frame_map_new")


def frame_rate(scene: Any) -> float:
    """Frames of the timeline per simulated second [1/s]."""
    render = scene.render
    rate = float(render.fps / render.fps_base)
    return rate / (stretch(scene) * scene.softpressure.speed)


def stretch(scene: Any) -> float:
    """Frames of animation per frame of the timeline (*Time Stretching*); 1 without it."""
    return float(scene.render.frame_map_old / scene.render.frame_map_new)


def animation_frames(scene: Any, frames: Sequence[int]) -> FloatArray:
    """Where Blender evaluates curves at these frames of the timeline [frames], shape (frame_count,)."""
    return np.array(frames, dtype=float) * stretch(scene)
