"""Shared by the tests in Blender: an empty file, the extension, bodies, and a quick stand-in for the solver."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
import shapes
import softpressure_ext
from softpressure_ext.core import FrameInput, MethodOptions, Model, State, prepare
from softpressure_ext.core.bodies.lattice.follow import followed
from softpressure_ext.softpressure.scene_io import actions
from softpressure_ext.softpressure.simulation import build, interactive
from softpressure_ext.softpressure.state import jobs, sessions, worker_thread

_registered = False
# Blender's own add-ons stay as they are: an empty file would take them away and back, for half of its time.
_addons: Any = import_module("addon_utils")
_addons.disable_all = _addons.reset_all = lambda **_: None
#: A closed mesh of four vertices.
TETRAHEDRON = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
OUTWARD = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


class FallingWorld:
    """Has the interface of `World`, but its vertices only fall freely; keeps what it was given."""

    made: list["FallingWorld"] = []
    crossing_triangle_count, added_mass, steps_per_frame = 0, 0.0, 1

    def __init__(
        self, model: Model, *, frame_rate: float, substeps: int, threads: int, solver: str, options: MethodOptions
    ) -> None:
        self.model, self.frame_rate, self.substeps, self.threads = model, frame_rate, substeps, threads
        self.solver, self.options = solver, options
        self.state = State.at_rest(model)
        self.given: list[FrameInput] = []
        FallingWorld.made.append(self)

    def advance_frame(self, given: FrameInput) -> None:
        self.given.append(given)
        state, step = self.state, 1.0 / self.frame_rate
        free = ~self.model.pinned
        count = self.model.vertex_count
        state.velocities[:count][free] += step * self.model.gravity
        state.positions[:count][free] += step * state.velocities[:count][free]
        for membrane, positions in given.pinned_positions.items():
            points = self._points(membrane)
            state.positions[points[self.model.pinned[points]]] = positions
        for membrane, positions in given.held.items():
            state.positions[self._points(membrane)] = positions
        state.frame += 1

    def beside(self, _membrane: int, drawn: Any, _follower: Any, _followed: Any) -> Any:
        return drawn  # nothing touches

    def rigid_transform(self, rigid: int) -> Any:
        """Falls as the vertices do, and turns about its centre at the speed it started with."""
        solids, time = self.model.rigid, self.state.frame / self.frame_rate
        speed = float(np.linalg.norm(solids.angular_velocity[rigid]))
        axis = solids.angular_velocity[rigid] / speed if speed else np.zeros(3)
        x, y, z = np.sin(0.5 * speed * time) * axis
        w, centre, transform = np.cos(0.5 * speed * time), solids.centre[rigid], np.eye(4)
        transform[:3, :3] = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        count = self.state.frame
        fall = self.model.gravity * count * (count + 1) / (2.0 * self.frame_rate**2)
        transform[:3, 3] = centre + solids.velocity[rigid] * time + fall - transform[:3, :3] @ centre
        return transform

    def positions(self, membrane: int) -> Any:
        return followed(self.model, membrane, self._points(membrane), self.state.positions)

    def rigid_transforms(self) -> Any:
        return np.reshape([self.rigid_transform(rigid) for rigid in range(self.model.rigid_count)], (-1, 4, 4))

    def contact_forces(self, membrane: int) -> Any:
        """Of each vertex its number, times the number of the frame."""
        return np.arange(len(self.positions(membrane)), dtype=float) * self.state.frame

    def particle_places(self) -> Any:
        """There are none."""
        return np.zeros((0, 3))

    def torn_triangles(self, membrane: int, _triangles: Any) -> Any:
        """Nothing tears."""
        return np.zeros(np.diff(self.model.surfaces.body_triangle_start)[membrane], bool)

    def diagnostics(self) -> Any:
        told = {
            "volume_ratio": 0.982,
            "gauge_pressure": 2310.0,
            "volume": 0.5,
            "kinetic_energy": 2.0,
            "liquid_level": 0.12,
        }
        bodies = [SimpleNamespace(gas=float(gas), **told) for gas in self.state.gas]
        return SimpleNamespace(bodies=bodies, reports=(), rigid_energies=np.zeros(self.model.rigid_count))

    def save(self) -> State:
        return self.state.copy()

    def load(self, state: State) -> None:
        self.state = state.copy()

    def _points(self, membrane: int) -> Any:
        start = self.model.body_point_start
        return self.model.point_of_vertex[start[membrane] : start[membrane + 1]]


@pytest.fixture(autouse=True)
def empty_file() -> Iterator[None]:
    """Factory settings without objects, the extension registered, nothing remembered."""
    global _registered
    if not _registered:
        softpressure_ext.register()
        _registered = True
    bpy.ops.wm.read_factory_settings(use_empty=True)
    sessions.forget_all()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    yield
    sessions.is_rendering = False


@pytest.fixture
def falling(monkeypatch: pytest.MonkeyPatch) -> type[FallingWorld]:
    """The quick stand-in instead of the solver."""
    FallingWorld.made.clear()
    monkeypatch.setattr(build, "World", FallingWorld)
    monkeypatch.setattr(prepare, "is_prepared", lambda *_: True)  # it has no kernels
    return FallingWorld


@pytest.fixture
def weightless() -> None:
    """Bodies do not fall."""
    bpy.context.scene.use_gravity = False


@pytest.fixture
def begin() -> Iterator[Any]:
    """Begins interactive play of the scene; ended with the test."""
    made = []

    def start() -> interactive.InteractivePlay:
        made.append(interactive.InteractivePlay(bpy.context.scene))
        finish(made[-1].begin(worker_thread.at_once))
        return made[-1]

    yield start
    for one in made:
        one.end()


def finish(work: jobs.Work) -> None:
    """Do all of a job at once."""
    for _ in jobs.whole(work):
        pass


def add_ball(name: str = "Ball", location: Any = (0, 0, 5), kind: str | None = "SOFT", **settings: Any) -> Any:
    """A small sphere, as a soft body unless told otherwise."""
    options = {"segments": 8, "ring_count": 6, "radius": 0.5, "location": location}
    return give(add_primitive("uv_sphere", kind, name, **options), **settings)


def add_primitive(shape: str, kind: str | None = "SOFT", name: str = "", **options: Any) -> Any:
    """One of the meshes that Blender offers, as a soft body unless told otherwise, and with Blender's name."""
    getattr(bpy.ops.mesh, f"primitive_{shape}_add")(**options)
    obj = bpy.context.object
    if name:
        obj.name = obj.data.name = name
    if kind:
        assert bpy.ops.softpressure.add_body(kind=kind) == {"FINISHED"}
    return obj


