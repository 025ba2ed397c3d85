"""Defaults that fit the size of a body: of any size it looks like the default ball of 1 m.

Gravity and the pressure of the air are the same at any size. So all forces must grow like areas, and pressures stay:
then weight over pressure times area, strains, and the pressure of the gas over that of the air are those of the ball.
A closed skin has the mass of its area, so weight over pressure times area is the same for any shape, too.
"""

import math

import bpy

from ...core import MeshError
from ...core.parameters import SKINS, named
from ...core.topology import signed_volume, triangle_areas
from ..scene_io import flat_shape, mesh_io, rigid_shape, units

#: Mass of new closed skins over their area [kg/m^2]: that of rubber or vinyl of 1 mm, as exercise balls are made of.
AREA_DENSITY = 1.0
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
    if mesh_io.is_edited(obj) or settings.is_baked:
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


def new_mass(obj: bpy.types.Object, kind: str) -> float:
    """Mass [kg] that an object has as a new body of a kind, and of its type."""
    size = size_of(obj)
    if kind == "SOFT" and obj.softpressure.body_type == "MEMBRANE" and size:
        return _new_value("mass", AREA_DENSITY * math.pi * size**2)
    return _new_value("mass", named("mass").default * _fitted(size) ** POWERS["mass"])


def _new_value(name: str, value: float) -> float:
    return max(float(f"{value:.3g}"), named(name).least or 0.0)


def _fitted(size: float) -> float:
    """The size that defaults are fitted to [m]."""
    return 1.0 if not size or LEAST <= size <= MOST else size


def fit(obj: bpy.types.Object, kind: str, *, anew: bool = False) -> str:
    """Fit the defaults of a body of a kind to its size, but none that was set, unless `anew`. Returns what was done.

    Only the mass of a closed skin depends on its size within LEAST to MOST; of that nothing is said.
    """
    settings, size = obj.softpressure, size_of(obj)
    if not size:
        return ""
    values = {name: named(name).default * _fitted(size) ** power for name, power in POWERS.items()}
    values["mass"] = new_mass(obj, kind)
    for name, value in values.items():
        if anew or (not settings.is_property_set(name) and value != named(name).default):
            setattr(settings, name, _new_value(name, value))
    if _fitted(size) == 1.0 and not anew:
        return ""
    has_skin = kind == "SOFT" and settings.body_type in SKINS
    return f"its mass of {settings.mass:.3g} kg {'and its stiffness fit' if has_skin else 'fits'} its size"


def unfit_text(obj: bpy.types.Object) -> str:
    """A sentence on defaults that fit another size than a body has; empty where they fit, or were chosen."""
    settings, size, default = obj.softpressure, size_of(obj), named("mass").default
    if settings.kind not in ("SOFT", "RIGID") or not size:
        return ""
    has_area_mass = settings.kind == "SOFT" and settings.body_type == "MEMBRANE" and settings.mass != default
    fitting = _fitted(math.sqrt(settings.mass / (AREA_DENSITY * math.pi if has_area_mass else default)))
    if settings.kind == "SOFT" and settings.body_type in SKINS:
        of_stiffness = settings.stretch_modulus / named("stretch_modulus").default
        if max(fitting, of_stiffness) > _SAME * min(fitting, of_stiffness):
            return ""
    if LEAST <= size / fitting <= MOST:
        return ""
    scene = bpy.context.scene
    has, fits = (units.length_text(scene, length) for length in (size, fitting))
    return (
        f"{obj.name}: is {has} in size, but has the mass and stiffness that look right at {fits}. Press Fit to Size, "
        "or choose a material."
    )
