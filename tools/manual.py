#!/usr/bin/env python3
"""Write the page of settings from what the properties say of themselves, and what F1 opens of it; wants `bpy`.

python tools/manual.py
"""

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE, OPENED = ROOT / "docs" / "settings.md", ROOT / "manual.html"

sys.path.append(str(ROOT / "tests" / "support"))

import extension  # noqa: E402

extension.load()

import bpy  # noqa: E402
import markdown  # noqa: E402
import softpressure_ext  # noqa: E402
from softpressure_ext.core.parameters import BODIES, PARAMETERS, SCENE, SOFT, Parameter  # noqa: E402
from softpressure_ext.core.parameters.methods import METHODS  # noqa: E402
from softpressure_ext.softpressure.properties.object_properties import BODY_TYPES, KINDS  # noqa: E402

DECLARED = {parameter.name: parameter for parameter in PARAMETERS}
METHOD_NAMES = {method[0]: method[1] for method in METHODS}
#: As the panel calls them.
BODY_NAMES = {item[0]: item[1] for item in (*BODY_TYPES, *KINDS)} | {"FLAT_TRUSS": "flat Lattice"}


def declared(group: str, *bodies: str) -> str:
    """Names of the settings of a group that bodies, or with `SCENE` scenes, have."""
    return " ".join(each.name for each in PARAMETERS if each.group == group and {*bodies} & {*each.bodies})


#: Of each panel: its title, what it is for, and its settings of objects or scenes.
SECTIONS: tuple[tuple[str, str, type[bpy.types.ID], str], ...] = (
    ("Body", "How the active object takes part. *Material* holds presets.", bpy.types.Object,
     "body_type pin_group goal_group " + declared("BODY", *BODIES)),
    ("Shape", "Which mesh is simulated, and what the mesh of the object is: inflated, or unstretched.",
     bpy.types.Object, "cage_object " + declared("SHAPE", *BODIES)),
    ("Collisions", "What a body touches, and how near.", bpy.types.Object,
     "collision_collection self_collision " + declared("CONTACT", *BODIES)),
    ("Bending and Damping", "How a body bends, and how its motion dies away.", bpy.types.Object,
     declared("DAMPING", *BODIES)),
    ("Bodies", "All bodies of the scene and how each is doing; a click selects the object.", bpy.types.Scene,
     "active_body"),
    ("Input Units", "What of a soft body is given: pressure or amount of gas, a modulus or one spring constant for all "
     "edges, a mass or one for all points. The second of each depends on how fine the mesh is.", bpy.types.Object,
     "gas_by stiffness_by volumes_by mass_by rigid_springs"),
    ("Gas", "What the gas inside does while the body is pressed, what fills it, pumps, leaks and hoses.",
     bpy.types.Object,
     " ".join((declared("GAS", *BODIES), declared("FLUID", *BODIES), "pressure_group tie_group pump_rate leak_diameter",
               "hose_from hose_to conductance valve"))),
    ("Flow and Tear", "What a soft body does under large loads: creep, grow stiffer, tear, stick.", bpy.types.Object,
     declared("FLOW", *BODIES) + " weak_group"),
    ("Motion", "Whether a body is simulated, and how it moves at the start.", bpy.types.Object,
     "is_active velocity angular_velocity origin_follows"),
    ("Attach and Goal", "Vertices glued to another body, and weights of the pin group below 1, which pull by springs.",
     bpy.types.Object, "attach_to attach_group is_attached goal_stiffness goal_damping"),
    ("Field Weights", "How strongly Blender's force fields act on the body: Force, Wind, Vortex, Turbulence, Drag and "
     "Harmonic. The strength is in newtons on the whole body.", bpy.types.Object,
     "effector_collection weight_gravity weight_all weight_force weight_wind weight_vortex weight_turbulence "
     "weight_drag weight_harmonic"),
    ("Simulation", "Which frames are simulated, and how fine.", bpy.types.Scene,
     "use_scene_range frame_start frame_end speed detail substeps threads"),
    ("Cache", "Which frames are kept, where, and how much they take.", bpy.types.Scene,
     "takes active_take take cache_folder pack_cache render_without_frames point_attributes"),
    ("Curves", "What the active body measures in each frame, drawn in every Graph Editor.", bpy.types.Scene,
     "show_curves curves"),
    ("Overlay", "Colors and marks over the bodies in the 3D viewport; renders do not change.", bpy.types.Scene,
     "overlay_colour overlay_limit overlay_pins overlay_attachments overlay_hoses overlay_particles overlay_mesh "
     "overlay_thickness"),
    ("Air and Liquid", "What surrounds all bodies: air lifts and brakes closed ones, and a still liquid does below its "
     "level.", bpy.types.Scene, declared("FLUID", SCENE)),
    ("Method", "How the steps are made. **Soft Pressure** simulates everything; XPBD and the methods of the papers are "
     "there for comparison.", bpy.types.Scene, declared("METHOD", SCENE)),
    ("Export", "Shape keys for other programs.", bpy.types.Scene, "key_error"),
    ("Sweep", "Simulates the saved file with each combination of values.", bpy.types.WindowManager,
     "settings pairwise workers"),
)  # fmt: skip
#: Ends of the names of their groups.
OWNERS = {bpy.types.Object: "object", bpy.types.Scene: "scene", bpy.types.WindowManager: "sweep"}
STYLE = "body{font:16px/1.5 sans-serif;max-width:52em;margin:2em auto}td{vertical-align:top;padding-right:.7em}"


