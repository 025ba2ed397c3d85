"""Settings of shape, mass and gas."""

from functools import partial

from .declaration import LATTICES, MOVING, SKINS, SOFT, Choice, Parameter

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

#: What the gas or liquid inside keeps.
HOLDS: tuple[Choice, ...] = (
    ("AMOUNT", "Amount", "No gas enters or leaves: pressed together it pushes back harder", "NONE", 0),
    ("PRESSURE", "Pressure", "The pressure stays the same, as at a pump: the body yields without end", "NONE", 1),
    (
        "VOLUME",
        "Volume",
        "The volume that the body has with its pressure stays the same to 0.1 %, as of a liquid",
        "NONE",
        2,
    ),
)

_gas = partial(Parameter, bodies=SKINS, is_animated=True, is_material=True, group="BODY")
#: What is simulated of a body, which the drawn mesh then follows.
SIMULATION_MESHES: tuple[Choice, ...] = (
    ("DRAWN", "As Drawn", "The drawn mesh itself, which must be closed; its shortest edges set the pace", "NONE", 0),
    ("AUTO", "Automatic", "The drawn mesh where that is closed, as fast and not coarse; else an even one", "NONE", 1),
    ("EVEN", "Even", "An even closed mesh around what is drawn, whatever that is like", "NONE", 2),
    ("CUSTOM", "Custom", "The mesh of another object, as a cage around what is drawn", "NONE", 3),
)
#: What can follow another mesh than the drawn one.
FOLLOWING = ("MEMBRANE", "TRUSS", "SOLID")

_mass = partial(Parameter, unit="kg", low=0.0, is_material=True, group="BODY")
_fluid = partial(Parameter, bodies=("MEMBRANE",), low=0.0, is_material=True, group="FLUID")
_size = partial(Parameter, default=0.0, unit="m", low=0.0, soft_high=1.0, step=1, precision=3, group="BODY")

