"""A page of Markdown that is written by code, from results alone, with its figures."""

from ..experiments.figures import Figures, table


class Page:
    """Collects the blocks of a page; figures are written into `folder` when they are added."""

    def __init__(self, folder):
        self.blocks = []
        self._folder = folder

    def heading(self, text, level=2):
        self.blocks.append("#" * level + " " + text)

    def text(self, *paragraphs):
        self.blocks += [" ".join(paragraph.split()) for paragraph in paragraphs]

    def items(self, lines):
        self.blocks.append("\n".join("* " + " ".join(line.split()) for line in lines))

    def table(self, head, rows):
        self.blocks.append(table(head, rows))

    def figure(self, name, caption, draw, panels=1, **size):
        """Curves; `draw(axes, ...)` gets as many axes as there are panels."""
        Figures(self._folder).curves(name, draw, panels, **size)
        caption = " ".join(caption.split())
        self.blocks.append(f"![{caption}]({self._folder.name}/{name}.png)\n\n*{caption}*")
