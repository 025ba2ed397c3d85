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
        name="detail",
        label="Detail",
        tooltip="How fine the even meshes of bodies are that have no number of vertices of their own",
        default="NORMAL",
        choices=tuple((name, name.title(), f"{count:,} vertices for each body") for name, count in DETAIL.items()),
        taken_by="CAPTURE",
    ),
    _setting(
        name="substeps",
        label="Substeps",
        tooltip="Time steps per frame of the methods that do not choose their own number. More is slower, bounces "
        "livelier and follows fast motion better",
        default=10,
        low=1,
        soft_high=100,
        solvers=methods.SUBSTEPPING,
        taken_by="WORLD",
    ),
    _setting(
        name="speed",
        label="Speed",
        tooltip="How fast time passes in the simulation. Below 1 is slow motion, above 1 time lapse",
        default=1.0,
        low=0.1,
        high=10.0,
        step=10,
        taken_by="FRAMES",
    ),
    _setting(
        name="ambient_pressure",
        label="Air Pressure",
        tooltip="Pressure of the air around all bodies in pascals. Higher keeps volumes better; 0 is a vacuum, "
        "where the gas has only its own",
        default=101_325.0,
        unit="Pa",
        low=0.0,
        soft_high=200_000.0,
        step=100_000,
        precision=0,
        group="ADVANCED",
        short="Air (Pa)",
    ),
    _fluid(
        name="air_density",
        label="Air Density",
        tooltip="Density of the air around all bodies in kilograms per cubic metre, which lifts and brakes them; 1.2 "
        "at sea level. Higher lets lighter bodies rise. 0 has no buoyancy",
        default=0.0,
        unit="kg/m^3",
        soft_high=10.0,
        step=10,
        short="Air (kg/m³)",
    ),
    _fluid(
        name="liquid_density",
        label="Liquid Density",
        tooltip="Density of a still liquid below the level in kilograms per cubic metre, in which bodies float or "
        "sink; 1,000 for water. Higher lets heavier bodies float. 0 has none",
        default=0.0,
        unit="kg/m^3",
        soft_high=2_000.0,
        step=1_000,
        precision=1,
        short="Liquid (kg/m³)",
    ),
    _fluid(
        name="liquid_level",
        label="Liquid Level",
        tooltip="Height of the surface of the liquid in metres, against gravity from the world's origin. Higher floods "
        "more",
        default=0.0,
        unit="m",
        low=None,
        soft_low=-10.0,
        soft_high=10.0,
        is_animated=True,
        short="Level (m)",
    ),
    _fluid(
        name="drag_coefficient",
        label="Drag",
        tooltip="How much air and liquid brake a body by its cross-section: 0.5 for a ball, 1 for a box. Higher stops "
        "sooner; 0 does not brake. Only with a density of air or liquid",
        default=0.5,
        soft_high=2.0,
        step=5,
    ),
    _setting(
        name="threads",
        label="Threads",
        tooltip="Processor threads of the simulation. 0 is automatic: one for small scenes, all for larger ones. "
        "The result does not depend on it",
        default=0,
        low=0,
        soft_high=64,
        is_dated=False,
        taken_by="WORLD",
        group="ADVANCED",
    ),
    _setting(
        name="solver",
        label="Method",
        tooltip="How a time step is made: by the engine of this extension, or by one of the methods of the papers for "
        "comparison",
        default=methods.ENGINE,
        choices=methods.METHODS,
        taken_by="WORLD",
        group="METHOD",
    ),
    _option(
        name="added_mass",
        label="Added Mass",
        tooltip="How much mass, in per cent of a body's, may be added where it is stiffest, so that explicit "
        "steps can be longer. Higher is faster; its total mass, and how it hangs and rests, stay the same. 0 adds "
        "none",
        default=1.0,
        unit="%",
        low=0.0,
        high=10.0,
        precision=1,
        solvers=(methods.ENGINE,),
    ),
    _option(
        name="volume_rule",
        label="Volume",
        tooltip="How the volume in the gas law is computed",
        default="EXACT",
        choices=methods.VOLUMES,
        option="volume",
        solvers=methods.SUBSTEPPING,
    ),
    _option(
        name="pressure_spread",
        label="Spread",
        tooltip="How the pressure is spread over the vertices",
        default="EXACT_GRADIENT",
        choices=methods.SPREADS,
        option="spread",
        solvers=methods.SUBSTEPPING,
    ),
    _option(
        name="detection",
        label="Contacts",
        tooltip="How contacts are found",
        default="SURFACE",
        choices=methods.DETECTIONS,
        solvers=methods.FORCE_BASED,
    ),
    _particle(
        name="particles_per_vertex",
        label="Particles per Vertex",
        tooltip="Feature particles of each skin, per vertex; an eighth in Martin 2009, 5.2.1. More find more contacts, "
        "and take longer",
        default=0.125,
        least=1e-3,
        high=1.0,
        step=5,
        precision=3,
        short="Per Vertex",
    ),
    _particle(
        name="particle_skin",
        label="Skin Thickness",
        tooltip="Thickness of the skins between which feature particles find contacts, as a share of a body's radius; "
        "0.5 for a radius of 3 in Martin 2009, 5.2.1.1. Larger finds more, and shows as a gap",
        default=0.1667,
        least=1e-3,
        high=1.0,
        step=1,
        precision=3,
        short="Skin",
    ),
    _particle(
        name="particle_attraction",
        label="Attraction",
        tooltip="How much stronger the particles of the other skin attract one than its own repel it; 2 in Martin "
        "2009, 5.2.1. Higher gathers them where bodies are near; lower spreads them",
        default=2.0,
        soft_high=10.0,
        step=10,
    ),
    _option(
        name="collider_rule",
        label="Colliders",
        tooltip="What happens where a soft body meets a collider",
        default="CONTACT",
        choices=methods.COLLIDER_RULES,
        solvers=methods.FORCE_BASED,
    ),
    _option(
        name="neighbour_damping",
        label="Damping of Neighbours",
        tooltip="Which of the methods of the papers damp each vertex relative to its neighbours",
        default="SIMPLIFIED",
        choices=methods.NEIGHBOUR_DAMPINGS,
        solvers=methods.FORCE_BASED,
        short="Neighbours",
    ),
    _option(
        name="restore_momentum",
        label="Restore Momentum",
        tooltip="Give each body back the momentum and angular momentum that the two simplified methods lose; else a "
        "stiff body begins to fall only after hundreds of steps. Mesit 2007 has no such step",
        default=True,
        solvers=methods.SIMPLIFIED,
    ),
    _option(
        name="ramp_time",
        label="Ramp",
        tooltip="For how many seconds the pressure rises to its value; gravity acts when it is reached (Matyka "
        "2004, section 5.1). Longer starts more gently; with 0 both act from the start",
        default=0.0,
        unit="s",
        low=0.0,
        soft_high=5.0,
        short="Ramp (s)",
    ),
    _option(
        name="use_step_damping",
        label="Damping per Step",
        tooltip="Slow all motion down, that of stiff springs most (Martin 2009, section 3.1.3): by 1 % and by "
        "the share of the stiffest spring, 60 times per second",
        default=False,
        option="step_damping",
        solvers=methods.SUBSTEPPING,
    ),
    _option(
        name="stiffest_spring",
        label="Stiffest Spring",
        tooltip="Spring constant in newtons per metre whose motion is stopped at once; 400 in Martin 2009, "
        "3.1.3. Higher damps less. Must be above the springs of all bodies",
        default=400.0,
        unit="N/m",
        low=0.0,
        least=1e-3,
        soft_high=1e6,
        precision=0,
        where=("use_step_damping", True),
        solvers=methods.SUBSTEPPING,
    ),
)
