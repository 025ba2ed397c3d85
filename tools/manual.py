#!/usr/bin/env python3
"""Write the manual that the panels open: `manual.html`, from what the properties say of themselves; wants `bpy`.

python tools/manual.py
"""

import html
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "manual.html"

sys.path.append(str(ROOT / "tests" / "support"))

import extension  # noqa: E402

extension.load()

import bpy  # noqa: E402
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


#: Of each panel: its name in the code, its title, what it is for, and its settings of objects or scenes.
SECTIONS: tuple[tuple[str, str, str, type[bpy.types.ID], str], ...] = (
    (
        "body",
        "Body",
        "How the active object takes part. The buttons <b>Add</b>, the menu of kinds and the cross beside it act on "
        "all selected meshes. A mesh that cannot be simulated is told with the number that is wrong and what to do "
        "about it; in the scene it stands aside, and the rest plays. The button in the panel's header has "
        "<b>presets</b> of materials: type, mass, pressure, moduli, damping, friction and bounciness of the real "
        "thing, for an object of about its size. The plus below them keeps those of the active body.",
        bpy.types.Object,
        "body_type pin_group goal_group " + declared("BODY", *BODIES),
    ),
    (
        "shape",
        "Shape",
        "Which mesh is simulated, and what the mesh of the object is: inflated, or unstretched.",
        bpy.types.Object,
        "cage_object " + declared("SHAPE", *BODIES),
    ),
    (
        "collisions",
        "Collisions",
        "What a body touches, and how near.",
        bpy.types.Object,
        "collision_collection self_collision " + declared("CONTACT", *BODIES),
    ),
    (
        "damping",
        "Bending and Damping",
        "How a body bends, and how its motion dies away.",
        bpy.types.Object,
        declared("DAMPING", *BODIES),
    ),
    (
        "bodies",
        "Bodies",
        "All bodies of the scene and how each is doing; a click selects the object. <b>Copy to Selected</b> gives the "
        "selected meshes the settings of the active one.",
        bpy.types.Scene,
        "active_body",
    ),
    (
        "given",
        "Input Units",
        "What of a soft body is given: its pressure, or the amount of its gas; a modulus, or one spring constant for "
        "all edges; its mass, or one mass for all points. The second of each is how the papers number their bodies, "
        "and depends on how fine the mesh is. The fields are in the panel <b>Body</b>; here the other quantities are "
        "shown, those of the start of the run.",
        bpy.types.Object,
        "gas_by stiffness_by volumes_by mass_by rigid_springs",
    ),
    (
        "gas",
        "Gas",
        "What the gas inside holds while the body is pressed, how long it flows in, and the weight of what is inside: "
        "helium, air, water. A water balloon holds its volume and has a density of 1,000; a helium balloon 0.17, with "
        "the density of the air in the scene's panel <b>Air and Liquid</b>. A vertex group can weight the pressure. A "
        "pump brings gas in, and it leaks into the air, or flows to another body through a hose: select two inflated "
        "bodies and press <b>Add Hose</b>. An empty between them, or the curve that is selected with them, is the "
        "hose, whose settings are in the panel <b>Body</b> while it is active. Its valve can be keyed. Press one "
        "cushion, and the other swells; a hose whose body was deleted says so and takes no part.",
        bpy.types.Object,
        declared("GAS", *BODIES)
        + " "
        + declared("FLUID", *BODIES)
        + " pressure_group tie_group pump_rate leak_diameter hose_from hose_to conductance valve",
    ),
    (
        "flow",
        "Flow and Tear",
        "What a soft body does under large loads: creep, so that it keeps a new shape; grow stiffer; tear and lose its "
        "gas; be glued to other soft bodies where they touch.",
        bpy.types.Object,
        declared("FLOW", *BODIES) + " weak_group",
    ),
    (
        "motion",
        "Motion",
        "Whether a body is simulated, and how it moves at the start.",
        bpy.types.Object,
        "is_active velocity angular_velocity origin_follows",
    ),
    (
        "attach",
        "Attach and Goal",
        "Vertices of a soft body can be glued to a rigid or to another soft body. Weights of the pin group below 1 "
        "pull by springs, as goals of Blender's Soft Body.",
        bpy.types.Object,
        "attach_to attach_group is_attached goal_stiffness goal_damping",
    ),
    (
        "fields",
        "Field Weights",
        "Blender's force fields (<b>Add &gt; Force Field</b>) act on soft and rigid bodies: Force, Wind, Vortex, "
        "Turbulence, Drag and Harmonic, with strength, flow, noise, falloff, direction, wind factor and the shapes "
        "Point, Line and Plane; animation is read at every frame. The strength is in newtons on the whole body, "
        "whatever its size. Other types, Absorption, 2D, and the shapes Surface and Every Point are not read. The "
        "weights are those of Blender's Cloth.",
        bpy.types.Object,
        "effector_collection weight_gravity weight_all weight_force weight_wind weight_vortex weight_turbulence "
        "weight_drag weight_harmonic",
    ),
    (
        "simulation",
        "Simulation",
        "<b>Simulate</b> fills the cache while you go on working; <b>Stop</b> or Esc ends it, and the frames that are "
        "done stay. Playing the timeline simulates as well, frame by frame. What the last frames took is told below "
        "the bar, in milliseconds and in steps. <b>Reset</b> empties the cache and goes to the first frame. "
        "<b>Live</b> plays without the timeline and the cache: drag bodies with the mouse to move and throw them, Ctrl "
        "Click pokes them, settings act at once. Esc returns to the start, Enter keeps the pose as a shape key of "
        "value 0, Shift Enter as the new start.",
        bpy.types.Scene,
        "use_scene_range frame_start frame_end speed detail substeps threads",
    ),
    (
        "cache",
        "Cache",
        "Which frames are kept, where, and how much they take. A saved file has its cache on disk; packed, it is in "
        "the .blend as well. <b>Delete Cache</b> removes it from memory and disk, and from the .blend at the next "
        "save.",
        bpy.types.Scene,
        "cache_folder pack_cache render_without_frames point_attributes",
    ),
    (
        "diagnostics",
        "Diagnostics",
        "<b>Check</b> looks for what would go wrong, and offers fixes. Below it is "
        "what the steps of the current frame tell of each island, which is what contacts, crossings or attachments "
        "join: steps, contacts, the change of energy, and why steps were shortened or bodies stick; those with reasons "
        "come first. It is told of frames that were simulated since the file was opened. <code>--trace "
        "FILE.csv</code> of the command line writes the same as a table.",
        bpy.types.Scene,
        "",
    ),
    (
        "curves",
        "Curves",
        "What the active body measures in each frame, drawn in every Graph Editor along its frames: volume as a share "
        "of the rest volume, pressure of the gas, normal forces of contacts at the end of the frame, energy of the "
        "motion, change of energy, and steps of the solver. Zoom, pan and playhead are the editor's; the mouse reads "
        "the values of a frame. <b>Open Graph Editor</b> makes room below the viewport. <b>Export CSV</b> writes the "
        "numbers of all bodies, as <code>blender --command softpressure export FILE.blend OUT.csv</code> does. They "
        "are kept with the cache; frames of earlier versions have none.",
        bpy.types.Scene,
        "show_curves curves",
    ),
    (
        "overlay",
        "Overlay",
        "Colors and marks over the bodies in the 3D viewport, in Object Mode, while its overlays are shown; renders do "
        "not change. Strain and pressures below that of the air have blue below zero and orange above it; other values "
        "go from dark to yellow. The legend says which value a color stands for.",
        bpy.types.Scene,
        "overlay_colour overlay_limit overlay_pins overlay_attachments overlay_hoses overlay_particles overlay_mesh "
        "overlay_thickness",
    ),
    (
        "fluids",
        "Air and Liquid",
        "What surrounds all bodies: air lifts and brakes them, and below its level a still liquid does. They act on "
        "closed bodies: skins, solids and rigid bodies, not on flat ones. The liquid is not drawn and does not move.",
        bpy.types.Scene,
        declared("FLUID", SCENE),
    ),
    (
        "method",
        "Method",
        "How the steps are made. <b>Soft Pressure</b> is the engine of this extension and simulates everything; XPBD "
        "and the methods of the papers are there for comparison. Choices of the papers are shown with the methods that "
        "take them. A file of an earlier version that asks for Automatic or Implicit gets Soft Pressure, and the panel "
        "<b>Simulation</b> says so.",
        bpy.types.Scene,
        declared("METHOD", SCENE),
    ),
    (
        "bake",
        "Bake",
        "Turns the cached frames into shape keys of soft bodies and keyframes of rigid ones. They play in any Blender, "
        "with or without this extension. <b>Free Bake</b> gives everything back as it was.",
        bpy.types.Scene,
        "",
    ),
    (
        "export",
        "Export",
        "Writes the motion for other programs, from the cache or from a bake. <b>Alembic</b> and <b>USD</b> have every "
        "frame of all objects, with their modifiers. <b>glTF</b> and <b>FBX</b> blend shape keys: bodies are baked to "
        "relative keys meanwhile, and freed again. <b>PC2</b> and <b>MDD</b> hold the vertices of one soft body, in "
        "its own space; of several there is a file each. <b>Bake to Relative Keys</b> leaves such keys in the scene: "
        "the object carries the motion of its body as a whole, unless it has a parent or children, and keys are the "
        "fewest that keep every vertex within the largest error. What they reach is told; <b>Free Bake</b> gives "
        "everything back.",
        bpy.types.Scene,
        "key_error",
    ),
    (
        "sweep",
        "Sweep",
        "Simulates the saved file with each combination of values, each case in a process of its own, while work goes "
        "on. The folder of the results lies beside the file: a row per case in <code>results.csv</code>, their last "
        "frames in <code>contact_sheet.png</code>, and for each case a folder with its file, which plays. Cases that "
        "are finished are not run again, unless the file has changed. <code>blender --command softpressure sweep"
        "</code> does the same.",
        bpy.types.WindowManager,
        "settings pairwise workers",
    ),
)
#: Ends of the names of their groups.
OWNERS = {bpy.types.Object: "object", bpy.types.Scene: "scene", bpy.types.WindowManager: "sweep"}
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.35em .7em .35em 0;"
    "border-top:1px solid #ddd}td:first-child{white-space:nowrap;font-weight:600}h2{margin-top:2.2em}"
    "ul{margin:.3em 0;padding-left:1.1em}nav a{margin-right:1em}:target{background:#fff6d8}"
)


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
    if prop.type in {"POINTER", "STRING"}:
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
    text = html.escape(prop.description) + "."
    if prop.identifier in DECLARED and (told := facts(DECLARED[prop.identifier])):
        text += f"<br><small>{html.escape(told)}</small>"
    animated = "yes" if prop.is_animatable else ""
    if prop.type == "ENUM":
        items = "".join(
            f"<li><b>{html.escape(item.name)}</b>: {html.escape(item.description)}.</li>" for item in prop.enum_items
        )
        text += f"<ul>{items}</ul>"
    anchor = f"<tr id='{group}-{prop.identifier}'>"
    return (
        f"{anchor}<td>{html.escape(prop.name)}</td><td>{default_of(prop)}</td><td>{animated}</td><td>{text}</td></tr>\n"
    )


