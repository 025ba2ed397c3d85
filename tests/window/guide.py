"""In a real window: the steps of the guide, each as the button would do it, and pictures of the panels.

    blender --python tests/window/guide.py -- [--zip ZIP] [--panels FOLDER] [01 02 ...]

runs pages whose names begin so, all if none is named. The extension must be installed, or is from `--zip`. With
`--panels` the pictures of the sidebar that the pages show are made anew there. `test_window.py` runs it.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
sys.path.append(str(Path(__file__).resolve().parent))

import guide
import sidebar
import steps


class Window(guide.Pictures):
    """Keeps which picture of the sidebar is wanted."""

    wanted = ""

    def panel(self, name: str) -> None:
        """Make it when the panels are drawn."""
        self.wanted = name


def advance(found: Iterator[guide.Step]) -> guide.Step | None:
    """One statement."""
    with steps.in_view():
        return next(found, None)


def all_pages(options: argparse.Namespace) -> Iterator[float]:
    """Run them; yields times to wait [s]."""
    if options.zip:
        steps.install(options.zip)
        yield sidebar.REDRAW
    for path in guide.pages():
        if options.pages and not path.name.startswith(tuple(options.pages)):
            continue
        pictures = Window()
        page = guide.run(guide.read(path), pictures)
        while (step := advance(page)) is not None:
            yield sidebar.REDRAW  # a file that was opened is in the window by then
            yield from sidebar.show()
            began = time.monotonic()
            while not steps.is_over():
                waited = time.monotonic() - began
                assert waited < steps.PATIENCE, f"{path.name}, line {step.line}: waited in vain"
                yield sidebar.REDRAW
            if pictures.wanted and options.panels:
                drawn: list[np.ndarray] = []
                yield from sidebar.read("UI", drawn)
                sidebar.save(sidebar.columns(drawn[0]), options.panels / pictures.wanted)
            pictures.wanted = ""
        print(f"WINDOW {path.stem} is done", flush=True)
    print("WINDOW TEST PASSED", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--zip")
    parser.add_argument("--panels", type=Path)
    parser.add_argument("pages", nargs="*")
    steps.run(all_pages(parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])))
