"""What a run starts from: the bodies, colliders and hoses of the first frame, as arrays in world space [m].

Only world matrices are in Blender units: they place the positions that the cache keeps, which are in Blender units.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np

from ...core import SoftPressureError
from ...core.array_types import BoolArray
from ..scene_io import collision_filter, digests, goals, simulation_mesh
from ..scene_io.hoses import Hose
from ..scene_io.mesh_io import Float32Array, FloatArray, IntArray

#: A scene, or its settings as plain values.
SceneValues = bpy.types.Scene | SimpleNamespace


@dataclass(slots=True)
class SoftSnapshot:
    """One soft body at the first frame."""

    object_uid: int
    name: str
    positions: FloatArray  # [m], shape (vertex_count, 3)
    triangles: IntArray
    pinned: IntArray  # ascending vertex numbers
    attached: IntArray  # ascending vertex numbers, glued to `attached_uid`
    attached_uid: int  # `session_uid` of a soft or rigid object, 0 if nothing is attached
    attached_name: str
    kind: str  # MEMBRANE, LOOP, TRUSS or SOLID
    settings: dict[str, Any]
    outline: IntArray | None = None  # edges of the outline of a flat body, shape (edge_count, 2)
    pulled: goals.Goals | None = None
    weak: tuple[IntArray, FloatArray] | None = None  # vertices that tear more easily, and their weights
    pressed: tuple[IntArray, FloatArray] | None = None  # vertices that the gas presses on, and their weights
    drawn: simulation_mesh.Drawn | None = None  # that follows an even mesh, of which all above is
    exact: IntArray | None = None  # of the drawn vertices that follow, those that the animation places
    tied: IntArray | None = None  # vertices that threads join to opposite ones, ascending

    @property
    def drawn_positions(self) -> FloatArray:
        """Positions of the drawn vertices [m], shape (drawn_count, 3)."""
        return self.positions if self.drawn is None else self.drawn.positions

    def seen(self, positions: FloatArray, keep_off: simulation_mesh.KeepOff | None = None) -> FloatArray:
        """Where the drawn vertices are for simulated ones at `positions` [m]; see `Drawn.at`."""
        return positions if self.drawn is None else self.drawn.at(positions, keep_off)

    def led(self, drawn_positions: FloatArray, vertices: IntArray | None = None) -> FloatArray:
        """Where the animation has what is simulated, or some vertices of it, for drawn vertices at positions [m]."""
        if self.drawn is None:
            return drawn_positions if vertices is None else drawn_positions[vertices]
        return self.drawn.inverse.positions(drawn_positions, vertices)

    def torn(self, triangles: BoolArray) -> BoolArray:
        """Which drawn triangles are torn, for those that are simulated."""
        return triangles if self.drawn is None else self.drawn.torn(triangles)

    @property
    def drawn_triangles(self) -> IntArray:
        """Triangles of the drawn mesh."""
        return self.triangles if self.drawn is None else self.drawn.triangles


@dataclass(slots=True)
class RigidSnapshot:
    """One rigid body at the first frame."""

    object_uid: int
    name: str
    positions: FloatArray  # of its surface [m], shape (vertex_count, 3)
    triangles: IntArray
    matrix: FloatArray  # world in Blender units from local, shape (4, 4)
    settings: dict[str, Any]
    local: Float32Array | None  # what is drawn of it, None if its shape cannot change with the frame


@dataclass(slots=True)
class ColliderSnapshot:
    """One collider at the first frame, and where it was last."""

    object_uid: int
    name: str
    vertex_count: int  # of the evaluated mesh
    used: IntArray  # vertices of it that take part
    triangles: IntArray  # in numbers of `used`
    positions: FloatArray  # [m], shape (len(used), 3)
    local: Float32Array | None  # of `used`, None if its shape can change with the frame
    matrix: FloatArray  # world [m] from local, shape (4, 4)
    settings: dict[str, Any]


@dataclass(slots=True)
class Snapshot:
    """All bodies at the start of a run."""

    bodies: list[SoftSnapshot]
    rigid: list[RigidSnapshot]
    colliders: list[ColliderSnapshot]
    #: Between those that were captured, of which others may be refused later.
    hoses: list[Hose] = field(default_factory=list)
    #: Length of a Blender unit [m].
    metres: float = 1.0
    #: `session_uid` of the objects that each body touches, by its own, where those are not all.
    accepted: dict[int, frozenset[int]] = field(default_factory=dict)
    #: Why other objects take no part, by `session_uid`, for reasons that are found at a start only.
    refused: dict[int, str] = field(default_factory=dict)
    #: What is told of rigid bodies that change their shape, by `session_uid`: they keep that of the first frame.
    reshaped: dict[int, str] = field(default_factory=dict)

    def uids(self) -> tuple[int, ...]:
        """`session_uid` of the objects that move, in the order of the cache: soft bodies, rigid bodies."""
        return tuple(body.object_uid for body in (*self.bodies, *self.rigid))

    def all_uids(self) -> tuple[int, ...]:
        """`session_uid` of all objects that take part, colliders last."""
        return *self.uids(), *(collider.object_uid for collider in self.colliders)

    def ignored(self) -> BoolArray | None:
        """Pairs of bodies that do not touch, in the order of `all_uids`; None if all do."""
        uids = self.all_uids()
        return collision_filter.ignored(uids, [self.accepted.get(uid) for uid in uids])

    def links(self) -> list[tuple[int, int, Hose]]:
        """The hoses whose bodies take part, with the numbers of these, in an order that does not depend on names."""
        number_of = {body.object_uid: number for number, body in enumerate(self.bodies)}
        known = [hose for hose in self.hoses if {*hose.ends} <= number_of.keys()]
        linked = [(number_of[hose.ends[0]], number_of[hose.ends[1]], hose) for hose in known]
        return sorted(linked, key=lambda link: (link[0], link[1], link[2].conductance))

    def in_units(self, positions: FloatArray) -> FloatArray:
        """Positions [m] in Blender units."""
        return positions / self.metres

    def set_aside(self, refused: dict[int, str]) -> None:
        """Remove refused objects and those attached to them; raises `Refusals` if none is left."""
        self.refused |= refused
        while True:
            kept = [body for body in self.bodies if body.object_uid not in self.refused]
            glued = [body for body in kept if body.attached_uid in self.refused]
            if not glued:
                break
            for body in glued:
                self.refused[body.object_uid] = glued_text(body.name, body.attached_name)
        self.bodies = kept
        self.rigid = [rigid_body for rigid_body in self.rigid if rigid_body.object_uid not in self.refused]
        self.colliders = [collider for collider in self.colliders if collider.object_uid not in self.refused]
        if not self.uids():
            raise Refusals(self.refused)

    def forget_places(self) -> None:
        """Drop the last positions of colliders, which the world's state holds: all that are read next count as
        moved.
        """
        for collider in self.colliders:
            collider.matrix = np.full((4, 4), np.nan)
            collider.positions = np.full_like(collider.positions, np.nan)

    def names(self) -> list[str]:
        """A digest of the shape and settings of each body and collider, independent of object names."""
        plain = []
        for body in self.bodies:
            values = [body.positions, body.triangles, body.pinned, body.attached, body.kind, body.settings]
            values += [] if body.outline is None else [body.outline]
            values += [] if body.weak is None else [*body.weak]
            values += [] if body.pressed is None else ["pressed", *body.pressed]
            values += [] if body.tied is None else ["tied", body.tied]
            values += [] if body.drawn is None else ["drawn", body.drawn.positions, body.exact]
            plain.append(digests.of_arrays(values + ([] if body.pulled is None else body.pulled.values)))
        for rigid_body in self.rigid:
            plain.append(
                digests.of_arrays([rigid_body.positions, rigid_body.triangles, rigid_body.matrix, rigid_body.settings])
            )
        by_uid = dict(zip(self.uids(), plain, strict=True))
        targets = [by_uid.get(body.attached_uid, "") for body in self.bodies]
        glued = [name + target for name, target in zip(plain, targets, strict=False)]
        for collider in self.colliders:
            plain.append(digests.of_arrays([collider.positions, collider.triangles, collider.settings]))
        return glued + plain[len(glued) :]

    def fingerprint(self) -> str:
        """A digest of all of them, in any order."""
        return digests.of_arrays(sorted(self.names()))

    def arrange(self, names: Sequence[str]) -> None:
        """Sort all by these digests, as the state of a continued run has them. Empty keeps the order."""
        if not names:
            return
        rank = {name: number for number, name in enumerate(names)}
        own = iter(self.names())
        parts: list[Any]
        for parts in (self.bodies, self.rigid, self.colliders):
            ranks = [rank[next(own)] for _ in parts]
            parts[:] = [parts[number] for number in np.argsort(ranks, kind="stable")]


class Refusals(SoftPressureError):
    """No object can take part."""

    def __init__(self, refused: dict[int, str]) -> None:
        super().__init__("\n".join(refused.values()))
        #: Sentences by `session_uid`, for reasons that are found at a start only.
        self.refused = refused


def glued_text(name: str, target: str) -> str:
    """Problem of a body that is attached to a refused one."""
    return f"{name}: is attached to {target}, which is skipped. Fix that, or clear Attach To."