def default_of(prop: Any) -> str:
    """The default of a property as a person reads it."""
    if prop.identifier in {"frame_start", "frame_end"}:
        return "the scene's"
    if prop.type == "ENUM" and prop.is_enum_flag:
        return ", ".join(item.name for item in prop.enum_items if item.identifier in prop.default_flag)
    if prop.type == "ENUM":
        return str(prop.enum_items[prop.default].name)
    if prop.type == "BOOLEAN":
        return "on" if prop.default else "off"
    if prop.type in {"POINTER", "STRING", "COLLECTION"}:
        return "none"
    if prop.is_array:
        return ", ".join(f"{value:g}" for value in prop.default_array)
    return f"{prop.default:,g}" if abs(prop.default) < 1e6 else f"{prop.default:g}"


def facts(parameter: Parameter) -> str:
    """Unit and bounds of a declared setting, the bodies that have it, and the methods that read it."""
    least = parameter.low if parameter.least is None else parameter.least
    bounds = [f"{word} {bound:g}" for word, bound in (("from", least), ("to", parameter.high)) if bound is not None]
    found = [parameter.unit] if parameter.unit else []
    found += [" ".join(bounds)] if bounds else []
    names = parameter.bodies
    if {*SOFT} <= {*names}:
        names = ("SOFT", *(body for body in names if body not in SOFT))
    found += [" · ".join(BODY_NAMES[body] for body in names if body != SCENE)]
    found += ["read by " + " · ".join(METHOD_NAMES[name] for name in parameter.solvers)] if parameter.solvers else []
    return "; ".join(filter(None, found))


def row(prop: Any, group: str) -> str:
    """A line of a table, to which F1 leads (`panels/manual.py`)."""
    parts = [f"{prop.description}."]
    if prop.identifier in DECLARED and (told := facts(DECLARED[prop.identifier])):
        parts.append(f"*{told}*")
    if prop.type == "ENUM":
        parts += [f"**{item.name}**: {item.description}." for item in prop.enum_items]
    cells = [
        f'<a id="{group}-{prop.identifier}"></a>{prop.name}',
        default_of(prop),
        "yes" if prop.is_animatable else "",
    ]
    return "| " + " | ".join([*cells, "<br>".join(parts)]) + " |"


def page() -> str:
    """The whole page; the extension must be registered."""
    lines = [
        "# Settings\n",
        "Every field of the tab **Soft Pressure** in the sidebar of the 3D viewport (N) and of **Properties > "
        "Physics**. All values are in SI units, as their fields show them, whatever the unit scale of the scene. What "
        "can be animated has a dot beside its field, for keyframes and drivers; all else has one value for the whole "
        "run.\n",
    ]
    for title, text, owner, settings in SECTIONS:
        group = owner.bl_rna.properties["softpressure"].fixed_type.properties  # type: ignore[attr-defined]
        lines += [f"## {title}\n", f"{text}\n", "| Setting | Default | Animated | |", "|---|---|---|---|"]
        lines += [*(row(group[setting], OWNERS[owner]) for setting in settings.split()), ""]
    return "\n".join(lines)


def html_of(text: str) -> str:
    """The page as the extension opens it."""
    body = markdown.markdown(text, extensions=["tables"])
    head = f"<meta charset='utf-8'><title>Soft Pressure</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head><body>\n{body}\n</body></html>\n"


if __name__ == "__main__":
    softpressure_ext.register()
    PAGE.write_text(page(), encoding="utf-8")
    OPENED.write_text(html_of(page()), encoding="utf-8")
