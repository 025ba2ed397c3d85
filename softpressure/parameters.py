"""All settings of bodies: name, unit, default, bounds, tooltip, and the bodies that have each.

Blender's properties, the rows of the panel, capture, per-frame input, fingerprint, presets of materials and the pages
of the manual follow from this table.
"""

from dataclasses import dataclass
from typing import Any

#: What soft bodies can be made of; a lattice of a flat mesh has other settings than one of a closed mesh.
SOFT = ("MEMBRANE", "LOOP", "TRUSS", "FLAT_TRUSS", "SOLID")
SKINS = ("MEMBRANE", "LOOP")
LATTICES = ("TRUSS", "FLAT_TRUSS", "SOLID")
#: How much gas there is.
GAS = ("gauge_pressure", "gas_amount", "temperature")
#: What has a mass.
MOVING = (*SOFT, "RIGID")
BODIES = (*MOVING, "COLLIDER")

#: Identifier, label and tooltip of a choice, its icon, and the number that files hold.
Choice = tuple[str, str, str, str, int]

PRESSURES_AT: tuple[Choice, ...] = (
    ("REST", "At Rest", "The body has its pressure when it lies still in the air, whatever its skin does", "NONE", 1),
    (
        "DRAWN",
        "At Drawn Volume",
        "The gas would have its pressure at the volume of the drawn shape; a soft skin grows and keeps little of it",
        "NONE",
        0,
    ),
)
DRAWN_SHAPES: tuple[Choice, ...] = (
    ("INFLATED", "Inflated", "The skin is under tension as drawn, so that it keeps its shape or nearly so", "NONE", 1),
    ("SLACK", "Slack", "The skin is without tension as drawn: it grows when it is filled", "NONE", 0),
)
GIVEN_GAS: tuple[Choice, ...] = (
    ("PRESSURE", "Pressure", "The body has the gas that its pressure needs", "NONE", 0),
    (
        "AMOUNT",
        "Amount",
        "The amount of gas in moles and its temperature are given, as in the papers; the pressure follows from the "
        "volume",
        "NONE",
        1,
    ),
)
GIVEN_STIFFNESS: tuple[Choice, ...] = (
    (
        "MODULUS",
        "Modulus",
        "A modulus of the material: the body is as stiff on a coarse mesh as on a fine one",
        "NONE",
        0,
    ),
    (
        "SPRING",
        "Spring Constant",
        "All edges have one spring constant, as in the papers: a finer mesh is stiffer",
        "NONE",
        1,
    ),
)
GIVEN_MASS: tuple[Choice, ...] = (
    ("TOTAL", "Total", "The mass of the body, spread evenly over its skin or volume", "NONE", 0),
    ("POINTS", "Points", "All points have one mass, as in the papers: a finer mesh is heavier", "NONE", 1),
)
RIGID_SHAPES: tuple[Choice, ...] = (
    (
        "HULL",
        "Convex Hull",
        "The tightest shape without hollows around the mesh; works with any mesh, and is faster",
        "NONE",
        0,
    ),
    ("MESH", "Mesh", "The mesh itself, hollows and all; it must be closed", "NONE", 1),
)


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One setting. Its type is that of the default: a number, a choice, a truth value or a vector."""

    name: str
    label: str
    tooltip: str
    bodies: tuple[str, ...]
    default: Any
    unit: str = ""  # SI, as the core takes it
    low: float | None = None
    high: float | None = None
    soft_low: float | None = None  # of a slider
    soft_high: float | None = None
    step: float = 3.0  # of a click, in hundredths
    precision: int = 2  # digits
    choices: tuple[Choice, ...] = ()
    is_animated: bool = False  # read in each frame
    is_material: bool = False  # what presets hold
    is_captured: bool = True  # given to the builder; others say how a mesh is read
    where: tuple[str, str] = (
        "",
        "",
    )  # the choice and its value with which it counts; else it is not read and not shown
    group: str = ""  # rows of the panel that stand together; empty where a panel has a place of its own for it
    short: str = ""  # label in the panel, where the unit has to be named


PARAMETERS = (
    Parameter(
        name="rigid_shape",
        label="Shape",
        tooltip="What a rigid body touches others with",
        bodies=("RIGID",),
        default="HULL",
        choices=RIGID_SHAPES,
        is_captured=False,
        group="BODY",
    ),
    Parameter(
        name="mass",
        label="Mass",
        tooltip="Total mass in kilograms, spread over the skin, or over the volume of a solid. Heavier bodies "
        "push others harder and sag more",
        bodies=MOVING,
        default=1.0,
        unit="kg",
        low=1e-6,
        soft_low=0.01,
        soft_high=100.0,
        is_material=True,
        where=("mass_by", "TOTAL"),
        group="BODY",
        short="Mass (kg)",
    ),
    Parameter(
        name="point_mass",
        label="Point Mass",
        tooltip="Mass in kilograms of every vertex of the mesh, or of every point of a lattice. Higher makes the body "
        "heavier and slower; so does a finer mesh",
        bodies=SOFT,
        default=0.01,
        unit="kg",
        low=1e-9,
        soft_low=1e-4,
        soft_high=1.0,
        step=1,
        precision=4,
        is_material=True,
        where=("mass_by", "POINTS"),
        group="BODY",
        short="Point Mass (kg)",
    ),
    Parameter(
        name="cell_size",
        label="Cell Size",
        tooltip="Edge length in metres of the cells that fill the mesh. Larger is faster and coarser. 0 is "
        "automatic: four cells across the thinnest extent",
        bodies=LATTICES,
        default=0.0,
        unit="m",
        low=0.0,
        soft_high=1.0,
        step=1,
        precision=3,
        group="BODY",
    ),
    Parameter(
        name="depth",
        label="Depth",
        tooltip="Extent in metres of a flat body along the normal of its plane. Deeper means more gas and more "
        "material. 0 is automatic: the mean length of its edges, or the cell size",
        bodies=("LOOP", "FLAT_TRUSS"),
        default=0.0,
        unit="m",
        low=0.0,
        soft_high=1.0,
        step=1,
        precision=3,
        group="BODY",
    ),
    Parameter(
        name="gauge_pressure",
        label="Pressure",
        tooltip="Pressure of the gas above that of the air, in pascals. Higher makes the body firmer and "
        "rounder. A balloon has 3,000, a basketball 55,000. What it refers to is chosen below",
        bodies=SKINS,
        default=2_000.0,
        unit="Pa",
        low=-1e6,
        soft_low=0.0,
        soft_high=100_000.0,
        step=10_000,
        precision=0,
        is_animated=True,
        is_material=True,
        where=("gas_by", "PRESSURE"),
        group="BODY",
        short="Pressure (Pa)",
    ),
    Parameter(
        name="gas_amount",
        label="Amount of Gas",
        tooltip="How much gas is in the body, in moles. Its pressure is n R T / V less that of the air. Higher makes "
        "the body firmer and rounder; a litre of air in the room is 0.042 mol",
        bodies=SKINS,
        default=0.042,
        unit="mol",
        low=0.0,
        soft_high=1_000.0,
        step=10,
        precision=4,
        is_animated=True,
        is_material=True,
        where=("gas_by", "AMOUNT"),
        group="BODY",
        short="Gas (mol)",
    ),
    Parameter(
        name="temperature",
        label="Temperature",
        tooltip="Temperature of the gas in kelvins; 293.15 is that of a room. Higher raises the pressure in "
        "proportion. With 0.1203 a mole has n R T = 1 J, as where a text gives moles and no temperature",
        bodies=SKINS,
        default=293.15,
        unit="K",
        low=1e-6,
        soft_low=0.1,
        soft_high=1_000.0,
        step=100,
        precision=2,
        is_animated=True,
        is_material=True,
        where=("gas_by", "AMOUNT"),
        group="BODY",
        short="Temperature (K)",
    ),
    Parameter(
        name="pressure_at",
        label="Pressure",
        tooltip="What the pressure refers to",
        bodies=SKINS,
        default="REST",
        choices=PRESSURES_AT,
        is_material=True,
        where=("gas_by", "PRESSURE"),
        group="BODY",
        short=" ",  # of the pressure above
    ),
    Parameter(
        name="drawn_shape",
        label="Drawn Shape",
        tooltip="What the shape in Edit Mode is",
        bodies=SKINS,
        default="INFLATED",
        choices=DRAWN_SHAPES,
        is_material=True,
        group="SHAPE",
    ),
    Parameter(
        name="start_at_rest",
        label="Start at Rest",
        tooltip="Start with the shape that the pressure holds without gravity, instead of growing into it within "
        "half a second",
        bodies=SKINS,
        default=False,
        group="SHAPE",
    ),
    Parameter(
        name="stretch_modulus",
        label="Stretch Modulus",
        tooltip="Resistance of the skin to stretching in newtons per metre, whatever the resolution of the mesh. "
        "Higher is stiffer; a balloon has 500, a beach ball 20,000",
        bodies=SKINS,
        default=20_000.0,
        unit="N/m",
        low=1e-3,
        soft_low=100.0,
        soft_high=1e6,
        step=10_000,
        precision=0,
        is_animated=True,
        is_material=True,
        where=("stiffness_by", "MODULUS"),
        group="ELASTIC",
        short="Stretch (N/m)",
    ),
    Parameter(
        name="bend_modulus",
        label="Bend Modulus",
        tooltip="Resistance of the skin to bending in newton metres, whatever the resolution of the mesh. Higher "
        "means fewer and softer wrinkles; 0 is cloth",
        bodies=SKINS,
        default=0.01,
        unit="N m",
        low=0.0,
        soft_high=100.0,
        step=10,
        precision=3,
        is_animated=True,
        is_material=True,
        group="ELASTIC",
        short="Bend (N m)",
    ),
    Parameter(
        name="modulus",
        label="Young's Modulus",
        tooltip="Young's modulus in pascals: resistance to stretching and squeezing, whatever the size of the "
        "cells. Higher is stiffer. Jelly has 1e4, soft rubber 1e6",
        bodies=LATTICES,
        default=50_000.0,
        unit="Pa",
        low=1.0,
        soft_low=1_000.0,
        soft_high=1e7,
        step=100_000,
        precision=0,
        is_animated=True,
        is_material=True,
        where=("stiffness_by", "MODULUS"),
        group="ELASTIC",
        short="Young's (Pa)",
    ),
    Parameter(
        name="spring_constant",
        label="Spring Constant",
        tooltip="Spring constant in newtons per metre of every edge of the mesh, or of every spring of a lattice. "
        "Higher is stiffer; so is a finer mesh. 200 to 1,000 in Mesit 2007",
        bodies=SOFT,
        default=1_000.0,
        unit="N/m",
        low=1e-6,
        soft_low=1.0,
        soft_high=100_000.0,
        step=1_000,
        precision=2,
        is_animated=True,
        is_material=True,
        where=("stiffness_by", "SPRING"),
        group="ELASTIC",
        short="Springs (N/m)",
    ),
    Parameter(
        name="poisson_ratio",
        label="Poisson's Ratio",
        tooltip="How much the body widens when it is squeezed. Higher keeps the volume better: 0.25 is sponge, "
        "0.49 is rubber",
        bodies=("SOLID",),
        default=0.3,
        low=0.25,
        high=0.49,
        step=1,
        is_material=True,
        group="ELASTIC",
        short="Poisson",
    ),
    Parameter(
        name="particle_radius",
        label="Particle Radius",
        tooltip="Radius of spheres around the points of a lattice, as a share of a cell's edge, which keep apart "
        "so that a fast one does not collapse (Kurmaly and Wu 2021). Larger holds better; 0 is none, 0.4 is enough. "
        "Not with the methods Automatic, Explicit and Implicit",
        bodies=("TRUSS", "FLAT_TRUSS"),
        default=0.0,
        low=0.0,
        high=0.5,
        step=5,
        group="ELASTIC",
    ),
    Parameter(
        name="damping",
        label="Damping",
        tooltip="How fast vibrations of the body die away, per second. Higher wobbles for a shorter time; "
        "falling and rolling are not slowed down",
        bodies=SOFT,
        default=2.0,
        unit="1/s",
        low=0.0,
        soft_high=20.0,
        step=10,
        is_animated=True,
        is_material=True,
        group="ELASTIC",
        short="Damping (1/s)",
    ),
    Parameter(
        name="spring_damping",
        label="Spring Damping",
        tooltip="Dampers along the springs, in newton seconds per metre of a skin, in pascal seconds of a lattice: how "
        "much they resist a rate of strain. With a spring constant it is that of each damper. Higher damps fine "
        "ripples first; turning and flying are not slowed down. 0 is none",
        bodies=SOFT,
        default=0.0,
        unit="N s/m",
        low=0.0,
        soft_high=1_000.0,
        step=100,
        is_animated=True,
        is_material=True,
        group="ELASTIC",
    ),
    Parameter(
        name="rigid_springs",
        label="Rigid Springs",
        tooltip="Whether springs keep their length, whatever their stiffness: constraints without compliance. Only "
        "with the method XPBD; the others refuse it. For trusses, loops and coarse skins: finely meshed balloons "
        "tremble, and solids that are crushed stay crumpled",
        bodies=SOFT,
        default=False,
    ),
    Parameter(
        name="creep_time",
        label="Creep Time",
        tooltip="Time in seconds in which a body that is held deformed loses most of its stress, so that it flows and "
        "keeps its new shape. Higher flows more slowly; 0 is elastic, dough has 1",
        bodies=SOFT,
        default=0.0,
        unit="s",
        low=0.0,
        soft_high=10.0,
        step=10,
        is_material=True,
        group="FLOW",
        short="Creep Time (s)",
    ),
    Parameter(
        name="yield_strain",
        label="Yield Strain",
        tooltip="Strain up to which a body that creeps is elastic. Higher flows under larger loads only; 0 flows under "
        "any, clay has 0.02",
        bodies=SOFT,
        default=0.0,
        low=0.0,
        soft_high=0.5,
        step=1,
        precision=3,
        is_material=True,
        group="FLOW",
    ),
    Parameter(
        name="plastic_limit",
        label="Plastic Limit",
        tooltip="Largest lasting strain of a body that creeps. Higher flows farther; 0 is without limit",
        bodies=SOFT,
        default=0.0,
        low=0.0,
        soft_high=2.0,
        step=5,
        is_material=True,
        group="FLOW",
    ),
    Parameter(
        name="stiffening",
        label="Stiffening",
        tooltip="How much stiffer the body is where it is strained, as tissue is: its springs have 1 + this times the "
        "square of their strain. Higher resists large strains more; 0 is linear, 100 doubles at 10 %. Not with a "
        "creep time",
        bodies=LATTICES,
        default=0.0,
        low=0.0,
        soft_high=200.0,
        step=100,
        is_material=True,
        group="FLOW",
    ),
    Parameter(
        name="tear_strain",
        label="Tear Strain",
        tooltip="Strain at which edges of the skin tear; the gas leaves through the hole. Higher holds more; 0 never "
        "tears",
        bodies=SKINS,
        default=0.0,
        low=0.0,
        soft_high=3.0,
        step=5,
        is_material=True,
        group="FLOW",
    ),
    Parameter(
        name="sticks",
        label="Sticky",
        tooltip="Whether the body is glued to other soft bodies where it touches them",
        bodies=SOFT,
        default=False,
        group="FLOW",
    ),
    Parameter(
        name="linear_damping",
        label="Linear Damping",
        tooltip="How fast the speed of a rigid body dies away, per second. Higher is like a thicker fluid",
        bodies=("RIGID",),
        default=0.0,
        unit="1/s",
        low=0.0,
        soft_high=10.0,
        step=10,
        is_animated=True,
        group="DAMPING",
        short="Damping (1/s)",
    ),
    Parameter(
        name="angular_damping",
        label="Angular Damping",
        tooltip="How fast the spin of a rigid body dies away, per second. Higher comes to rest sooner",
        bodies=("RIGID",),
        default=0.1,
        unit="1/s",
        low=0.0,
        soft_high=10.0,
        step=10,
        is_animated=True,
        group="DAMPING",
        short="Spin Damping",
    ),
    Parameter(
        name="friction",
        label="Friction",
        tooltip="Coefficient of friction. Higher slides less: 0 is ice, 1 is rubber. Two bodies in contact use "
        "the geometric mean of theirs",
        bodies=BODIES,
        default=0.5,
        low=0.0,
        soft_high=2.0,
        is_animated=True,
        is_material=True,
        group="CONTACT",
    ),
    Parameter(
        name="bounciness",
        label="Bounciness",
        tooltip="Share of the speed that a contact gives back. Higher bounces more: 0 is clay, 0.85 is a good "
        "ball. Two bodies in contact use the geometric mean of theirs",
        bodies=BODIES,
        default=0.85,
        low=0.0,
        high=1.0,
        is_animated=True,
        is_material=True,
        group="CONTACT",
    ),
    Parameter(
        name="thickness",
        label="Thickness",
        tooltip="Distance in metres that the surface keeps from others. Larger is safer and faster, and shows as "
        "a gap. 0 is automatic: computed from the length of the edges",
        bodies=BODIES,
        default=0.0,
        unit="m",
        low=0.0,
        soft_high=0.1,
        step=0.1,
        precision=4,
        group="CONTACT",
    ),
    Parameter(
        name="gas_by",
        label="Gas",
        tooltip="What is given of the gas; the panel shows the other",
        bodies=SKINS,
        default="PRESSURE",
        choices=GIVEN_GAS,
        is_material=True,
        is_captured=False,
    ),
    Parameter(
        name="stiffness_by",
        label="Stiffness",
        tooltip="What is given of the stiffness; the panel shows the other",
        bodies=SOFT,
        default="MODULUS",
        choices=GIVEN_STIFFNESS,
        is_material=True,
        is_captured=False,
    ),
    Parameter(
        name="mass_by",
        label="Mass",
        tooltip="What is given of the mass; the panel shows the other",
        bodies=SOFT,
        default="TOTAL",
        choices=GIVEN_MASS,
        is_material=True,
        is_captured=False,
    ),
    Parameter(
        name="self_collision",
        label="Self Collision",
        tooltip="Whether parts of the skin push each other away where they meet. Off is faster",
        bodies=SKINS,
        default=True,
    ),
    Parameter(
        name="velocity",
        label="Velocity",
        tooltip="Velocity at the first frame in metres per second, along the axes of the world",
        bodies=MOVING,
        default=(0.0, 0.0, 0.0),
        unit="m/s",
    ),
    Parameter(
        name="angular_velocity",
        label="Spin",
        tooltip="Turning per second at the first frame, about the axes of the world through the centre of mass",
        bodies=("RIGID",),
        default=(0.0, 0.0, 0.0),
        unit="rad/s",
        step=1000,
    ),
)


def of_body(body: str) -> tuple[Parameter, ...]:
    """The settings that a body of `BODIES` has."""
    return tuple(parameter for parameter in PARAMETERS if body in parameter.bodies)


#: What is given of gas, stiffness and mass: choices with which other settings count or not.
GIVEN = {
    parameter.name: parameter for parameter in PARAMETERS if parameter.name in {each.where[0] for each in PARAMETERS}
}


def counts(parameter: Parameter, body: str, settings: Any) -> bool:
    """Whether a setting counts for a body of `BODIES` with these settings; one that does not is not read."""
    choice, value = parameter.where
    return choice not in GIVEN or body not in GIVEN[choice].bodies or getattr(settings, choice) == value


def is_other(parameter: Parameter) -> bool:
    """Whether a setting counts in place of another one that is the default."""
    choice, value = parameter.where
    return choice in GIVEN and GIVEN[choice].default != value


def captured(body: str, settings: Any) -> tuple[str, ...]:
    """Names of the settings of a body that the builder gets."""
    return tuple(each.name for each in of_body(body) if each.is_captured and counts(each, body, settings))


def animated(body: str) -> tuple[str, ...]:
    """Names of the numbers of a body that are read in each frame; without those of its gas."""
    names = (parameter.name for parameter in of_body(body) if parameter.is_animated)
    return tuple(name for name in names if name not in GAS)


def groups(body: str) -> tuple[tuple[Parameter, ...], ...]:
    """The settings of a body in the groups of a panel."""
    found: dict[str, list[Parameter]] = {}
    for parameter in of_body(body):
        if parameter.group:
            found.setdefault(parameter.group, []).append(parameter)
    return tuple(tuple(group) for group in found.values())
