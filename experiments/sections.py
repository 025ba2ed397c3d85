"""The sections of docs/papers.md: what each is made of, and what is kept of each.

A section NAME has two modules. `experiments/NAME.py` runs: `run(quick)` beside other sections, `clock(quick)` alone,
for what is timed; it has one of them or both, and each returns a dictionary. `experiments/pages/NAME.py` writes:
`HEADING`; `DEPENDS`, patterns of the files that its numbers depend on; `claims(data)`, its rows of the first table;
`add(page, data)`, its text and figures.

docs/papers/sections/NAME.json keeps what was written, with a digest of each file that it depends on. The page is put
together from these, so one section can be renewed alone, and `changed_files` tells which ones have to be.
"""

import ast
import hashlib
import importlib
import io
import json
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "papers.md"
#: In the order of the page: the texts by year, then what compares all solvers.
SECTIONS = ("matyka", "mesit", "martin", "kurmaly", "flattened", "future", "convergence", "hold")


def experiment(name):
    """The module that runs a section."""
    return importlib.import_module(f"softpressure_ext.experiments.{name}")


def writer(name):
    """The module that writes a section."""
    return importlib.import_module(f"softpressure_ext.experiments.pages.{name}")


def run(name, quick):
    """What a section measures beside others."""
    module = experiment(name)
    return module.run(quick) if hasattr(module, "run") else {}


def clock(name, quick):
    """What a section measures with a clock."""
    module = experiment(name)
    return module.clock(quick) if hasattr(module, "clock") else {}


def version():
    """Version of the extension."""
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    return re.search(r'^version = "([^"]+)"', manifest, re.MULTILINE).group(1)


def digests(patterns):
    """Digest of each file that matches a pattern, by its path from the root; a pattern without a file is an error."""
    found = {}
    for pattern in patterns:
        files = sorted(ROOT.glob(pattern))
        if not files:
            raise FileNotFoundError(f"no file matches {pattern}: mend DEPENDS of the section.")
        for path in files:
            code = code_of(path).encode("utf-8")
            found[path.relative_to(ROOT).as_posix()] = hashlib.sha256(code).hexdigest()[:8]
    return dict(sorted(found.items()))


def digest(files):
    """One digest of the digests of a section's files."""
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode("utf-8")).hexdigest()[:12]


def depends(name):
    """Digests of the files that a section depends on, its own two among them."""
    own = (f"experiments/{name}.py", f"experiments/pages/{name}.py")
    return digests((*own, *writer(name).DEPENDS))


def code_of(path):
    """A Python file without docstrings, comments and blank lines: what changes these changes no result."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            text = node.body[0]
            lines[text.lineno - 1 : text.end_lineno] = [""] * (text.end_lineno - text.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def changed_files(name, kept):
    """Files that a section depends on and that are not as they were when it was written."""
    now, then = depends(name), kept["files"]
    return sorted(path for path in now.keys() | then.keys() if now.get(path) != then.get(path))


def kept_path(page, name):
    """Where a section of a page is kept."""
    return page.with_suffix("") / "sections" / f"{name}.json"


def keep(page, name, section):
    """Keep a section of a page."""
    path = kept_path(page, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(section, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def kept(page):
    """All sections that a page has, by name, in its order."""
    paths = {name: kept_path(page, name) for name in SECTIONS}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}
