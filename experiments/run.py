"""The papers' experiments: runs them, writes their figures, and fills their numbers into the page.

    python experiments/run.py [--only matyka mesit ...] [--assemble]

`nox -s papers` runs it with what it needs installed. The page is a text, `experiments/page.md` (`tools/pages.py`). A
section is a module: `DEPENDS`, patterns of the files that its numbers depend on; `run(quick)` and `clock(quick)`, what
it measures and what it times; `values(data)`, what stands in the text; `draw(figures, data)`. docs/papers/sections/
keeps the values, with a digest of each file, so one section can be renewed alone, and `changed_files` tells which ones
have to be. `--assemble` runs nothing. Needs numpy, numba and matplotlib; with `bpy`, bodies are rendered. Tests run all
with `quick`, in a small form.
"""

import argparse
import ast
import hashlib
import importlib
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "support"))

import extension  # noqa: E402

extension.load()
#: In the order of the page.
SECTIONS = ("matyka", "mesit", "martin", "kurmaly", "flattened", "future", "convergence")
PAGE = importlib.import_module("softpressure_ext.tools.pages").Page(
    ROOT / "docs" / "papers.md", "experiments", SECTIONS, "sections"
)


def measured(name, quick=False):
    """What a section measures."""
    parts = [getattr(PAGE.module(name), part, None) for part in ("run", "clock")]
    return {key: value for part in parts if part is not None for key, value in part(quick).items()}


def depends(name):
    """Digest of each file that a section depends on, by its path from the root; its own and `parts` among them.

    A pattern without a file is an error.
    """
    found = {}
    for pattern in (f"experiments/{name}.py", "experiments/parts.py", *PAGE.module(name).DEPENDS):
        files = sorted(ROOT.glob(pattern))
        if not files:
            raise FileNotFoundError(f"no file matches {pattern}: mend DEPENDS of the section.")
        for path in files:
            found[path.relative_to(ROOT).as_posix()] = hashlib.sha256(code_of(path).encode()).hexdigest()[:8]
    return dict(sorted(found.items()))


def code_of(path):
    """The statements of a Python file: what changes comments and docstrings changes no result."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def changed_files(name, section):
    """Files that a section depends on and that are not as they were when it was kept."""
    now, then = depends(name), section["files"]
    return sorted(path for path in now.keys() | then.keys() if now.get(path) != then.get(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(SECTIONS), choices=SECTIONS)
    parser.add_argument("--assemble", action="store_true", help="run nothing")
    options = parser.parse_args()
    for name in () if options.assemble else options.only:
        began, data = time.perf_counter(), measured(name)
        PAGE.module(name).draw(PAGE.figures(), data)
        PAGE.keep(name, time.perf_counter() - began, files=depends(name), values=PAGE.module(name).values(data))
        print(name, file=sys.stderr, flush=True)
    PAGE.write()


if __name__ == "__main__":
    main()
