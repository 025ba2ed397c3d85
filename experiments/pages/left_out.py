"""What of the five texts is neither repeated on the page nor done as printed, with the reason."""

LEFT_OUT = {
    "Matyka 2004": (
        """Sizes, masses and constants: the text gives none; ours are stated. What is compared is what happens.""",
        """Equation 3 and its listing, V = Σ ½ |x₁ − x₂| |n_x| dl: it tends to zero as the points grow in number, as the
        edges' horizontal and vertical extents are multiplied. Equation 11 of his own appendix A is the area, and is
        what we use. Volume by bounding box, which he replaces, is in the sections of Mesit and of Kurmaly and Wu.""",
        """Slips of the listing: `NUMS = NUMP + 1`, π = 3.14, a vertical velocity that the mass does not divide, a
        normal that points inwards for one of the two orders of the points.""",
        """Figures 1 to 3 are drawings of the data and the loop; section 7 (drawing with OpenGL) and section 8 (the
        source) are replaced by this project and by Blender's renderer.""",
        """Figure 5, a ball dragged with the mouse: needs a hand. Objects can be dragged while Blender plays.""",
        """The midpoint method and backward Euler are named in appendix B and not used there; the project has
        neither.""",
    ),
    "Mesit, Guha and Chaudhry 2007": (
        """Size, temperature, length of a step and pictures of the ball: the text gives no numbers; ours are stated.""",
        """Absolute frame rates of figure 6: a Pentium 4 with a graphics card, read off a plot; ratios are compared.""",
        """Section II (finite elements and volumes, fluids inside, cloth): other authors' methods, not run in the
        paper.""",
        """Equation 19 solved as a linear system, with the Hessian −Σ k of Desbrun et al.: the project solves no
        linear system. The trapezoid rule is named only.""",
        """Collision detection: that of another paper (his [33]), not described; ours is used for all solvers.""",
        """Figures 1 and 2 are drawings. Section VI (faces, lungs, surgery) and molecular dynamics (section VII) are
        named as uses, without data.""",
    ),
    "Martin 2009": (
        """Size, mass, temperature and elasticity: the text gives none; ours are stated. The skin thickness is a sixth
        of the radius, as his 0.5 of 3.""",
        """His machine (6.1), and frame rates that include drawing, watched on a counter: his column is shown, not
        matched.""",
        """Friction (3.1.4), µ v_∥ / |v_∥| max(v·n, 0): Coulomb friction of the same impulse replaces it; its critical
        slope is tested (`tests/papers/test_contact.py`). Friction between soft bodies, his future work, comes with
        it.""",
        """The single feature tests (5.2.1.1), rays and separating axes (5.2.2, 5.2.3): tested one by one against brute
        force (`tests/papers/test_particles.py`, `tests/papers/test_particle_contacts.py`), not shown. Misprints are
        mended: a ray that meets an even number of triangles starts outside; a point is in a triangle if p·q and p·r are
        positive; his inertia of a box repeats w² + h².""",
        """The attraction of particles, twice their repulsion, and the limits of 10 rounds and 4 moving particles are
        taken as given and not varied. More particles where contacts are, and spatial subdivision in their place, are
        his future work; the surface search is the latter.""",
        """His cat: its mesh is not published. Another closed animal, made for this page, meets the sphere.""",
    ),
    "Kurmaly and Wu 2021": (
        """Their code and video: only the text was used. It gives neither sizes, constants nor speeds; ours are
        stated.""",
        """The factor k of the pressure (5.2) scales nRT, which they take as one constant: a second name of the
        pressure.""",
        """Trusses larger than 4 x 4 cells: nothing is claimed of them. "4 by 4 grids" are read as cells, not
        points.""",
        """Particles of a truss that keep apart, in our own engine: it refuses them.""",
        """Drawing outlines (7.1); the advice of section 8 which body suits which model, which no number can tell.""",
    ),
    "The XPBD page": (
        """The ground of its code, which puts a vertex back where it was when it falls below y = 0 and so has infinite
        friction: Coulomb friction replaces it.""",
        """Its grabber: needs a hand. Its mesh: not given with the text.""",
        """Its volume constraint has one compliance [m³/N·m³] for all tetrahedra; ours follows from Young's modulus and
        Poisson's ratio, as that of the edges, so that results do not depend on the mesh.""",
    ),
}
