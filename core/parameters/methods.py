"""The methods of simulation, as the panel offers them."""

from .declaration import Choice

#: Those of `solvers/choice.py`. The numbers are what files hold.
METHODS: tuple[Choice, ...] = (
    (
        "EXPLICIT",
        "Soft Pressure",
        "Many short steps at the limit of stability, as crash and airbag codes take them; impulses for simple rigid "
        "bodies alone. Chooses the length of its steps itself; nothing crosses. The default",
        9,
    ),
    (
        "XPBD",
        "XPBD",
        "Extended position based dynamics with small steps (Macklin 2016 and 2019, Müller 2020). By far the fastest; "
        "for soft skins at low pressure, as it cannot hold a high one. Wants 20 substeps or more",
        1,
    ),
    (
        "EXPLICIT_EULER",
        "Explicit Euler",
        "Matyka 2004, section 6; Mesit 2007, equations 6, 7 and 25. First order, cheapest, loses no energy. Stiff or "
        "light skins need hundreds of substeps",
        2,
    ),
    (
        "HEUN",
        "Heun",
        "Matyka 2004, appendix B. Second order; gains energy slowly, so it needs damping and more substeps than the "
        "others",
        3,
    ),
    (
        "RK4_MARTIN",
        "Runge-Kutta, Martin",
        "Martin 2009, section 3.2: positions move with the final velocity, so first order; damps fast vibrations",
        4,
    ),
    (
        "RK4",
        "Runge-Kutta",
        "Kurmaly and Wu 2021: the classical method of fourth order, the most exact one in free flight",
        5,
    ),
    (
        "IMPLICIT_KANG",
        "Simplified, Kang",
        "Mesit 2007, equation 21, after Kang 2000. First order, damps vibrations strongly; with few substeps it "
        "trembles",
        6,
    ),
    (
        "IMPLICIT_MESIT",
        "Simplified, Mesit",
        "Mesit 2007, equation 24. First order, damps vibrations strongly; needs as many substeps as the explicit "
        "methods or more",
        7,
    ),
)

#: The one that simulates everything; the others are for comparison.
ENGINE = "EXPLICIT"
#: Methods of earlier versions and their labels: it has replaced them. Files hold the numbers 8 and 0 for them.
EARLIER = {"AUTO": "Automatic", "IMPLICIT": "Implicit"}
#: Those of the papers, which integrate forces and bound no moves; also their names in `solvers/choice.py`.
FORCE_BASED = tuple(method[0] for method in METHODS if method[0] not in (ENGINE, "XPBD"))
#: Those of Mesit 2007, which divide each vertex by its own springs.
SIMPLIFIED = ("IMPLICIT_KANG", "IMPLICIT_MESIT")
#: Those that take the substeps of a scene; the engine chooses the length of its steps itself.
SUBSTEPPING = ("XPBD", *FORCE_BASED)


def current_method(name: str) -> str:
    """The method that a name of any version stands for; other names are returned as they are."""
    return ENGINE if name in EARLIER else name


#: Choices beside the method (`options.py`): the first of each is the default, the others those of papers.
VOLUMES: tuple[Choice, ...] = (
    ("EXACT", "Exact", "Volume enclosed by the skin"),
    (
        "BOUNDING_BOX",
        "Bounding Box",
        "Volume of the box around the body (Mesit 2007; Kurmaly and Wu 2021). A body that turns in its box changes its "
        "pressure, so energy comes and goes",
    ),
    (
        "CENTRE_FAN",
        "Fan from the Centre",
        "Sum of the tetrahedra from the centre of the box to each triangle (Kurmaly and Wu 2021): exact for balls and "
        "other bodies whose centre sees the whole skin, too large for others",
    ),
)
SPREADS: tuple[Choice, ...] = (
    ("EXACT_GRADIENT", "Exact", "Each vertex is pushed by what it adds to the volume: one third of its triangles"),
    (
        "VALENCE",
        "By Springs",
        "Martin 2009, section 3.1.2: scaled by the springs at each vertex over the average. What would push or turn "
        "the body as a whole is left out",
    ),
)
DETECTIONS: tuple[Choice, ...] = (
    ("SURFACE", "Surfaces", "Every pair of surfaces that may touch during a step is found"),
    (
        "FEATURE_PARTICLES",
        "Feature Particles",
        "Martin 2009, section 5.2: particles, one per eight vertices, migrate over the skins to where bodies are near. "
        "Misses contacts, so bodies sink into each other. Only with the methods of the papers",
    ),
)
COLLIDER_RULES: tuple[Choice, ...] = (
    ("CONTACT", "Contact", "Impulses with friction keep a thickness between bodies and colliders"),
    (
        "REFLECTION",
        "Reflection",
        "Kurmaly and Wu 2021, section 4: position and velocity of a vertex behind a collider are mirrored. No friction "
        "and no bounciness; bodies bounce a little too high. Only with the methods of the papers",
    ),
)
NEIGHBOUR_DAMPINGS: tuple[Choice, ...] = (
    (
        "SIMPLIFIED",
        "Simplified Methods",
        "Mesit 2007, equation 12, whose constant is the spring constant times the step, in his two methods",
    ),
    ("ALL", "All", "Mesit 2007, equation 12, in every method that integrates forces: Explicit Euler to Simplified"),
    (
        "NONE",
        "None",
        "Without equation 12 of Mesit 2007. A damper whose constant does not change with the step is Spring Damping of "
        "the bodies",
    ),
)
