"""Settings of contact and motion, and which quantities of a body are given."""

from functools import partial

from .declaration import BODIES, MOVING, SKINS, SOFT, Choice, Parameter

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
GIVEN_VOLUMES: tuple[Choice, ...] = (
    ("POISSON", "Poisson", "Volumes of tetrahedra are as stiff as modulus and Poisson's ratio say", "NONE", 0),
    (
        "COMPLIANCE",
        "Compliance",
        "All tetrahedra have one compliance, as on the XPBD page: 0 keeps their volumes whatever pulls at them",
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
        "Springs",
        "All edges have one spring constant, as in the papers: a finer mesh is stiffer",
        "NONE",
        1,
    ),
)
GIVEN_MASS: tuple[Choice, ...] = (
    ("TOTAL", "Total", "The mass of the body, spread evenly over its skin or volume", "NONE", 0),
    ("POINTS", "Points", "All points have one mass, as in the papers: a finer mesh is heavier", "NONE", 1),
)

_contact = partial(Parameter, bodies=BODIES, low=0.0, is_animated=True, is_material=True, group="CONTACT")
_slowing = partial(
    Parameter, bodies=("RIGID",), unit="1/s", low=0.0, soft_high=10.0, step=10, is_animated=True, group="DAMPING"
)
_given = partial(Parameter, is_material=True, is_captured=False)

PARAMETERS: tuple[Parameter, ...] = (
    _slowing(
        name="linear_damping",
        label="Linear Damping",
        tooltip="How fast the speed of a rigid body dies away, per second. Higher is like a thicker fluid",
        default=0.0,
        short="Damping (1/s)",
    ),
    _slowing(
        name="angular_damping",
        label="Angular Damping",
        tooltip="How fast the spin of a rigid body dies away, per second. Higher comes to rest sooner",
        default=0.1,
        plain={"RIGID": 0.0},
        short="Spin Damping",
    ),
    _contact(
        name="friction",
        label="Friction",
        tooltip="Coefficient of friction. Higher slides less: 0 is ice, 1 is rubber. Two bodies in contact use "
        "the geometric mean of theirs",
        default=0.5,
        soft_high=2.0,
    ),
    _contact(
        name="bounciness",
        label="Bounciness",
        tooltip="Share of the speed that a contact gives back. Higher bounces more: 0 is clay, 0.85 is a good "
        "ball. Two bodies in contact use the geometric mean of theirs",
        default=0.85,
        plain=dict.fromkeys((*SOFT, "COLLIDER"), 1.0) | {"RIGID": 0.0},
        high=1.0,
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
        name="sharp",
        label="Sharp",
        tooltip="Whether it cuts skins that it presses, as a needle or a knife does. Gas then leaves through the hole; "
        "a skin with a Tear Strain may burst from there",
        bodies=("RIGID", "COLLIDER"),
        default=False,
        group="CONTACT",
    ),
    _given(
        name="gas_by",
        label="Gas",
        tooltip="What is given of the gas; the panel shows the other",
        bodies=SKINS,
        default="PRESSURE",
        choices=GIVEN_GAS,
    ),
    _given(
        name="stiffness_by",
        label="Stiffness",
        tooltip="What is given of the stiffness; the panel shows the other",
        bodies=SOFT,
        default="MODULUS",
        choices=GIVEN_STIFFNESS,
    ),
    _given(
        name="volumes_by",
        label="Volumes",
        tooltip="What is given of how the volumes of tetrahedra resist a change",
        bodies=("SOLID",),
        default="POISSON",
        choices=GIVEN_VOLUMES,
    ),
    _given(
        name="mass_by",
        label="Mass",
        tooltip="What is given of the mass; the panel shows the other",
        bodies=SOFT,
        default="TOTAL",
        choices=GIVEN_MASS,
    ),
    Parameter(
        name="self_collision",
        label="Self Collision",
        tooltip="Whether parts of the skin push each other away where they meet. Off is faster",
        bodies=SKINS,
        default=True,
        plain=dict.fromkeys(SKINS, False),
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
