"""A page of Markdown with tables and figures; what it says is given by `pages/`."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from . import pictures

#: Sizes of the figures [inch] and dots per inch: small files that are sharp enough to read.
WIDTH, HEIGHT, DOTS = 5.2, 3.6, 90
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
COLOURS = plt.rcParams["axes.prop_cycle"].by_key()["color"]


class Page:
    """Collects a page; `save` writes it. Figures are written when they are added, into the folder `name`."""

    def __init__(self, path):
        self.path = path
        self._folder = path.with_suffix("")
        self._blocks = []

    def heading(self, text, level=2):
        self._blocks.append("#" * level + " " + text)

    def text(self, *paragraphs):
        self._blocks += [" ".join(paragraph.split()) for paragraph in paragraphs]

    def items(self, lines):
        self._blocks.append("\n".join("* " + " ".join(line.split()) for line in lines))

    def table(self, head, rows):
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self._blocks.append("\n".join(lines))

    def figure(self, name, caption, draw, panels=1):
        """Write a figure; `draw(axes, ...)` gets as many axes as there are panels."""
        figure, axes = plt.subplots(1, panels, figsize=(WIDTH * panels**0.75, HEIGHT), layout="constrained")
        draw(*(axes if panels > 1 else [axes]))
        self._folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(self._folder / f"{name}.png", dpi=DOTS, metadata={"Software": None})
        plt.close(figure)
        self._blocks.append(f"![{caption}]({self._folder.name}/{name}.png)\n\n*{caption}*")

    def picture(self, name, caption, build, turn=(90.0, 0.0)):
        """Render a picture; `build(picture)` fills a `pictures.Picture`. Nothing where there is no Blender."""
        if not pictures.available():
            return
        scene = pictures.Picture()
        build(scene)
        scene.render(self._folder / f"{name}.png", turn)
        self._blocks.append(f"![{caption}]({self._folder.name}/{name}.png)\n\n*{caption}*")

    def save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n\n".join(self._blocks) + "\n", encoding="utf-8")


def number(value, digits=3):
    """A number with so many significant digits, powers of ten only where they help; a dash for none."""
    if value is None:
        return "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e5:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}·10{str(int(power)).translate(RAISED)}"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
