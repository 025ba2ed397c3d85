"""Settings of scenes."""

from functools import partial

from . import methods
from .declaration import SCENE, Parameter

_setting = partial(Parameter, bodies=(SCENE,))
_option = partial(_setting, taken_by="OPTIONS", group="METHOD")

_particle = partial(_option, low=0.0, solvers=methods.FORCE_BASED, where=("detection", "FEATURE_PARTICLES"))

_fluid = partial(_setting, low=0.0, group="FLUID", taken_by="MODEL")

#: Vertices of an even mesh, by detail.
DETAIL = {"DRAFT": 300, "NORMAL": 1_000, "FINE": 4_000}

PARAMETERS: tuple[Parameter, ...] = (
    _setting(
        "detail", "Detail", "Resolution of even simulation meshes and of automatic cells",
        default="NORMAL",
        choices=tuple((name, name.title(), f"{count:,} vertices per body") for name, count in DETAIL.items()),
        taken_by="CAPTURE",
    ),
    _setting(
        "substeps", "Substeps", "Time steps per frame. More is slower and more accurate",
        default=10, low=1, soft_high=100, solvers=methods.SUBSTEPPING, taken_by="WORLD",
    ),
    _setting(
        "speed", "Speed", "Speed of time: below 1 is slow motion, above 1 is time lapse",
        default=1.0, low=0.1, high=10.0, step=10, taken_by="FRAMES",
    ),
    _setting(
        "ambient_pressure", "Air Pressure", "Pressure of the air outside, in pascals; 0 is a vacuum",
        default=101_325.0, unit="Pa", low=0.0, soft_high=200_000.0, step=100_000, precision=0, group="FLUID",
    ),
    _fluid(
        "air_density", "Air Density",
        "Density of the air, in kg/m³, which lifts and slows bodies; 1.2 at sea level, 0 is none",
        default=0.0, unit="kg/m^3", soft_high=10.0, step=10,
    ),
    _fluid(
        "liquid_density", "Liquid Density",
        "Density of the still liquid below the level, in kg/m³. Water has 1,000; 0 is none",
        default=0.0, unit="kg/m^3", soft_high=2_000.0, step=1_000, precision=1,
    ),
    _fluid(
        "liquid_level", "Liquid Level", "Height of the surface of the liquid above the world origin, against gravity",
        default=0.0, unit="m", low=None, soft_low=-10.0, soft_high=10.0, is_animated=True,
    ),
    _fluid(
        "drag_coefficient", "Drag", "Drag of air and liquid. A ball has 0.5, a box 1",
        default=0.5, soft_high=2.0, step=5,
    ),
    _setting(
        "threads", "Threads", "Number of processor threads. The result does not depend on it",
        default=0, low=0, soft_high=64, is_dated=False, taken_by="WORLD",
    ),
    _setting(
        "solver", "Method", "How time steps are computed",
        default=methods.ENGINE, choices=methods.METHODS, taken_by="WORLD", group="METHOD",
    ),
    _option(
        "added_mass", "Added Mass",
        "Share of mass added where a body is stiffest, for longer steps; its total mass stays the same",
        default=1.0, unit="%", low=0.0, high=10.0, precision=1, solvers=(methods.ENGINE,),
    ),
    _option(
        "volume_rule", "Volume", "How the volume in the gas law is computed",
        default="EXACT", choices=methods.VOLUMES, option="volume", solvers=methods.SUBSTEPPING,
    ),
    _option(
        "pressure_spread", "Pressure Spread", "How the pressure is distributed over the vertices",
        default="EXACT_GRADIENT", choices=methods.SPREADS, option="spread", solvers=methods.SUBSTEPPING,
    ),
    _option(
        "detection", "Contacts", "How contacts are found",
        default="SURFACE", choices=methods.DETECTIONS, solvers=methods.FORCE_BASED,
    ),
    _particle(
        "particles_per_vertex", "Particles per Vertex",
        "Feature particles per vertex. More find more contacts and take longer",
        default=0.125, least=1e-3, high=1.0, step=5, precision=3,
    ),
    _particle(
        "particle_skin", "Skin Thickness",
        "Distance within which feature particles find contacts, as a share of the body's radius",
        default=0.1667, least=1e-3, high=1.0, step=1, precision=3,
    ),
    _particle(
        "particle_attraction", "Attraction",
        "How strongly particles of another skin attract, relative to the repulsion within a skin",
        default=2.0, soft_high=10.0, step=10,
    ),
    _option(
        "collider_rule", "Colliders", "What happens where a soft body meets a collider",
        default="CONTACT", choices=methods.COLLIDER_RULES, solvers=methods.FORCE_BASED,
    ),
    _option(
        "neighbour_damping", "Neighbor Damping", "Which methods damp each vertex relative to its neighbors",
        default="SIMPLIFIED", choices=methods.NEIGHBOUR_DAMPINGS, solvers=methods.FORCE_BASED,
    ),
    _option(
        "restore_momentum", "Restore Momentum", "Give back the momentum that the two simplified methods lose",
        default=True, solvers=methods.SIMPLIFIED,
    ),
    _option(
        "ramp_time", "Ramp", "Seconds in which the pressure rises; gravity acts after them",
        default=0.0, unit="s", low=0.0, soft_high=5.0,
    ),
    _option(
        "use_step_damping", "Damping per Step",
        "Damp all motion 60 times per second, stiff springs most (Martin 2009, section 3.1.3)",
        default=False, option="step_damping", solvers=methods.SUBSTEPPING,
    ),
    _option(
        "stiffest_spring", "Stiffest Spring",
        "Spring constant whose motion is stopped at once, in N/m. Must be above all springs",
        default=400.0, unit="N/m", low=0.0, least=1e-3, soft_high=1e6, precision=0, where=("use_step_damping", True),
        solvers=methods.SUBSTEPPING,
    ),
)  # fmt: skip
