"""Defaults that fit the size of a body: of any size it looks like the default ball of 1 m.

Gravity and the pressure of the air are the same at any size. So all forces must grow like areas, and pressures stay:
then weight over pressure times area, strains, and the pressure of the gas over that of the air are those of the ball.
"""

import math

import bpy

from ...core import MeshError
from ...core.parameters import SKINS, named
from ...core.topology import signed_volume, triangle_areas
from ..scene_io import flat_shape, mesh_io, rigid_shape, units

#: What is multiplied by the size over 1 m to this power; pressures and moduli of lattices are not.
POWERS = {"mass": 2, "stretch_modulus": 1, "bend_modulus": 3}
#: Sizes [m] for which the defaults are as they are: within these a body looks the same.
LEAST, MOST = 1.0 / 3.0, 3.0
#: Two sizes that follow from settings differ by less than this factor if the settings were fitted to one.
_SAME = 1.1


def size_of(obj: bpy.types.Object) -> float:
    """Diameter of a ball with the area of an object's own mesh [m]; 0 where it has no faces."""
    return math.sqrt(area_of(obj) / math.pi)


def area_of(obj: bpy.types.Object) -> float:
    """Area of an object's own mesh [m^2]; 0 where it has no faces."""
    area = float(triangle_areas(*_shape(obj)).sum())
    return area if math.isfinite(area) else 0.0


def _shape(obj: bpy.types.Object) -> tuple[mesh_io.FloatArray, mesh_io.IntArray]:
    """World positions [m] and triangles of an object's own mesh."""
    scene = obj.users_scene[0] if obj.users_scene else bpy.context.scene
    triangles = mesh_io.read_triangles(obj.data, mesh_io.world_matrix(obj))
    return units.metres_per_unit(scene) * flat_shape.rest_positions(obj), triangles


def weigh(obj: bpy.types.Object, density: float, area_density: float) -> str:
    """Set the mass of a body by its density [kg/m^3], of a skin by that of its area [kg/m^2]; returns what was done.

    Raises `MeshError` for a mesh without volume or area.
    """
    settings = obj.softpressure
    if obj.mode == "EDIT" or settings.is_baked:
        raise MeshError(f"{obj.name}: is in Edit Mode, or baked. Leave Edit Mode (Tab), or free the bake.")
    if settings.kind == "RIGID":
        scene, mesh, matrix = bpy.context.scene, obj.data, mesh_io.world_matrix(obj)
        positions, triangles = rigid_shape.read(obj.name, mesh, matrix, settings.rigid_shape)
        positions = units.metres_per_unit(scene) * positions
    else:
        positions, triangles = _shape(obj)
    is_skin = settings.kind == "SOFT" and settings.body_type in SKINS
    amount = float(triangle_areas(positions, triangles).sum()) if is_skin else abs(signed_volume(positions, triangles))
    if not amount > 0.0:
        raise MeshError(f"{obj.name}: its mesh has no {'area' if is_skin else 'volume'}. Enter the mass.")
    settings.mass = (area_density if is_skin else density) * amount
    return f"{obj.name}: {settings.mass:.4g} kg"


def fit(obj: bpy.types.Object, *, anew: bool = False) -> str:
    """Fit the defaults of a body to its size, but none that was set, unless `anew`. Returns what was done, or ''."""
    settings, size = obj.softpressure, size_of(obj)
    if not size or (LEAST <= size <= MOST and not anew):
        return ""
    fitted = 1.0 if LEAST <= size <= MOST else size
    for name, power in POWERS.items():
        if anew or not settings.is_property_set(name):
            least = named(name).least or 0.0
            setattr(settings, name, max(float(f"{named(name).default * fitted**power:.3g}"), least))
    return f"its mass of {settings.mass:.3g} kg and its stiffness fit its size"


def unfit_text(obj: bpy.types.Object) -> str:
    """A sentence on defaults that fit another size than a body has; empty where they fit, or were chosen."""
    settings, size = obj.softpressure, size_of(obj)
    if settings.kind not in ("SOFT", "RIGID") or not size:
        return ""
    sizes = [math.sqrt(settings.mass / named("mass").default)]
    if settings.kind == "SOFT" and settings.body_type in ("MEMBRANE", "LOOP"):
        sizes.append(settings.stretch_modulus / named("stretch_modulus").default)
    if max(sizes) > _SAME * min(sizes) or LEAST <= size / sizes[0] <= MOST:
        return ""
    if LEAST <= size <= MOST and sizes[0] == 1.0:
        return ""
    scene = bpy.context.scene
    has, fits = (units.length_text(scene, length) for length in (size, sizes[0]))
    return (
        f"{obj.name}: is {has} in size, but has the mass and stiffness that look right at {fits}. Press Fit to Size, "
        "or choose a material."
    )
