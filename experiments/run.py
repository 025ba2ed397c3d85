"""The papers' experiments: runs them, writes their figures, and fills their numbers into the page.

    python experiments/run.py [--only matyka mesit ...] [--assemble]

`nox -s papers` runs it with what it needs installed. The page is a text, `experiments/page.md`; `{{mesit.gas}}`
stands for a number, a list or a table of a section, `{{mesit.SPRINGS}}` for a constant. A section is a module:
`DEPENDS`, patterns of the files that its numbers depend on; `run(quick)` and `clock(quick)`, what it measures and what
it times; `values(data)`, what stands in the text; `draw(figures, data)`. docs/papers/sections/NAME.json keeps the
values, with a digest of each file, so one section can be renewed alone, and `changed_files` tells which ones have to
be. `--assemble` runs nothing. Needs numpy, numba and matplotlib; with `bpy`, bodies are rendered. Tests run all with
`quick`, in a small form.
"""

import argparse
import ast
import hashlib
import importlib
import json
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

from measure import machine, version  # noqa: E402  (loads the extension, too)

TEXT, PAGE = ROOT / "experiments" / "page.md", ROOT / "docs" / "papers.md"
#: In the order of the page.
SECTIONS = ("matyka", "mesit", "martin", "kurmaly", "flattened", "future", "convergence")


def module(name):
    """A section."""
    return importlib.import_module(f"softpressure_ext.experiments.{name}")


def measured(name, quick=False):
    """What a section measures."""
    parts = [getattr(module(name), part, None) for part in ("run", "clock")]
    return {key: value for part in parts if part is not None for key, value in part(quick).items()}


def renew(page, name, data, seconds):
    """Write the figures of a section and keep its values."""
    figures = importlib.import_module("softpressure_ext.experiments.figures")
    module(name).draw(figures.Figures(page.with_suffix("")), data)
    section = {
        "version": version(), "machine": machine(), "seconds": round(seconds), "files": depends(name),
        "values": module(name).values(data),
    }  # fmt: skip
    path = page.with_suffix("") / "sections" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(section, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def kept(page):
    """All sections that a page has, by name, in its order."""
    paths = {name: page.with_suffix("") / "sections" / f"{name}.json" for name in SECTIONS}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}


def filled(page):
    """The text with the values of the sections that a page has; figures get their captions.

    Raises `KeyError` for a value that no section has.
    """
    sections = kept(page)

    def value(slot):
        name, _, key = slot[1].partition(".")
        if name == "made":
            return made(sections)
        return constant(name, key) if key[0].isupper() else sections[name]["values"][key]

    text = re.sub(r"\{\{([\w.]+)\}\}", value, TEXT.read_text(encoding="utf-8"))
    return re.sub(r"^(!\[(.+)\]\(papers/\w+\.png\))$", r"\1\n\n*\2*", text, flags=re.MULTILINE)


def constant(name, key):
    """A constant of a section as text: a number or several of them, or one of a scene, as in BALL.radius."""
    value = module(name)
    for part in key.split("."):
        value = getattr(value, part)
    return ", ".join(f"{each:g}" for each in (value if isinstance(value, tuple) else (value,)))


def made(sections):
    """The table of how each section was made."""
    from .figures import table

    rows = []
    for name, section in sections.items():
        own = section["machine"]
        told = (
            f"{own['processor']}, {own['cores']} cores, {own['system']}; Python {own['python']}, numba {own['numba']}"
        )
        taken = f"{section['seconds']} s"
        rows.append([f"`{name}`", section["version"], taken, told, own.get("load_at_start", "unknown")])
    return table(["section", "version", "run time", "machine", "load at its end"], rows)


def assemble(page):
    """Write the page, and delete the pictures that it does not show."""
    text = filled(page)
    page.write_text(text, encoding="utf-8")
    for picture in page.with_suffix("").glob("*.png"):
        if f"(papers/{picture.name})" not in text:
            picture.unlink()


def depends(name):
    """Digest of each file that a section depends on, by its path from the root; its own and `parts` among them."""
    return digests((f"experiments/{name}.py", "experiments/parts.py", *module(name).DEPENDS))


def digests(patterns):
    """Digest of each file that matches a pattern; a pattern without a file is an error."""
    found = {}
    for pattern in patterns:
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
        began = time.perf_counter()
        renew(PAGE, name, measured(name), time.perf_counter() - began)
        print(name, file=sys.stderr, flush=True)
    importlib.import_module("softpressure_ext.experiments.run").assemble(PAGE)


if __name__ == "__main__":
    main()