def page() -> str:
    """The whole page; the extension must be registered."""
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>Soft Pressure</title>\n"
        f"<style>{STYLE}</style></head><body>\n<h1>Soft Pressure</h1>\n"
        "<p>The panels are in the sidebar of the 3D viewport (N), tab <b>Soft Pressure</b>, and in "
        "<b>Properties &gt; Physics</b>. All values are in SI units, as their fields show "
        "them, whatever the unit scale of the scene. What can be animated has a dot beside its field, for keyframes "
        "and drivers; all else has one value for the whole run. A frame is simulated with the values that it "
        "has.</p>\n<nav>"
    ]
    parts += [f"<a href='#{name}'>{title}</a>" for name, title, *_ in SECTIONS]
    parts.append("</nav>\n")
    owner: Any
    for name, title, text, owner, settings in SECTIONS:
        parts.append(f"<h2 id='{name}'>{title}</h2>\n<p>{text}</p>\n")
        if settings:
            group = owner.bl_rna.properties["softpressure"].fixed_type.properties
            rows = "".join(row(group[setting], OWNERS[owner]) for setting in settings.split())
            parts.append(
                f"<table><tr><th>Setting</th><th>Default</th><th>Animated</th><th></th></tr>\n{rows}</table>\n"
            )
    return "".join([*parts, "</body></html>\n"])


if __name__ == "__main__":
    softpressure_ext.register()
    PAGE.write_text(page(), encoding="utf-8")
