"""Settings of contact and motion, and which quantities of a body are given."""

from functools import partial

from .declaration import BODIES, MOVING, SKINS, SOFT, Choice, Parameter

GIVEN_GAS: tuple[Choice, ...] = (
    ("PRESSURE", "Pressure", "The pressure; the amount follows", "NONE", 0),
    ("AMOUNT", "Amount", "Moles and temperature, as in the papers; the pressure follows", "NONE", 1),
)
GIVEN_VOLUMES: tuple[Choice, ...] = (
    ("POISSON", "Poisson", "Young's modulus and Poisson's ratio", "NONE", 0),
    ("COMPLIANCE", "Compliance",
     "One compliance for all tetrahedra, as in texts on XPBD; 0 keeps their volumes", "NONE", 1),
)  # fmt: skip
GIVEN_STIFFNESS: tuple[Choice, ...] = (
    ("MODULUS", "Modulus", "A modulus of the material, independent of the mesh", "NONE", 0),
    ("SPRING", "Springs", "One spring constant for all edges, as in the papers; a finer mesh is stiffer", "NONE", 1),
)
GIVEN_MASS: tuple[Choice, ...] = (
    ("TOTAL", "Total", "The mass of the whole body", "NONE", 0),
    ("POINTS", "Points", "One mass for all points, as in the papers; a finer mesh is heavier", "NONE", 1),
)

_contact = partial(Parameter, bodies=BODIES, low=0.0, is_animated=True, is_material=True, group="BODY")
_slowing = partial(
    Parameter, bodies=("RIGID",), unit="1/s", low=0.0, soft_high=10.0, step=10, is_animated=True, group="DAMPING"
)
_given = partial(Parameter, is_material=True, is_captured=False)

PARAMETERS: tuple[Parameter, ...] = (
    _slowing("linear_damping", "Linear Damping", "How fast the speed dies away, per second", default=0.0),
    _slowing(
        "angular_damping", "Angular Damping", "How fast the spin dies away, per second",
        default=0.1, plain={"RIGID": 0.0},
    ),
    _contact(
        "friction", "Friction",
        "Resistance to sliding: 0 is ice, 1 is rubber. Two bodies use the geometric mean of theirs",
        default=0.5, soft_high=2.0,
    ),
    _contact(
        "bounciness", "Bounciness", "Share of the speed that a bounce gives back: clay 0, a good ball 0.85",
        default=0.85, plain=dict.fromkeys((*SOFT, "COLLIDER"), 1.0) | {"RIGID": 0.0}, high=1.0,
    ),
    Parameter(
        "thickness", "Thickness", "Distance kept from other surfaces. Larger is safer and faster, and shows as a gap",
        bodies=BODIES, default=0.0, unit="m", low=0.0, soft_high=0.1, step=0.1, precision=4, group="CONTACT",
    ),
    Parameter(
        "sharp", "Sharp", "Cut skins that it presses against, as a needle or a knife does",
        bodies=("RIGID", "COLLIDER"), default=False, group="CONTACT",
    ),
    _given("gas_by", "Gas", "Quantity that sets the gas", bodies=SKINS, default="PRESSURE", choices=GIVEN_GAS),
    _given(
        "stiffness_by", "Stiffness", "Quantity that sets the stiffness",
        bodies=SOFT, default="MODULUS", choices=GIVEN_STIFFNESS,
    ),
    _given(
        "volumes_by", "Volumes", "Quantity that sets how volumes are kept",
        bodies=("SOLID",), default="POISSON", choices=GIVEN_VOLUMES,
    ),
    _given("mass_by", "Mass", "Quantity that sets the mass", bodies=SOFT, default="TOTAL", choices=GIVEN_MASS),
    Parameter(
        "self_collision", "Self Collision", "Let parts of the body collide with each other. Off is faster",
        bodies=SOFT, default=True, plain=dict.fromkeys(SOFT, False),
    ),
    Parameter(
        "velocity", "Velocity", "Velocity at the first frame",
        bodies=MOVING, default=(0.0, 0.0, 0.0), unit="m/s",
    ),
    Parameter(
        "angular_velocity", "Spin", "Rotation per second at the first frame, about the center of mass",
        bodies=("RIGID",), default=(0.0, 0.0, 0.0), unit="rad/s", step=1000,
    ),
)  # fmt: skip
