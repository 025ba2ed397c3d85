"""Settings of springs: stiffness, damping, flow and tears."""

from functools import partial

from .declaration import LATTICES, SKINS, SOFT, Parameter
from .methods import FORCE_BASED

_flow = partial(Parameter, bodies=SOFT, default=0.0, low=0.0, is_material=True, group="FLOW")
_elastic = partial(Parameter, low=0.0, is_animated=True, is_material=True, group="DAMPING")

PARAMETERS: tuple[Parameter, ...] = (
    _elastic(
        "stretch_modulus", "Stiffness",
        "Resistance of the skin to stretching, in N/m. A balloon has 500, a beach ball 20,000",
        bodies=SKINS, default=20_000.0, plain=dict.fromkeys(SKINS, 1e4), unit="N/m", least=1e-3, soft_low=100.0,
        soft_high=1e6, step=10_000, precision=0, where=("stiffness_by", "MODULUS"), group="BODY",
    ),
    _elastic(
        "bend_modulus", "Bending Stiffness",
        "Resistance of the skin to bending, in N m. Higher makes fewer, softer wrinkles",
        bodies=SKINS, default=0.01, plain=dict.fromkeys(SKINS, 0.0), unit="N m", soft_high=100.0, step=10, precision=3,
        short="Bending (N m)",
    ),
    _elastic(
        "modulus", "Young's Modulus",
        "Resistance to stretching and squeezing, in pascals. Jelly has 1e4, soft rubber 1e6",
        bodies=LATTICES, default=50_000.0, plain=dict.fromkeys(LATTICES, 1e5), unit="Pa", least=1.0, soft_low=1_000.0,
        soft_high=1e7, step=100_000, precision=0, where=("stiffness_by", "MODULUS"), group="BODY",
    ),
    _elastic(
        "spring_constant", "Spring Constant",
        "Stiffness of every edge or lattice spring, in N/m. A finer mesh is stiffer",
        bodies=SOFT, default=1_000.0, plain=dict.fromkeys(SOFT), unit="N/m", least=1e-6, soft_low=1.0,
        soft_high=100_000.0, step=1_000, precision=2, where=("stiffness_by", "SPRING"), group="BODY",
        short="Springs (N/m)",
    ),
    Parameter(
        "poisson_ratio", "Poisson's Ratio", "How much the body bulges when squeezed. Sponge has 0.25, rubber 0.49",
        bodies=("SOLID",), default=0.3, low=0.25, high=0.49, step=1, is_material=True, group="DAMPING",
    ),
    Parameter(
        "volume_compliance", "Volume Compliance",
        "Change of volume of a tetrahedron per pascal; 0 is rigid, with the method XPBD only",
        bodies=("SOLID",), default=0.0, plain={"SOLID": None}, unit="m^3/Pa", low=0.0, soft_high=1e-3, step=0.001,
        precision=6, where=("volumes_by", "COMPLIANCE"), group="DAMPING", short="Volumes (m³/Pa)",
    ),
    Parameter(
        "particle_radius", "Particle Radius",
        "Radius of spheres around lattice points, as a share of a cell. They keep fast bodies from collapsing",
        bodies=("TRUSS", "FLAT_TRUSS"), default=0.0, unit="of a cell", solvers=("XPBD", *FORCE_BASED), low=0.0,
        high=0.5, step=5, group="CONTACT",
    ),
    _elastic(
        "damping", "Damping", "How fast vibrations die away, per second; falling and rolling are not slowed down",
        bodies=SOFT, default=2.0, plain=dict.fromkeys(SOFT, 0.0), unit="1/s", soft_high=20.0, step=10,
        short="Damping (1/s)",
    ),
    _elastic(
        "spring_damping", "Edge Damping", "Damping along edges and springs. Fine ripples are damped first",
        bodies=SOFT, default=0.0, unit="N s/m", soft_high=1_000.0, step=100,
    ),
    Parameter(
        "rigid_springs", "Rigid Springs",
        "Springs keep their length, whatever their stiffness. With the method XPBD only",
        bodies=SOFT, default=False, solvers=("XPBD",),
    ),
    _flow(
        "creep_time", "Creep Time",
        "Seconds in which a deformed body loses most of its stress. Dough has 1; 0 is elastic",
        unit="s", soft_high=10.0, step=10,
    ),
    _flow(
        "yield_strain", "Yield Strain", "Strain up to which a creeping body stays elastic. Clay has 0.02",
        soft_high=0.5, step=1, precision=3,
    ),
    _flow(
        "plastic_limit", "Plastic Limit", "Largest permanent strain of a creeping body; 0 is unlimited",
        soft_high=2.0, step=5,
    ),
    Parameter(
        "stiffening", "Stiffening", "How much stiffer the body gets when strained; 0 is linear, 100 doubles it at 10 %",
        bodies=LATTICES, default=0.0, low=0.0, soft_high=200.0, step=100, is_material=True, group="FLOW",
    ),
    Parameter(
        "tear_strain", "Tear Strain", "Strain at which edges and springs tear; 0 never tears",
        bodies=SOFT, default=0.0, low=0.0, soft_high=3.0, step=5, is_animated=True, is_material=True, group="FLOW",
    ),
    Parameter(
        "sticks", "Sticky", "Glue the body to other soft bodies that it touches",
        bodies=SOFT, default=False, group="FLOW",
    ),
    Parameter(
        "bond_strength", "Adhesion", "Force in newtons that pulls a glued vertex off; 0 never comes off",
        bodies=SOFT, default=0.0, unit="N", low=0.0, soft_high=10.0, step=10, precision=3, is_animated=True,
        group="FLOW",
    ),
)  # fmt: skip