PARAMETERS: tuple[Parameter, ...] = (
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
        name="simulation_mesh",
        label="Simulation Mesh",
        tooltip="What is simulated of a body, which the drawn mesh then follows",
        bodies=FOLLOWING,
        default="AUTO",
        choices=SIMULATION_MESHES,
        is_captured=False,
        group="BODY",
    ),
    Parameter(
        name="simulation_vertices",
        label="Vertices",
        tooltip="How many vertices an even mesh gets. More follow finer shapes, and take longer by the power 3/2. "
        "0 takes as many as the detail of the scene says",
        bodies=FOLLOWING,
        default=0,
        low=0,
        soft_high=20_000,
        is_captured=False,
        group="BODY",
    ),
    _mass(
        name="mass",
        label="Mass",
        tooltip="Total mass in kilograms, spread over the skin, or over the volume of a solid. Heavier bodies "
        "push others harder and sag more",
        bodies=MOVING,
        default=1.0,
        least=1e-6,
        soft_low=0.01,
        soft_high=100.0,
        where=("mass_by", "TOTAL"),
        short="Mass (kg)",
    ),
    _mass(
        name="point_mass",
        label="Point Mass",
        tooltip="Mass in kilograms of every vertex of the mesh, or of every point of a lattice. Higher makes the body "
        "heavier and slower; so does a finer mesh",
        bodies=SOFT,
        default=0.01,
        plain=dict.fromkeys(SOFT),
        least=1e-9,
        soft_low=1e-4,
        soft_high=1.0,
        step=1,
        precision=4,
        where=("mass_by", "POINTS"),
        short="Point Mass (kg)",
    ),
    _size(
        name="cell_size",
        label="Cell Size",
        tooltip="Edge length in metres of the cells that fill the mesh. Larger is faster and coarser. 0 is "
        "automatic: four cells across the thinnest extent",
        bodies=LATTICES,
    ),
    _size(
        name="depth",
        label="Depth",
        tooltip="Extent in metres of a flat body along the normal of its plane. Deeper means more gas and more "
        "material. 0 is automatic: the mean length of its edges, or the cell size",
        bodies=("LOOP", "FLAT_TRUSS"),
    ),
    _gas(
        name="gauge_pressure",
        label="Pressure",
        tooltip="Pressure of the gas above that of the air, in pascals. Higher makes the body firmer and "
        "rounder. A balloon has 3,000, a basketball 55,000. What it refers to is chosen below",
        default=2_000.0,
        plain=dict.fromkeys(SKINS, 0.0),
        unit="Pa",
        least=-1e6,
        soft_low=0.0,
        soft_high=100_000.0,
        step=10_000,
        precision=0,
        where=("gas_by", "PRESSURE"),
        short="Pressure (Pa)",
    ),
    _gas(
        name="gas_amount",
        label="Amount of Gas",
        tooltip="How much gas is in the body, in moles. Its pressure is n R T / V less that of the air. Higher makes "
        "the body firmer and rounder; a litre of air in the room is 0.042 mol",
        default=0.042,
        plain=dict.fromkeys(SKINS),
        unit="mol",
        low=0.0,
        soft_high=1_000.0,
        step=10,
        precision=4,
        where=("gas_by", "AMOUNT"),
        short="Gas (mol)",
    ),
    _gas(
        name="temperature",
        label="Temperature",
        tooltip="Temperature of the gas in kelvins; 293.15 is that of a room. Higher raises the pressure in "
        "proportion. With 0.1203 a mole has n R T = 1 J, as where a text gives moles and no temperature",
        default=293.15,
        unit="K",
        low=0.0,
        least=1e-6,
        soft_low=0.1,
        soft_high=1_000.0,
        step=100,
        precision=2,
        where=("gas_by", "AMOUNT"),
        short="Temp. (K)",
    ),
    Parameter(
        name="pressure_at",
        label="Pressure",
        tooltip="What the pressure refers to",
        bodies=SKINS,
        default="REST",
        plain=dict.fromkeys(SKINS, "DRAWN"),
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
        plain=dict.fromkeys(SKINS, "SLACK"),
        choices=DRAWN_SHAPES,
        is_material=True,
        group="SHAPE",
    ),
    _fluid(
        name="gas_hold",
        label="Hold",
        tooltip="What of the gas inside stays the same while the body is pressed",
        bodies=SKINS,
        default="AMOUNT",
        low=None,
        choices=HOLDS,
    ),
    _fluid(
        name="gas_exponent",
        label="Exponent",
        tooltip="How much the gas heats up as it is compressed, where its amount is held: pressure times volume to "
        "the power of this stays the same. Higher is firmer; 1 is slow, at constant temperature, 1.4 is fast, "
        "adiabatic air, 1.67 helium",
        bodies=SKINS,
        default=1.0,
        low=1.0,
        high=5.0 / 3.0,
        step=5,
    ),
    _fluid(
        name="inflation_time",
        label="Inflation Time",
        tooltip="For how many seconds from the start the gas flows in, until the body has its pressure; before that it "
        "is limp. Longer is slower; 0 is from the start",
        bodies=SKINS,
        default=0.0,
        unit="s",
        soft_high=10.0,
        step=10,
        is_material=False,
        short="Inflate (s)",
    ),
    _fluid(
        name="fill_density",
        label="Density Inside",
        tooltip="Density of the gas or liquid inside in kilograms per cubic metre, whose mass and weight then count: "
        "0.17 for helium, 1.2 for air, 1,000 for water. Higher is heavier and sags more. 0 has none; for a liquid, "
        "hold the volume",
        default=0.0,
        unit="kg/m^3",
        soft_high=2_000.0,
        step=100,
        short="Inside (kg/m³)",
    ),
    _fluid(
        name="fill_share",
        label="Filled",
        tooltip="Which part of the volume is filled with what has that density; above it is gas without weight. Higher "
        "is heavier; 1 is full",
        default=1.0,
        high=1.0,
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
)
