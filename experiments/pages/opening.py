"""The beginning and the end of the page: what it is, what it was run on, and what is missing."""

from .. import pictures
from ..report import number

MISSING = (
    "Matyka 2004 and Kurmaly and Wu 2021 give neither sizes nor constants in their texts: those here are chosen, so "
    "what is compared is what happens, not numbers.",
    "Mesit's volume by bounding box, Martin's pressure scaling (3.1.2): the core has them (`MethodOptions`); skins in "
    "space on this page have exact volumes, and pressure is spread by the exact gradient.",
    "Springs with a damping constant of their own (Matyka, eq. 1; Mesit, eq. 12 with another factor): the body's "
    "damping stands for it.",
    "Particles of a truss that keep apart (Kurmaly and Wu 2021) in the implicit solver: it refuses them.",
    "The pictures of the papers: what is compared is numbers, where the text gives any.",
)


def add(page, machine, seconds, quick):
    page.heading("The papers' experiments", 1)
    page.text(
        """This page is written by `nox -s papers`, which runs every experiment below; every number and figure comes
        from that run. The methods are described in [core/papers/README.md](../core/papers/README.md)."""
    )
    if quick:
        page.text("**This is the quick form: small meshes and few frames. Its numbers mean little.**")
    renderer = (
        "Pictures of shaded bodies are by Blender's Workbench renderer."
        if pictures.available()
        else ("There was no Blender to render pictures of the bodies with.")
    )
    page.text(
        f"""Machine: {machine["processor"]}, {machine["cores"]} cores, {machine["system"]}, Python {machine["python"]},
        numpy {machine["numpy"]}, numba {machine["numba"]}; one thread. It was busy with other work (load
        {machine.get("load_at_start", "unknown")} at the start), so times are good for ratios on this page only, and
        those to some tens of per cent. {renderer} Run time, with what had to be compiled:
        {", ".join(f"{name} {number(time, 2)} s" for name, time in seconds.items())}."""
    )


def add_missing(page):
    page.heading("What is missing")
    page.text("Not repeated, as the core cannot do it or the papers do not say enough:")
    page.items(MISSING)