def give(obj: Any, **settings: Any) -> Any:
    """The object, with settings of a body."""
    for name, value in settings.items():
        setattr(obj.softpressure, name, value)
    return obj


def add_mesh(name: str, vertices: Any, faces: Any) -> Any:
    """An object of these vertices and faces, selected and active."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    obj = add_object(name, mesh)
    select(obj)
    return obj


def add_object(name: str, data: Any = None) -> Any:
    """An object of these data, or an empty."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(obj)
    return obj


def add_group(obj: Any, setting: str, vertices: Any, weights: Any = 1.0, name: str = "Group") -> Any:
    """A vertex group with these weights, or one weight for all, which is chosen for a setting of the body, if any."""
    group = obj.vertex_groups.new(name=name)
    for vertex, weight in zip(vertices, np.broadcast_to(weights, len(vertices)), strict=True):
        group.add([int(vertex)], float(weight), "REPLACE")
    if setting:
        setattr(obj.softpressure, setting, group.name)
    return group


def add_floor(z: float = 0.0, size: float = 18.0, name: str = "Floor") -> Any:
    """A square collider [m]."""
    half = 0.5 * size
    corners = [(-half, -half, z), (half, -half, z), (half, half, z), (-half, half, z)]
    floor = add_mesh(name, corners, [(0, 1, 2, 3)])
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    return floor


def add_beast(name: str = "Beast", place: Any = (0, 0, 2), **settings: Any) -> Any:
    """An animal as a soft body, which is simulated by an even mesh."""
    x, triangles = shapes.beast()
    obj = give(add_mesh(name, (x + place).tolist(), triangles.tolist()), **{"simulation_mesh": "EVEN", **settings})
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    return obj


def add_tree(obj: Any, kind: str, inputs: dict[str, Any], reads: bool) -> Any:
    """A modifier with one node between input and output, linked to the input if it reads it."""
    tree = bpy.data.node_groups.new(kind, "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    first, node, last = (tree.nodes.new(each) for each in ("NodeGroupInput", kind, "NodeGroupOutput"))
    for name, value in inputs.items():
        node.inputs[name].default_value = value
    if reads:
        tree.links.new(first.outputs[0], node.inputs[0])
    tree.links.new(node.outputs[0], last.inputs[0])
    modifier = obj.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    bpy.context.view_layer.update()
    return modifier


def as_drawn(obj: Any) -> Any:
    """The object, of which what is drawn is simulated or refused."""
    obj.softpressure.simulation_mesh = "DRAWN"
    return obj


def select(*objects: Any) -> None:
    """Select these objects and no others; the last is active."""
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    for obj in objects:
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj


def frame(number: int, subframe: float = 0.0) -> None:
    """Go to a frame."""
    bpy.context.scene.frame_set(number, subframe=subframe)


def play(first: int, last: int) -> None:
    """Play frames in order."""
    for number in range(first, last + 1):
        frame(number)


def reopen(folder: Path) -> None:
    """Save the file and open it again."""
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "reopened.blend"))
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)


def key(data: Any, path: str, *values: tuple[int, Any], index: int = -1) -> None:
    """Keyframes of a property: frames with its values, or with those of one of its components."""
    for number, value in values:
        if index < 0:
            setattr(data, path, value)
        else:
            getattr(data, path)[index] = value
        assert data.keyframe_insert(path, index=index, frame=number)


def interpolate(data: Any, kind: str = "LINEAR") -> None:
    """How all keyframes of an object or of other data are interpolated."""
    for curve in actions.curves(data):
        for point in curve.keyframe_points:
            point.interpolation = kind
