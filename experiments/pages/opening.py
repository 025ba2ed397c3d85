"""The beginning and the end of the page: what it is, what it was run on, and what is missing."""

from ..report import number

MISSING = (
    "Loops in a plane (Matyka 2004; Kurmaly and Wu 2021): the core has them (`core/flat/`), but Matyka's "
    "ball here is a skin in space.",
    "Trusses dropped, and kept from collapse by circles (Kurmaly and Wu 2021): the core has trusses (`core/lattice/`), "
    "flat ones in `core/flat/`, but no circles.",
    "The tetrahedral body of the XPBD page: `tests/test_solid_physics.py` presses one flat and lets it go; there is no "
    "page for it yet.",
    "Volumes by bounding box and by centre fan (Mesit 2007; Kurmaly and Wu 2021), Martin's pressure scaling (3.1.2): "
    "the core has them, but volumes on this page are exact and pressure is spread by the exact gradient.",
    "Springs with a damping constant of their own (Matyka, eq. 1; Mesit, eq. 12 with another factor): the body's "
    "damping stands for it. Matyka's slow filling with gas (the core has it) is left out.",
    "The pictures of the papers: what is compared is numbers, where the text gives any.",
)


def add(page, machine, seconds, quick):
    page.heading("The papers' experiments", 1)
    page.text(
        """This page is written by `nox -s papers`, which runs every experiment below; every number and figure comes
        from that run. The methods are described in [core/README.md](../core/README.md#the-methods-of-the-papers)."""
    )
    if quick:
        page.text("**This is the quick form: small meshes and few frames. Its numbers mean little.**")
    page.text(
        f"""Machine: {machine["processor"]}, {machine["cores"]} cores, {machine["system"]}, Python {machine["python"]},
        numpy {machine["numpy"]}, numba {machine["numba"]}; one thread. It was busy with other work (load
        {machine.get("load_at_start", "unknown")} at the start), so times are good for ratios on this page only, and
        those to some tens of per cent. Run time, with what had to be compiled:
        {", ".join(f"{name} {number(time, 2)} s" for name, time in seconds.items())}."""
    )


def add_missing(page):
    page.heading("What is missing")
    page.text("Not repeated, as the core cannot do it or the papers do not say enough:")
    page.items(MISSING)
