"""The sources of the extension, and what they import."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("core", "softpressure", "operators", "panels")
SOURCES = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All parts of a file."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def name_of(path: Path) -> str:
    """Of a module: `core/contact`, `core/world`."""
    return path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__")


NAMES = {name_of(path): path for path in SOURCES}


def modules_of(path: Path, for_types_too: bool = False, at_import: bool = False) -> Iterator[str]:
    """Yield our modules that a file imports, but for those of type checkers alone.

    Wherever the import stands, or with `at_import` only outside of functions.
    """
    nodes = nodes_of(path)
    checks = [node for node in nodes if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for_types = set() if for_types_too else {id(node) for check in checks for node in ast.walk(check)}
    functions = [node for node in nodes if at_import and isinstance(node, ast.FunctionDef)]
    left_out = for_types | {id(node) for function in functions for node in ast.walk(function)}
    package = path.relative_to(ROOT).parent.parts
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in left_out:
            base = "/".join([*package[: len(package) - node.level + 1], *filter(None, (node.module or "").split("."))])
            for alias in node.names:
                yield from [name for name in (f"{base}/{alias.name}".lstrip("/"), base) if name in NAMES][:1]
