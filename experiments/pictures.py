"""Pictures of what was simulated, by Blender's Workbench renderer without a window. Needs `bpy`; see `available`."""

import contextlib
import io
import os

import numpy as np

#: Width of a picture and its largest height [pixels].
WIDTH, HEIGHT = 720, 240
#: Colours of bodies and of what they touch.
BLUE, ORANGE, GREEN, GREY = (0.16, 0.42, 0.75), (0.9, 0.45, 0.1), (0.2, 0.6, 0.3), (0.55, 0.57, 0.6)
#: Space around what is seen.
MARGIN = 1.06
BACKGROUND = (0.93, 0.94, 0.96)


def available():
    """Whether there is a Blender to render with."""
    try:
        import bpy  # noqa: F401
    except ImportError:
        return False
    return True


class Picture:
    """Collects meshes and rods in one Blender scene, seen along y from the front; `render` writes it."""

    def __init__(self):
        import bpy

        self._bpy = bpy
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self._scene = bpy.context.scene
        self._points = []

    def mesh(self, points, faces, colour, smooth=False):
        """Faces of any number of corners, of points [m], shape (n, 3)."""
        data = self._bpy.data.meshes.new("mesh")
        data.from_pydata(np.asarray(points).tolist(), [], [list(map(int, face)) for face in faces])
        data.polygons.foreach_set("use_smooth", [smooth] * len(data.polygons))
        self._add(data, colour, points)

    def outline(self, points, depth, colour):
        """A closed outline in a plane y = constant as a slab of a depth [m] along y."""
        count, half = len(points), np.array([0.0, 0.5 * depth, 0.0])
        ring = np.arange(count)
        sides = np.stack([ring, np.roll(ring, -1), np.roll(ring, -1) + count, ring + count], axis=1)
        self.mesh(np.concatenate([points - half, points + half]), [ring, ring[::-1] + count, *sides], colour)

    def rods(self, points, pairs, radius, colour):
        """A rod [m] between each pair of points."""
        data = self._bpy.data.curves.new("rods", "CURVE")
        data.dimensions, data.bevel_depth, data.bevel_resolution = "3D", radius, 2
        for pair in pairs:
            spline = data.splines.new("POLY")
            spline.points.add(1)
            spline.points.foreach_set("co", np.column_stack([points[pair], np.ones(2)]).ravel())
        self._add(data, colour, points)

    def balls(self, points, radius, colour):
        """A ball of a radius [m] at each point."""
        from shapes import icosphere

        x, triangles = icosphere(2, radius)
        places = (np.asarray(points)[:, None] + x).reshape(-1, 3)
        corners = (np.arange(len(points))[:, None, None] * len(x) + triangles).reshape(-1, 3)
        self.mesh(places, corners, colour, smooth=True)

    def _add(self, data, colour, points):
        thing = self._bpy.data.objects.new("thing", data)
        thing.color = (*colour, 1.0)
        self._scene.collection.objects.link(thing)
        self._points.append(np.asarray(points, float))

    def render(self, path, turn=(90.0, 0.0)):
        """Write a PNG of all that was added, without perspective; `turn` of the camera about x and z [degrees]."""
        bpy, scene = self._bpy, self._scene
        data = bpy.data.cameras.new("camera")
        data.type = "ORTHO"
        camera = bpy.data.objects.new("camera", data)
        camera.rotation_euler = np.radians([turn[0], 0.0, turn[1]])
        scene.collection.objects.link(camera)
        scene.camera = camera
        points = np.concatenate(self._points)
        axes = np.array(camera.rotation_euler.to_matrix())  # right, up and back of the camera, as columns
        seen = points @ axes
        size, middle = np.ptp(seen, axis=0), 0.5 * (seen.min(axis=0) + seen.max(axis=0))
        data.ortho_scale = MARGIN * max(size[0], size[1] * WIDTH / HEIGHT)
        height = min(HEIGHT, round(WIDTH * (size[1] / data.ortho_scale + MARGIN - 1.0)))
        scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = WIDTH, height, 100
        far = size[2] + data.ortho_scale
        camera.location = axes @ (middle + (0.0, 0.0, far))
        data.clip_end = 3.0 * far
        scene.render.engine = "BLENDER_WORKBENCH"
        scene.display.render_aa = "16"
        shading = scene.display.shading
        shading.light, shading.color_type = "STUDIO", "OBJECT"
        shading.show_shadows, shading.show_cavity = False, True
        scene.view_settings.view_transform = "Standard"
        scene.world = bpy.data.worlds.new("World")
        scene.world.color = BACKGROUND
        scene.render.dither_intensity = 0.0  # files would be three times as large
        image = scene.render.image_settings
        image.file_format, image.color_mode, image.compression = "PNG", "RGB", 100
        scene.render.filepath = str(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.redirect_stdout(io.StringIO()), silent():
            bpy.ops.render.render(write_still=True)


@contextlib.contextmanager
def silent():
    """Nothing that Blender itself prints is shown."""
    keep = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, saved in enumerate(keep, 1):
            os.dup2(saved, number)
            os.close(saved)
        os.close(nowhere)
