"""The methods of simulation, as the panel offers them."""

from .declaration import Choice

#: Those of `solvers/choice.py`. The numbers are what files hold.
METHODS: tuple[Choice, ...] = (
    ("EXPLICIT", "Soft Pressure",
     "Short explicit steps for all kinds of bodies; nothing passes through anything. The default", 9),
    ("XPBD", "XPBD",
     "Position based dynamics (Macklin 2016). Fastest, for soft skins at low pressure; needs 20 substeps", 1),
    ("EXPLICIT_EULER", "Explicit Euler",
     "First order (Matyka 2004, section 6; Mesit 2007). Stiff or light skins need hundreds of substeps", 2),
    ("HEUN", "Heun",
     "Second order (Matyka 2004, appendix B). Gains energy slowly, so it needs damping and more substeps", 3),
    ("RK4_MARTIN", "Runge-Kutta, Martin",
     "First order, as positions move with the final velocity (Martin 2009, section 3.2). Damps fast vibrations", 4),
    ("RK4", "Runge-Kutta", "Fourth order (Kurmaly and Wu 2021). The most accurate in free flight", 5),
    ("IMPLICIT_KANG", "Simplified, Kang",
     "First order (Mesit 2007, equation 21, after Kang 2000). Damps strongly; trembles with few substeps", 6),
    ("IMPLICIT_MESIT", "Simplified, Mesit",
     "First order (Mesit 2007, equation 24). Damps strongly; needs as many substeps as the explicit methods", 7),
)  # fmt: skip

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
    ("BOUNDING_BOX", "Bounding Box",
     "Volume of the bounding box (Mesit 2007; Kurmaly and Wu 2021). The pressure of a turning body changes"),
    ("CENTRE_FAN", "Fan from the Center",
     "Tetrahedra from the center of the box (Kurmaly and Wu 2021). Exact where the center sees the whole skin"),
)  # fmt: skip
SPREADS: tuple[Choice, ...] = (
    ("EXACT_GRADIENT", "Exact", "Each vertex is pushed by a third of its triangles"),
    ("VALENCE", "By Springs",
     "Scaled by the number of springs at a vertex, without a net force (Martin 2009, section 3.1.2)"),
)  # fmt: skip
DETECTIONS: tuple[Choice, ...] = (
    ("SURFACE", "Surfaces", "All pairs of surfaces that may touch during a step"),
    ("FEATURE_PARTICLES", "Feature Particles",
     "Particles migrate over the skins (Martin 2009, section 5.2). They miss contacts, so bodies overlap"),
)  # fmt: skip
COLLIDER_RULES: tuple[Choice, ...] = (
    ("CONTACT", "Contact", "Impulses with friction keep a distance"),
    ("REFLECTION", "Reflection",
     "Positions and velocities are mirrored (Kurmaly and Wu 2021, section 4), without friction and bounciness"),
)  # fmt: skip
NEIGHBOUR_DAMPINGS: tuple[Choice, ...] = (
    ("SIMPLIFIED", "Simplified Methods", "In the two methods of Mesit 2007, equation 12"),
    ("ALL", "All", "In every method that integrates forces (Mesit 2007, equation 12)"),
    ("NONE", "None", "Without equation 12 of Mesit 2007"),
)
