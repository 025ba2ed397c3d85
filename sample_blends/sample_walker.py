"""A walking figure with a soft belly: limbs around an armature, weights by distance, a walk whose feet do not slide."""

import math

import bpy
import numpy as np
from mathutils import Vector

from ..softpressure.scene_io import actions
from ..softpressure.scene_io.blender_types import DataBlock
from ..softpressure.scene_io.mesh_io import FloatArray
from . import sample_parts as parts
from .sample_animal import Limb, surface_net

#: Bones [m] of a figure that looks along +x and stands on z = 0: parent, head, tail. Those of a side are mirrored.
_MIDDLE = {"Hips": ("", (0.0, 0.0, 0.82), (0.0, 0.0, 0.98)), "Chest": ("Hips", (0.0, 0.0, 0.98), (0.0, 0.0, 1.35))}
_SIDE = {
    "Thigh": ("Hips", (0.0, 0.12, 0.82), (0.0, 0.12, 0.46)),
    "Shin": ("Thigh", (0.0, 0.12, 0.46), (0.0, 0.12, 0.09)),
    "Foot": ("Shin", (0.0, 0.12, 0.09), (0.14, 0.12, 0.06)),
    "Arm": ("Chest", (0.0, 0.24, 1.30), (0.02, 0.46, 0.82)),
}
_HEAD = ("Head", ("Chest", (0.0, 0.0, 1.42), (0.0, 0.0, 1.66)))
_BELLY = (0.12, 0.0, 1.0)
#: Middle of what is soft, and how far it reaches [m].
_NAVEL, _SOFT_RADIUS = (0.32, 0.0, 0.98), 0.32
#: Lengths of thigh and shin [m], between hip, knee and ankle.
_THIGH, _SHIN = 0.36, 0.37
#: Frames of two steps.
_CYCLE = 30
#: Weights of the goals where the belly is softest; elsewhere 1, which follows the bones exactly.
_SOFTEST = 0.2


