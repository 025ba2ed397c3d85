"""Blender's own physics through its Python module: Cloth with pressure, Soft Body, Rigid Body."""

import bpy
import numpy as np

from ..scenes import BODY_MASS, GRAVITY, PRESSURE, SPRING

#: Steps of Cloth per frame: its default.
QUALITY = 5
#: Distance that Cloth keeps from other objects [m]: its default.
DISTANCE = 0.015
#: What a collider adds to it [m]: the least there is. Its default of 20 mm would have the balls of a box touch at once.
OUTER = 0.001


class _Blender:
    """An empty scene with the colliders and bodies in it."""

    def __init__(self, scene, threads):
        self.version = bpy.app.version_string
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self._scene = bpy.context.scene
        self._scene.gravity = (0.0, 0.0, -GRAVITY)
        self._scene.render.fps, self._scene.render.fps_base = round(1.0 / scene.frame_time), 1.0
        self._scene.frame_start, self._scene.frame_end = 1, scene.frames + 1
        self._scene.render.threads_mode, self._scene.render.threads = "FIXED", threads
        self._given = scene
        colliders = [self._add_box(box) for box in scene.colliders]
        self._soft = [self._add_mesh("body", *body) for body in scene.soft]
        self._rigid = [self._add_box(box) for box in scene.rigid]
        if scene.soft:
            for item in colliders + self._soft + self._rigid:
                item.modifiers.new("Collision", "COLLISION")
                item.collision.thickness_outer = OUTER
            for item in self._soft:
                self._make_soft(item)
        if scene.rigid:
            self._make_world(colliders, scene)
        self._scene.frame_set(1)
        self._frame = 1

    def _add_mesh(self, name, positions, faces, place=(0.0, 0.0, 0.0)):
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(np.asarray(positions).tolist(), [], np.asarray(faces).tolist())
        item = bpy.data.objects.new(name, mesh)
        item.location = place
        self._scene.collection.objects.link(item)
        return item

    def _add_box(self, box):
        return self._add_mesh("box", *box.mesh(), box.centre)

    def _make_soft(self, item):
        raise NotImplementedError(f"{type(self).__name__} has no soft bodies")

    def _make_world(self, colliders, scene):
        bpy.ops.rigidbody.world_add()
        self._scene.rigidbody_world.point_cache.frame_end = scene.frames + 1
        for items, boxes, kind in ((colliders, scene.colliders, "PASSIVE"), (self._rigid, scene.rigid, "ACTIVE")):
            with bpy.context.temp_override(object=items[0], active_object=items[0], selected_objects=items):
                bpy.ops.rigidbody.objects_add(type=kind)
            for item, box in zip(items, boxes, strict=True):
                item.rigid_body.collision_shape = "BOX"
                # friction of a pair is the product here, the geometric mean elsewhere
                item.rigid_body.friction = scene.friction**0.5
                if kind == "ACTIVE":
                    item.rigid_body.mass = box.mass

    def advance(self):
        self._frame += 1
        self._scene.frame_set(self._frame)

    def soft(self):
        graph = bpy.context.evaluated_depsgraph_get()
        found = []
        for item in self._soft:
            mesh = item.evaluated_get(graph).data
            positions = np.empty(3 * len(mesh.vertices), np.float32)
            mesh.vertices.foreach_get("co", positions)
            found.append(positions.reshape(-1, 3).astype(float))  # the object stands at the origin
        return found

    def rigid(self):
        matrices = np.array([item.matrix_world for item in self._rigid])
        return matrices[:, :3, 3], matrices[:, :3, :3]


class Cloth(_Blender):
    """Cloth whose edges have the scene's stiffness, with its gas: `factor (pressure + V0 / V - 1)` kPa."""

    settings = f"quality {QUALITY}, no air drag, stiffness set for the mesh, colliders 1 mm thick"

    def _make_soft(self, item):
        modifier = add_cloth(item, BODY_MASS, SPRING, PRESSURE)
        settings, collision = modifier.settings, modifier.collision_settings
        settings.quality = QUALITY
        settings.air_damping = settings.bending_damping = 0.0
        collision.distance_min = DISTANCE
        collision.friction = 10.0 * self._given.friction  # its 5 stands for 0.5
        point_cache = modifier.point_cache
        point_cache.frame_start, point_cache.frame_end = 1, self._given.frames + 1


class OwnCloth(Cloth):
    """Cloth that also looks for contact with itself, as our skins do."""

    settings = f"{Cloth.settings}, self-collision at its default distance"

    def _make_soft(self, item):
        super()._make_soft(item)
        item.modifiers["Cloth"].collision_settings.use_self_collision = True


class SoftBody(_Blender):
    """Soft Body with stiff edges and no gas; 1 kg per vertex, its default, as lighter ones blow up."""

    settings = "1 kg per vertex, pull and push 0.9, bend 5, no gas"

    def _make_soft(self, item):
        modifier = item.modifiers.new("Softbody", "SOFT_BODY")
        settings = modifier.settings
        settings.use_goal, settings.use_edges = False, True
        settings.friction = 0.0
        settings.pull = settings.push = 0.9
        settings.bend, settings.step_min = 5.0, 10
        modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, self._given.frames + 1


class Rigid(_Blender):
    """The rigid body world (Bullet)."""

    settings = "10 substeps per frame, 10 iterations"


def add_cloth(item, mass, spring, pressure, ambient=0.0):
    """Cloth of a mass [kg], with a spring constant [N/m] in each edge and a gas [Pa]; its modifier."""
    modifier, mesh = item.modifiers.new("Cloth", "CLOTH"), item.data
    settings, ends = modifier.settings, np.array([edge.vertices for edge in mesh.edges])
    places = np.array([vertex.co for vertex in mesh.vertices])
    length = float(np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1).mean())
    for kind in ("tension", "compression", "shear"):  # a spring is as stiff as 1000 times the setting over its length
        setattr(settings, f"{kind}_stiffness_max", spring * length / 1000.0)
        setattr(settings, f"{kind}_stiffness", spring * length / 1000.0)
    settings.mass = mass / len(mesh.vertices)
    settings.use_pressure, settings.pressure_factor = True, (pressure + ambient) / 1000.0
    settings.uniform_pressure_force = pressure / (pressure + ambient)
    return modifier
