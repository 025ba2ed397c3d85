"""A section of Markdown with tables and figures; what it says is given by `pages/`."""

import re
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from . import pictures

#: Sizes of the figures [inch] and dots per inch: small files whose smallest letters are as large as the page's.
WIDTH, HEIGHT, DOTS = 6.4, 4.0, 100
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
COLOURS = plt.rcParams["axes.prop_cycle"].by_key()["color"]
#: Distance of a label from the end of its line, and of two labels from each other as a share of their height.
LABEL_GAP, LABEL_PITCH = 5.0, 1.15

plt.rcParams.update(
    {
        "font.size": 10,
        "axes.labelsize": 10,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "legend.fontsize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "lines.linewidth": 1.5,
    }
)


class Solver(NamedTuple):
    """What the page calls a solver, and what it is."""

    name: str
    what: str


#: Solvers by their name in the core, as the page calls and explains them.
SOLVERS = {
    "EXPLICIT_EULER": Solver(
        "Euler", "v' = v + h a, then x' = x + h v': semi-implicit Euler (Matyka's listing; Mesit, eq. 6 and 7)"
    ),
    "HEUN": Solver("Heun", "an Euler step, then the mean of the slopes at its two ends (Matyka, appendix B)"),
    "RK4_MARTIN": Solver(
        "Martin's RK4", "four stages for the velocity; positions move with the new velocity (his 3.2)"
    ),
    "RK4": Solver("RK4", "Kutta's classical method of fourth order (Kurmaly and Wu, 6.1)"),
    "IMPLICIT_KANG": Solver(
        "Kang", "implicit Euler, with the neighbours' change guessed from the step before (eq. 21)"
    ),
    "IMPLICIT_MESIT": Solver("Mesit", "the same, with a vertex's own change in place of its neighbours' (eq. 24)"),
    "XPBD": Solver("XPBD", "this project's XPBD: one sweep over all constraints per substep"),
    "EXPLICIT": Solver("ours", "this project's engine: Euler's method, its step kept at the limit of stability"),
}


class Claim(NamedTuple):
    """A row of the table that opens the page; `heading` is that of the section which shows it."""

    text: str  # which text and where, such as "Martin, 3.2"
    says: str
    found: str
    why: str
    heading: str


class Page:
    """Collects the blocks of a section. Figures are written when they are added, into `folder`."""

    def __init__(self, folder):
        self.blocks = []
        self._folder = folder

    def heading(self, text, level=2):
        self.blocks.append("#" * level + " " + text)

    def text(self, *paragraphs):
        self.blocks += [" ".join(paragraph.split()) for paragraph in paragraphs]

    def equation(self, tex):
        """An equation in TeX, on a line of its own."""
        self.blocks.append(f"```math\n{tex}\n```")

    def items(self, lines):
        self.blocks.append("\n".join("* " + " ".join(line.split()) for line in lines))

    def table(self, head, rows):
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.blocks.append("\n".join(lines))

    def figure(self, name, caption, draw, panels=1, height=HEIGHT):
        """Write a figure; `draw(axes, ...)` gets as many axes as there are panels."""
        figure, axes = plt.subplots(1, panels, figsize=(WIDTH * panels**0.75, height), layout="constrained")
        draw(*(axes if panels > 1 else [axes]))
        self._folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(self._folder / f"{name}.png", dpi=DOTS, metadata={"Software": None})
        plt.close(figure)
        self._image(name, caption)

    def picture(self, name, caption, build, turn=(90.0, 0.0), **size):
        """Render a picture; `build(picture)` fills a `pictures.Picture`. Nothing where there is no Blender."""
        if not pictures.available():
            return
        scene = pictures.Picture()
        build(scene)
        scene.render(self._folder / f"{name}.png", turn, **size)
        self._image(name, caption)

    def _image(self, name, caption):
        caption = " ".join(caption.split())
        self.blocks.append(f"![{caption}]({self._folder.name}/{name}.png)\n\n*{caption}*")


def label_lines(axes):
    """Write each line's label beside its right end, in its colour; labels that would overlap are moved apart."""
    lines = [line for line in axes.get_lines() if not line.get_label().startswith("_") and len(line.get_xdata())]
    axes.figure.draw_without_rendering()
    ends = []
    for line in lines:
        x, y = (np.ma.filled(np.ma.asarray(data, float), np.nan) for data in line.get_data())
        low, high = sorted(axes.get_ylim())
        seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y) & (y >= low) & (y <= high))
        if len(seen):
            ends.append((line, x[seen[-1]], y[seen[-1]]))
    ends.sort(key=lambda end: axes.transData.transform(end[1:])[1])
    points_per_pixel = 72.0 / axes.figure.dpi
    pitch = LABEL_PITCH * plt.rcParams["legend.fontsize"]
    heights = [axes.transData.transform(end[1:])[1] * points_per_pixel for end in ends]
    for (line, x, y), height, place in zip(ends, heights, spread(heights, pitch), strict=True):
        axes.annotate(
            line.get_label(), (x, y), (LABEL_GAP, place - height), textcoords="offset points", va="center",
            color=line.get_color(), fontsize=plt.rcParams["legend.fontsize"], annotation_clip=False,
        )  # fmt: skip


def spread(heights, pitch):
    """Heights in rising order, moved as little as groups of them must be so that all are `pitch` apart."""
    groups = []  # [sum of heights, count]
    for height in heights:
        groups.append([height, 1])
        while len(groups) > 1:
            (low, below), (high, above) = groups[-2:]
            if high / above - low / below >= pitch * 0.5 * (below + above):
                break
            groups[-2:] = [[low + high, below + above]]
    return [
        total / count + pitch * (k - 0.5 * (count - 1)) for total, count in groups for k in range(count)
    ]  # fmt: skip


def anchor(heading):
    """What a link to a heading ends in, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def number(value, digits=3):
    """A number with so many significant digits, powers of ten only where they help; a dash for none."""
    if value is None:
        return "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e5:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}·10{str(int(power)).translate(RAISED)}"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
