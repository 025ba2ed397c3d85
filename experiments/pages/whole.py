"""The page: its first table, the texts and solvers, the sections that are kept, and how each was made."""

from ..report import SOLVERS, Page, anchor
from ..sections import digest, kept
from .left_out import LEFT_OUT

TEXTS = (
    "Maciej Matyka (2004): *How To Implement a Pressure Soft Body Model*. March 30, 2004. "
    "https://www.researchgate.net/publication/228574502",
    "Jaruwan Mesit, Ratan Guha and Shafaq Chaudhry (2007): *3D Soft Body Simulation Using Mass-spring System with "
    "Internal Pressure Force and Simplified Implicit Integration*. Journal of Computers 2 (8), pages 34 to 43.",
    "Patrick Martin (2009): *Real-Time Soft Body Simulation Using an Approximation of the Pressure Force*. DigiPen "
    "Institute of Technology.",
    "Ridwan Kurmaly and Wen Xuan Wu (2021): *Soft body simulation using a spring mass particle system and a pressure "
    "model*. McGill University, April 2021, 3 pages.",
    "*Soft Bodies: How to simulate soft bodies in an unbreakable and very simple way*: a web page on XPBD without "
    'author or date, called "the XPBD page" here.',
)


def write(path):
    """Put the page at a path together from the sections that it keeps; pictures that none of them shows are deleted."""
    sections = kept(path)
    page = Page(path.with_suffix(""))
    add_opening(page, sections)
    for name, section in sections.items():
        page.blocks += section["blocks"]
        if section["quick"]:
            page.text(
                f"**`{name}` was run in its quick form, with small meshes and few frames: its numbers mean little.**"
            )
    page.heading("What is not repeated")
    page.text("Everything else in the five texts is above. What follows is not, or not as printed, with the reason:")
    for text, items in LEFT_OUT.items():
        page.heading(text, 3)
        page.items(items)
    add_making(page, sections)
    text = "\n\n".join(page.blocks) + "\n"
    path.write_text(text, encoding="utf-8")
    for picture in path.with_suffix("").glob("*.png"):
        if f"({path.stem}/{picture.name})" not in text:
            picture.unlink()


def add_opening(page, sections):
    page.heading("The papers' experiments", 1)
    page.text(
        """Five texts gave this project its methods. What they claim, and what comes out when it is done again with
        their methods and with ours:"""
    )
    rows = []
    for section in sections.values():
        for claim in section["claims"]:
            link = f"[{claim['text']}](#{anchor(claim['heading'])})"
            rows.append([f"{link}: {claim['says']}", claim["found"], claim["why"]])
    page.table(["the paper claims", "we find", "why"], rows)
    page.heading("The texts")
    page.items(TEXTS)
    page.heading("The solvers")
    page.text(
        """A step of h takes positions x and velocities v to x' and v'; a is the acceleration by all forces. Names and
        equations in full: [core/papers/README.md](../core/papers/README.md)."""
    )
    page.table(
        ["on this page", "in the code", "what it does"],
        [[solver.name, f"`{name}`", solver.what] for name, solver in SOLVERS.items()],
    )


def add_making(page, sections):
    page.heading("How this page was made")
    page.text(
        """`nox -s papers` runs all of it; `nox -s papers -- --only martin` renews a section. No number is written by
        hand. Every run has one thread; two sections run side by side, what is timed runs alone. Times are good for
        ratios, and those to some tens of per cent. A test fails when the code that a section depends on has changed:
        the digest is that of its files, without comments."""
    )
    rows = []
    for name, section in sections.items():
        machine = section["machine"]
        told = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; Python {machine['python']}"
        told += f", numpy {machine['numpy']}, numba {machine['numba']}"
        code = [section["version"], f"`{digest(section['files'])}`"]
        rows.append([f"`{name}`", *code, f"{section['seconds']} s", told, machine.get("load_at_start", "unknown")])
    page.table(["section", "version", "digest", "run time", "machine", "load at its end"], rows)