def add(colour: parts.Colour, frame_count: int) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A figure with groups for its bones and `Goal`, and the armature that walks along +x from x = 0."""
    bones = _bones()
    points, quads = surface_net(_limbs(bones), 0.062)
    figure: DataBlock = parts.add_object("Figure", parts.make_mesh("Figure", points, quads.tolist()), colour)
    rig = _armature(bones)
    weights = _weights(points, bones)
    for name, column in zip(bones, weights.T, strict=True):
        _add_group(figure, name, column)
    away = np.linalg.norm(points - _NAVEL, axis=1) / _SOFT_RADIUS
    ramp = np.clip(2.0 * away - 1.0, 0.0, 1.0)
    _add_group(figure, "Goal", _SOFTEST + (1.0 - _SOFTEST) * ramp * ramp)
    figure.parent = rig
    figure.modifiers.new("Armature", "ARMATURE").object = rig
    _walk(rig, frame_count)
    return figure, rig


def _bones() -> dict[str, tuple[str, parts.Point, parts.Point]]:
    """All bones: parent, head, tail."""
    found = dict(_MIDDLE)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, (parent, head, tail) in _SIDE.items():
            above = f"{parent}.{side}" if parent in _SIDE else parent
            found[f"{name}.{side}"] = (above, (head[0], sign * head[1], head[2]), (tail[0], sign * tail[1], tail[2]))
    found[_HEAD[0]] = _HEAD[1]
    return found


def _limbs(bones: dict[str, tuple[str, parts.Point, parts.Point]]) -> list[Limb]:
    """The flesh on the bones, and the belly."""
    radii = {
        "Hips": (0.17, 0.18), "Chest": (0.19, 0.15), "Thigh": (0.115, 0.085), "Shin": (0.08, 0.065),
        "Foot": (0.07, 0.055), "Arm": (0.075, 0.06), "Head": (0.10, 0.13),
    }  # fmt: skip
    limbs: list[Limb] = [(head, tail, *radii[name.split(".")[0]]) for name, (_, head, tail) in bones.items()]
    return [
        *limbs,
        ((0.02, 0.0, _BELLY[2]), _BELLY, 0.23, 0.2),
        ((0.0, -0.2, 1.3), (0.0, 0.2, 1.3), 0.1, 0.1),
    ]


def _weights(points: FloatArray, bones: dict[str, tuple[str, parts.Point, parts.Point]]) -> FloatArray:
    """Weights of the bones at each point, which sum to 1, shape (n, bone_count): by the inverse distance to them."""
    away = []
    for _, head, tail in bones.values():
        a, along = np.array(head), np.array(tail) - np.array(head)
        share = np.clip((points - a) @ along / (along @ along), 0.0, 1.0)
        away.append(np.linalg.norm(points - a - share[:, None] * along, axis=1))
    close = 1.0 / np.maximum(np.stack(away, axis=1), 1e-3) ** 8
    return np.asarray(close / close.sum(axis=1, keepdims=True))


def _add_group(obj: bpy.types.Object, name: str, weights: FloatArray) -> None:
    group = obj.vertex_groups.new(name=name)
    for number in np.flatnonzero(weights > 0.02):
        group.add([int(number)], float(weights[number]), "REPLACE")


def _armature(bones: dict[str, tuple[str, parts.Point, parts.Point]]) -> bpy.types.Object:
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, head, tail) in bones.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.align_roll(Vector((0.0, 1.0, 0.0)).cross(bone.vector))  # its x axis is the figure's y
        if parent:
            bone.parent = data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_render = True
    return rig


def _leg(phase: float) -> tuple[float, float]:
    """Angles [rad] of thigh, forwards, and knee, backwards, at a phase [rad] of the walk."""
    return 0.4 * math.sin(phase), 0.1 + 0.9 * max(0.0, math.cos(phase))


def _ankle(thigh: float, knee: float) -> tuple[float, float]:
    """Where the ankle is from the hip at these angles [m]: ahead and below."""
    return (
        _THIGH * math.sin(thigh) + _SHIN * math.sin(thigh - knee),
        _THIGH * math.cos(thigh) + _SHIN * math.cos(thigh - knee),
    )


def _walk(rig: bpy.types.Object, frame_count: int) -> None:
    """Key a walk: the hips are as far ahead as the foot that stands has them, and as high as the lower foot."""
    ahead = 0.0
    before: dict[str, tuple[float, float]] = {}
    for frame in range(1, frame_count + 1):
        phase = 2.0 * math.pi * (frame - 1) / _CYCLE
        start = min(1.0, (frame - 1) / _CYCLE)  # the first steps grow from standing still
        angles: dict[str, float] = {}
        ankles: dict[str, tuple[float, float]] = {}
        for side, turn in (("L", phase), ("R", phase + math.pi)):
            thigh, knee = (start * angle for angle in _leg(turn))
            ankles[side] = _ankle(thigh, knee)
            angles |= {f"Thigh.{side}": thigh, f"Shin.{side}": -knee, f"Foot.{side}": knee - thigh}
            angles[f"Arm.{side}"] = -0.7 * thigh
        angles["Chest"] = 0.03 * start * math.sin(2.0 * phase)
        standing = "L" if math.cos(phase) < 0.0 else "R"
        if before:
            ahead += before[standing][0] - ankles[standing][0]
        before = ankles
        _pose(rig, frame, angles, ahead, max(ankle[1] for ankle in ankles.values()) - _THIGH - _SHIN)
    for curve in actions.curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def _pose(rig: bpy.types.Object, frame: int, angles: dict[str, float], ahead: float, up: float) -> None:
    """Key the turns of bones about the figure's y axis [rad], forwards, and where the hips are [m]."""
    for name, angle in angles.items():
        bone: DataBlock = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler.x = -angle
        bone.keyframe_insert("rotation_euler", index=0, frame=frame)
    hips: DataBlock = rig.pose.bones["Hips"]
    hips.location = hips.bone.matrix_local.to_3x3().inverted() @ Vector((ahead, 0.0, up))
    hips.keyframe_insert("location", frame=frame)
