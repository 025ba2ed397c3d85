"""Settings of shape, mass and gas."""

from functools import partial

from .declaration import LATTICES, MOVING, SKINS, SOFT, Choice, Parameter

PRESSURES_AT: tuple[Choice, ...] = (
    ("REST", "At Rest", "When it lies at rest in air, whatever its skin does", "NONE", 1),
    ("DRAWN", "As Modeled", "At the volume of the mesh; a soft skin grows and loses most of the pressure", "NONE", 0),
)
DRAWN_SHAPES: tuple[Choice, ...] = (
    ("INFLATED", "Inflated", "Modeled under pressure: the body keeps its shape", "NONE", 1),
    ("SLACK", "Unstretched", "Modeled without tension: the body grows when it is inflated", "NONE", 0),
)
RIGID_SHAPES: tuple[Choice, ...] = (
    ("HULL", "Convex Hull", "Shape without hollows around the mesh; works with any mesh, and is faster", "NONE", 0),
    ("MESH", "Mesh", "The mesh itself with its hollows; it must be closed", "NONE", 1),
)

#: What the gas or liquid inside keeps.
HOLDS: tuple[Choice, ...] = (
    ("AMOUNT", "Amount", "No gas enters or leaves: squeezing raises the pressure", "NONE", 0),
    ("PRESSURE", "Pressure", "The pressure stays the same, as with a pump", "NONE", 1),
    ("VOLUME", "Volume", "The volume stays the same to 0.1 %, as with a liquid", "NONE", 2),
)

_gas = partial(Parameter, bodies=SKINS, is_animated=True, is_material=True, group="BODY")
#: What is simulated of a body, which the drawn mesh then follows.
SIMULATION_MESHES: tuple[Choice, ...] = (
    ("DRAWN", "As Modeled", "The mesh itself, which must be closed; its shortest edges set the speed", "NONE", 0),
    ("AUTO", "Automatic", "The mesh itself if it is closed and not slower, otherwise an even mesh", "NONE", 1),
    ("EVEN", "Even", "An even, closed mesh around the mesh of the object", "NONE", 2),
    ("CUSTOM", "Custom", "The mesh of another object, as a cage around the mesh", "NONE", 3),
)
#: What can follow another mesh than the drawn one.
FOLLOWING = ("MEMBRANE", "TRUSS", "SOLID")

_mass = partial(Parameter, unit="kg", low=0.0, is_material=True, group="BODY")
_fluid = partial(Parameter, bodies=("MEMBRANE",), low=0.0, is_material=True, group="FLUID")
_size = partial(Parameter, default=0.0, unit="m", low=0.0, soft_high=1.0, step=1, precision=3, group="SHAPE")

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "rigid_shape", "Shape", "Collision shape of the rigid body",
        bodies=("RIGID",), default="HULL", choices=RIGID_SHAPES, is_captured=False, group="BODY",
    ),
    Parameter(
        "simulation_mesh", "Simulation Mesh", "Mesh that is simulated; the object's mesh follows it",
        bodies=FOLLOWING, default="AUTO", choices=SIMULATION_MESHES, is_captured=False, group="SHAPE",
    ),
    Parameter(
        "simulation_vertices", "Vertices", "Vertices of the even mesh. More follow finer shapes and take longer",
        bodies=FOLLOWING, default=0, low=0, soft_high=20_000, is_captured=False, group="SHAPE",
    ),
    _mass(
        "mass", "Mass", "Total mass in kilograms",
        bodies=MOVING, default=1.0, least=1e-6, soft_low=0.01, soft_high=100.0, where=("mass_by", "TOTAL"),
        short="Mass (kg)",
    ),
    _mass(
        "point_mass", "Point Mass", "Mass of each vertex or lattice point in kilograms",
        bodies=SOFT, default=0.01, plain=dict.fromkeys(SOFT), least=1e-9, soft_low=1e-4, soft_high=1.0, step=1,
        precision=4, where=("mass_by", "POINTS"), short="Point Mass (kg)",
    ),
    _size(
        "cell_size", "Cell Size", "Edge length of the cells that fill the mesh. Larger is faster and coarser",
        bodies=LATTICES,
    ),
    _size("depth", "Depth", "Extent of a flat body along the normal of its plane", bodies=("LOOP", "FLAT_TRUSS")),
    _gas(
        "gauge_pressure", "Pressure",
        "Pressure above that of the air outside, in pascals. A balloon has 3,000, a basketball 55,000",
        default=2_000.0, plain=dict.fromkeys(SKINS, 0.0), unit="Pa", least=-1e6, soft_low=0.0, soft_high=100_000.0,
        step=10_000, precision=0, where=("gas_by", "PRESSURE"), short="Pressure (Pa)",
    ),
    _gas(
        "gas_amount", "Amount of Gas", "Amount of gas in moles; a liter of air has 0.042",
        default=0.042, plain=dict.fromkeys(SKINS), unit="mol", low=0.0, soft_high=1_000.0, step=10, precision=4,
        where=("gas_by", "AMOUNT"), short="Gas (mol)",
    ),
    _gas(
        "temperature", "Temperature", "Temperature of the gas in kelvins; room temperature is 293.15",
        default=293.15, unit="K", low=0.0, least=1e-6, soft_low=0.1, soft_high=1_000.0, step=100, precision=2,
        where=("gas_by", "AMOUNT"), short="Temp. (K)",
    ),
    Parameter(
        "pressure_at", "Pressure Reference", "Shape in which the body has its pressure",
        bodies=SKINS, default="REST", plain=dict.fromkeys(SKINS, "DRAWN"), choices=PRESSURES_AT, is_material=True,
        where=("gas_by", "PRESSURE"), group="GAS",
    ),
    Parameter(
        "drawn_shape", "Modeled Shape", "Whether the mesh is modeled inflated or unstretched",
        bodies=SKINS, default="INFLATED", plain=dict.fromkeys(SKINS, "SLACK"), choices=DRAWN_SHAPES, is_material=True,
        group="SHAPE",
    ),
    _fluid(
        "gas_hold", "Constant", "What stays constant when the body is squeezed",
        bodies=SKINS, default="AMOUNT", low=None, choices=HOLDS,
    ),
    _fluid(
        "gas_exponent", "Adiabatic Index",
        "How much gas heats up when compressed: 1 is isothermal, 1.4 is adiabatic air, 1.67 helium",
        bodies=SKINS, default=1.0, low=1.0, high=5.0 / 3.0, step=5,
    ),
    _fluid(
        "inflation_time", "Inflation Time", "Seconds until the body has its pressure; 0 is inflated from the start",
        bodies=SKINS, default=0.0, unit="s", soft_high=10.0, step=10, is_material=False,
    ),
    _fluid(
        "fill_density", "Filling Density",
        "Density of the gas or liquid inside, in kg/m³: helium 0.17, air 1.2, water 1,000. 0 is weightless",
        default=0.0, unit="kg/m^3", soft_high=2_000.0, step=100,
    ),
    _fluid(
        "fill_share", "Fill Level", "Share of the volume that is filled; the gas above has no weight",
        default=1.0, high=1.0,
    ),
    Parameter(
        "start_at_rest", "Start at Rest", "Start in the shape that the pressure holds, instead of growing into it",
        bodies=SKINS, default=False, group="SHAPE",
    ),
)  # fmt: skip
