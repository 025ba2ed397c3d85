#!/usr/bin/env python3
"""The pages of `docs/guide/`: their text, their steps, and the pictures that the steps lead to; wants `bpy`.

    python tools/guide.py [01 02 ... gallery]

runs the steps of these pages, of all if none is named, and renders their pictures anew.

A page is Markdown. Below each step stands, as a comment, what the step does in Python:

    1. Press **Add Soft Body**.
       <!-- do
       bpy.ops.softpressure.add_body(kind="SOFT")
       -->

Names of the interface are bold where they are this extension's, and italic where they are Blender's own. What a block
uses beside `bpy`: the functions `start`, `select`, `preset`, `points` and `module` below, those of `Pictures`, and
`folder`, an empty folder for files.
"""

import ast
import importlib
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "guide"
_BLOCK = re.compile(r"^ *<!-- do\n(.*?)^ *-->$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)
_LABEL = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of a page and the block that ends it."""

    text: str  # from the end of the last block to this one
    code: str  # empty at the end of the page
    line: int  # of the code's first line, from 0

    @property
    def instruction(self) -> str:
        """The numbered sentences that the code stands for; empty if it belongs to none."""
        return self.text[_NUMBER.search(self.text).start() :] if _NUMBER.search(self.text) else ""


def labels(text: str) -> set[str]:
    """Names of this extension's interface in a text."""
    return {" ".join(label.split()) for label in _LABEL.findall(text)}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the guide."""

    path: Path
    text: str
    steps: tuple[Step, ...]

    @property
    def pictures(self) -> list[str]:
        """Names of the picture files that the page shows."""
        return _PICTURE.findall(self.text)


def pages() -> list[Path]:
    """The files of all pages, in order; the gallery is the last."""
    return [*sorted(FOLDER.glob("[0-9]*.md")), FOLDER / "gallery.md"]


def read(path: Path) -> Page:
    """A page from its file."""
    text = path.read_text(encoding="utf-8")
    steps, end = [], 0
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        steps.append(Step(text[end : block.start()], textwrap.dedent(block[1]), line))
        end = block.end()
    return Page(path, text, (*steps, Step(text[end:], "", text.count("\n"))))


def open_sample(name: str) -> None:
    """Open a copy of a sample file, as a cache is written beside the file."""
    copy = shutil.copy(ROOT / "sample_blends" / f"{name}.blend", tempfile.mkdtemp())
    bpy.ops.wm.open_mainfile(filepath=copy, load_ui=False)


def select(*names: str) -> None:
    """Select these objects and no others; the last is active."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other.name in names)
    bpy.context.view_layer.objects.active = bpy.data.objects[names[-1]]


def preset(name: str) -> str:
    """The file of a preset of the menu in the header of *Body*."""
    return str(bpy.utils.preset_find(name, "softpressure", display_name=True))


def points(name: str, frame: int) -> Any:
    """World positions of an object as a frame shows it [m], shape (n, 3)."""
    bpy.context.scene.frame_set(frame)
    evaluated = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices])


def module(name: str) -> Any:
    """A module of the extension by its name there; an installed one has a package of another name than a checkout."""
    known = ".softpressure.state"
    package = next(path for path in sys.modules if path.endswith(known)).removesuffix(known)
    return importlib.import_module(f"{package}.{name}")


class Pictures:
    """What pages call where a picture is made. This one goes to the frames and makes none."""

    def strip(self, name: str, frames: Sequence[int], eye: Point, target: Point, lens: float = 50.0) -> None:
        """Frames side by side, seen from `eye` towards `target` [m] with a lens of so many millimetres."""
        for frame in frames:
            bpy.context.scene.frame_set(frame)

    def clip(self, name: str, frames: Sequence[int], eye: Point, target: Point, lens: float = 50.0) -> None:
        """The same one after the other, as an animated picture."""
        self.strip(name, frames, eye, target, lens)

    def gallery(self, name: str, frames: Sequence[int]) -> None:
        """A sample file at four frames, as its own camera sees it."""
        open_sample(name)

    def panel(self, name: str) -> None:
        """The sidebar; only in a window."""


def start() -> None:
    """*File > New > General*, without its cube."""
    bpy.ops.wm.read_homefile(app_template="", use_factory_startup=True, load_ui=False)
    bpy.data.objects.remove(bpy.data.objects["Cube"])


def run(page: Page, pictures: Pictures) -> Iterator[Step]:
    """Run the steps of a page in a new file; yields the step before it and after each of its statements."""
    start()
    with tempfile.TemporaryDirectory() as folder:
        names: dict[str, Any] = {function.__name__: function for function in (start, select, preset, points, module)}
        names |= {name: getattr(pictures, name) for name in ("strip", "clip", "gallery", "panel")}
        names |= {"bpy": bpy, "folder": Path(folder)}
        for step in page.steps:
            yield step
            tree = ast.increment_lineno(ast.parse(step.code), step.line)  # a traceback names the line of the page
            for statement in tree.body:
                exec(compile(ast.Module([statement], []), str(page.path), "exec"), names)
                bpy.context.view_layer.update()
                yield step


def main(wanted: Sequence[str]) -> None:
    """Render the pictures of pages whose names begin so."""
    sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "tools")]
    import extension

    extension.load()
    import softpressure_ext

    softpressure_ext.register()
    import guide_pictures

    for path in pages():
        if not wanted or path.name.startswith(tuple(wanted)):
            for _ in run(read(path), guide_pictures.Rendered()):
                pass
    size = sum(path.stat().st_size for path in FOLDER.iterdir())
    print(f"guide: {size / 1e6:.2f} MB in docs/guide/")
    extension.leave(0)


if __name__ == "__main__":
    main(sys.argv[1:])
