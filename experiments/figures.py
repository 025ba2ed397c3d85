"""The one writer of figures: curves by matplotlib, bodies by Blender's Workbench renderer.

Curves need matplotlib, pictures of bodies `bpy`; without it they are left out.
"""

import importlib.util

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from ..tools.pages import number as number  # the sections take all they write with from here
from ..tools.pages import table as table

#: Sizes of curves [inch] and dots per inch; width of a picture and its largest height [pixels].
WIDTH, HEIGHT, DOTS = 7.2, 4.4, 110
PICTURE_WIDTH, PICTURE_HEIGHT = 960, 640
COLOURS = plt.rcParams["axes.prop_cycle"].by_key()["color"]
#: Colours of bodies, of what they touch, and behind them.
BLUE, ORANGE, GREEN, VIOLET, GREY = (
    (0.16, 0.42, 0.75), (0.9, 0.45, 0.1), (0.2, 0.6, 0.3), (0.6, 0.3, 0.65), (0.55, 0.57, 0.6),
)  # fmt: skip
BACKGROUND, INK = (0.93, 0.94, 0.96), (0.1, 0.1, 0.12)
#: Space around what is seen.
MARGIN = 1.06
#: The solvers of the page: their names in the core, and there.
NAMES = {
    "EXPLICIT_EULER": "Euler", "HEUN": "Heun", "RK4_MARTIN": "Martin's RK4", "RK4": "RK4", "IMPLICIT_KANG": "Kang",
    "IMPLICIT_MESIT": "Mesit", "XPBD": "XPBD", "EXPLICIT": "ours",
}  # fmt: skip

plt.rcParams.update(
    {
        "font.size": 10, "axes.labelsize": 10, "xtick.labelsize": 9, "ytick.labelsize": 9, "legend.fontsize": 9,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3,
        "lines.linewidth": 1.5,
    }
)  # fmt: skip


class Figures:
    """Writes the figures of a page into a folder."""

    def __init__(self, folder):
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def curves(self, name, draw, panels=1, height=HEIGHT):
        """`draw(axes, ...)` gets as many axes as there are panels, side by side."""
        figure, axes = plt.subplots(1, panels, figsize=(WIDTH * panels**0.75, height), layout="constrained")
        draw(*(axes if panels > 1 else [axes]))
        figure.savefig(self._folder / f"{name}.png", dpi=DOTS, metadata={"Software": None})
        plt.close(figure)

    def bodies(self, name, build, turn=(90.0, 0.0)):
        """`build(picture)` fills a `Picture`; `turn` of the camera about x and z [degrees]."""
        if blender_is_here():
            picture = Picture(turn)
            build(picture)
            picture.render(self._folder / f"{name}.png")


def blender_is_here():
    """Whether there is a Blender to render with."""
    return importlib.util.find_spec("bpy") is not None


class Picture:
    """Collects meshes, rods and labels in one Blender scene, seen without perspective."""

    def __init__(self, turn):
        import bpy

        self._bpy = bpy
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self._scene = bpy.context.scene
        self._points = []
        data = bpy.data.cameras.new("camera")
        data.type = "ORTHO"
        self._camera = bpy.data.objects.new("camera", data)
        self._camera.rotation_euler = np.radians([turn[0], 0.0, turn[1]])
        self._scene.collection.objects.link(self._camera)
        #: Right, up and back of the camera, as columns.
        self.axes = np.array(self._camera.rotation_euler.to_matrix())

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

    def floor(self, low, high, colour=GREY):
        """A rectangle on z = 0 from one corner to the other [m]."""
        corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
        self.mesh(np.array([(x, y, 0.0) for x, y in corners]), [(0, 1, 2, 3)], colour)

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

    def label(self, place, text, size, align="CENTER"):
        """A text that faces the camera, its base line through a place [m], as high as `size` [m]."""
        data = self._bpy.data.curves.new("label", "FONT")
        data.body, data.size, data.align_x = text, size, align
        data.materials.append(None)
        thing = self._add(data, INK, np.asarray([place]))
        thing.location, thing.rotation_euler = place, self._camera.rotation_euler
        wide = 0.6 * size * len(text)
        left, right = {"CENTER": (-0.5, 0.5), "RIGHT": (-1.0, 0.0)}[align]
        spots = [left * wide * self.axes[:, 0], right * wide * self.axes[:, 0], size * self.axes[:, 1]]
        self._points.append(np.asarray(place) + np.array(spots))

    def _add(self, data, colour, points):
        thing = self._bpy.data.objects.new("thing", data)
        thing.color = (*colour, 1.0)
        self._scene.collection.objects.link(thing)
        self._points.append(np.asarray(points, float))
        return thing

    def render(self, path):
        """Write a PNG of all that was added."""
        from softpressure_ext.sample_blends.demo import set_look
        from softpressure_ext.softpressure.batch import pictures

        scene, camera = self._scene, self._camera
        scene.camera, data = camera, camera.data
        seen = np.concatenate(self._points) @ self.axes
        size, middle = np.ptp(seen, axis=0), 0.5 * (seen.min(axis=0) + seen.max(axis=0))
        data.ortho_scale = MARGIN * max(size[0], size[1] * PICTURE_WIDTH / PICTURE_HEIGHT)
        height = min(PICTURE_HEIGHT, round(PICTURE_WIDTH * (size[1] / data.ortho_scale + MARGIN - 1.0)))
        far = size[2] + data.ortho_scale
        camera.location = self.axes @ (middle + (0.0, 0.0, far))
        data.clip_end = 3.0 * far
        set_look(scene)
        shading = scene.display.shading
        scene.display.render_aa, shading.studio_light, shading.show_shadows = "16", "Default", False
        scene.world.color = BACKGROUND
        pictures.render(scene, scene.frame_current, path, (PICTURE_WIDTH, height))


def label_lines(*panels):
    """Name the lines beside the panels, at the last of those that show the same ones."""
    named = [axes.get_legend_handles_labels()[1] for axes in panels]
    for axes, labels, after in zip(panels, named, [*named[1:], None], strict=True):
        if labels != after:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def plain_ticks(axis, places):
    """Ticks of a logarithmic axis at some places, as plain numbers."""
    axis.set_ticks(places, [f"{place:g}" for place in places])
    axis.set_ticks([], minor=True)
