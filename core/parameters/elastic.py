"""Settings of springs: stiffness, damping, flow and tears."""

from functools import partial

from .declaration import LATTICES, SKINS, SOFT, Parameter
from .methods import FORCE_BASED

_flow = partial(Parameter, bodies=SOFT, default=0.0, low=0.0, is_material=True, group="FLOW")
_elastic = partial(Parameter, low=0.0, is_animated=True, is_material=True, group="ELASTIC")

PARAMETERS: tuple[Parameter, ...] = (
    _elastic(
        name="stretch_modulus",
        label="Stretch Modulus",
        tooltip="Resistance of the skin to stretching in newtons per metre, whatever the resolution of the mesh. "
        "Higher is stiffer; a balloon has 500, a beach ball 20,000",
        bodies=SKINS,
        default=20_000.0,
        plain=dict.fromkeys(SKINS, 1e4),
        unit="N/m",
        least=1e-3,
        soft_low=100.0,
        soft_high=1e6,
        step=10_000,
        precision=0,
        where=("stiffness_by", "MODULUS"),
        short="Stretch (N/m)",
    ),
    _elastic(
        name="bend_modulus",
        label="Bend Modulus",
        tooltip="Resistance of the skin to bending in newton metres, whatever the resolution of the mesh. Higher "
        "means fewer and softer wrinkles; 0 is cloth",
        bodies=SKINS,
        default=0.01,
        plain=dict.fromkeys(SKINS, 0.0),
        unit="N m",
        soft_high=100.0,
        step=10,
        precision=3,
        short="Bend (N m)",
    ),
    _elastic(
        name="modulus",
        label="Young's Modulus",
        tooltip="Young's modulus in pascals: resistance to stretching and squeezing, whatever the size of the "
        "cells. Higher is stiffer. Jelly has 1e4, soft rubber 1e6",
        bodies=LATTICES,
        default=50_000.0,
        plain=dict.fromkeys(LATTICES, 1e5),
        unit="Pa",
        least=1.0,
        soft_low=1_000.0,
        soft_high=1e7,
        step=100_000,
        precision=0,
        where=("stiffness_by", "MODULUS"),
        short="Young's (Pa)",
    ),
    _elastic(
        name="spring_constant",
        label="Spring Constant",
        tooltip="Spring constant in newtons per metre of every edge of the mesh, or of every spring of a lattice. "
        "Higher is stiffer; so is a finer mesh. 200 to 1,000 in Mesit 2007",
        bodies=SOFT,
        default=1_000.0,
        plain=dict.fromkeys(SOFT),
        unit="N/m",
        least=1e-6,
        soft_low=1.0,
        soft_high=100_000.0,
        step=1_000,
        precision=2,
        where=("stiffness_by", "SPRING"),
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
        name="volume_compliance",
        label="Volume Compliance",
        tooltip="By how many cubic metres a tetrahedron changes its volume under a pascal, as the XPBD page counts it. "
        "Higher is softer, and so is a finer lattice; 0 is rigid, which only the method XPBD takes",
        bodies=("SOLID",),
        default=0.0,
        plain={"SOLID": None},
        unit="m^3/Pa",
        low=0.0,
        soft_high=1e-3,
        step=0.001,
        precision=6,
        where=("volumes_by", "COMPLIANCE"),
        group="ELASTIC",
        short="Volumes (m³/Pa)",
    ),
    Parameter(
        name="particle_radius",
        label="Particle Radius",
        tooltip="Radius of spheres around the points of a lattice, as a share of a cell's edge, which keep apart "
        "so that a fast one does not collapse (Kurmaly and Wu 2021). Larger holds better; 0 is none, 0.4 is enough. "
        "Not with the method Soft Pressure",
        bodies=("TRUSS", "FLAT_TRUSS"),
        default=0.0,
        unit="of a cell",
        solvers=("XPBD", *FORCE_BASED),
        low=0.0,
        high=0.5,
        step=5,
        group="ELASTIC",
    ),
    _elastic(
        name="damping",
        label="Damping",
        tooltip="How fast vibrations of the body die away, per second. Higher wobbles for a shorter time; "
        "falling and rolling are not slowed down",
        bodies=SOFT,
        default=2.0,
        plain=dict.fromkeys(SOFT, 0.0),
        unit="1/s",
        soft_high=20.0,
        step=10,
        short="Damping (1/s)",
    ),
    _elastic(
        name="spring_damping",
        label="Spring Damping",
        tooltip="Dampers along the springs, in newton seconds per metre of a skin, in pascal seconds of a lattice: how "
        "much they resist a rate of strain. With a spring constant it is that of each damper. Higher damps fine "
        "ripples first; turning and flying are not slowed down. 0 is none",
        bodies=SOFT,
        default=0.0,
        unit="N s/m",
        soft_high=1_000.0,
        step=100,
        short="Dampers",
    ),
    Parameter(
        name="rigid_springs",
        label="Rigid Springs",
        tooltip="Whether springs keep their length, whatever their stiffness: constraints without compliance. Only "
        "with the method XPBD; the others refuse it. For trusses, loops and coarse skins: finely meshed balloons "
        "tremble, and solids that are crushed stay crumpled",
        bodies=SOFT,
        default=False,
        solvers=("XPBD",),
    ),
    _flow(
        name="creep_time",
        label="Creep Time",
        tooltip="Time in seconds in which a body that is held deformed loses most of its stress, so that it flows and "
        "keeps its new shape. Higher flows more slowly; 0 is elastic, dough has 1",
        unit="s",
        soft_high=10.0,
        step=10,
        short="Creep Time (s)",
    ),
    _flow(
        name="yield_strain",
        label="Yield Strain",
        tooltip="Strain up to which a body that creeps is elastic. Higher flows under larger loads only; 0 flows under "
        "any, clay has 0.02",
        soft_high=0.5,
        step=1,
        precision=3,
    ),
    _flow(
        name="plastic_limit",
        label="Plastic Limit",
        tooltip="Largest lasting strain of a body that creeps. Higher flows farther; 0 is without limit",
        soft_high=2.0,
        step=5,
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
        tooltip="Strain at which edges of a skin or springs of a lattice tear: gas leaves through the hole, and pieces "
        "come apart. Higher holds more; 0 never tears",
        bodies=SOFT,
        default=0.0,
        low=0.0,
        soft_high=3.0,
        step=5,
        is_animated=True,
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
        name="bond_strength",
        label="Bond Strength",
        tooltip="Force in newtons with which a sticky body has to pull at a glued vertex to come off there; it sticks "
        "again only once the two have parted. Higher holds more, and so does a finer mesh; 0 never comes off",
        bodies=SOFT,
        default=0.0,
        unit="N",
        low=0.0,
        soft_high=10.0,
        step=10,
        precision=3,
        is_animated=True,
        group="FLOW",
        short="Bond (N)",
    ),
)
