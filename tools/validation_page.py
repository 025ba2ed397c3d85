"""Write docs/validation.md: run the tests that compare with closed forms and references, and tell what they measured.

`python tools/validation_page.py [pytest's arguments]`; the tests state their comparisons by `validated` of
tests/support/validation.py.
"""

import ast
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pages import table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "validation.md"
#: Environment variable: the file, one JSON object per line, to which a run adds what it measured.
RECORD = "SOFTPRESSURE_VALIDATION"

HEAD = """# Validation

What the tests compare with closed forms and independent references. `nox -s validation` writes this page from what they
measure; do not edit it. A tolerance in % is relative to the expected value. Where a test has several cases, and in each
several frames or components, the row shows the one that is nearest to its tolerance. Deviations of about 1e-12 and less
are roundings and differ between processors. "Open" is a tolerance that is not met yet."""
COLUMNS = ("quantity", "reference", "expected", "measured", "deviation", "tolerance", "its reason", "test")


def tests_that_validate(path: Path) -> set[str]:
    """Tests of a file that call `validated`, by themselves or through functions of the file."""
    functions = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    called = {
        node.name: {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - {node.name}
        for node in functions
    }
    found = {"validated"}
    while more := {name for name, names in called.items() if names & found} - found:
        found |= more
    return {name for name in found if name.startswith("test_")}


def all_tests() -> Iterator[str]:
    """Node ids of all tests that validate: `tests/room/test_x.py::test_y`."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if path.name == "test_validation.py":  # tests the comparison itself
            continue
        file = path.relative_to(ROOT).as_posix()
        yield from (f"{file}::{name}" for name in sorted(tests_that_validate(path)))


def measure(arguments: list[str]) -> list[dict[str, Any]]:
    """Run the tests; what they recorded."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.jsonl"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *all_tests(), *arguments]
        subprocess.run(command, cwd=ROOT, env=os.environ | {RECORD: str(record)}, check=True)
        return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def told(value: float, unit: str = "", digits: int = 4) -> str:
    """A number and its unit."""
    return f"{value:.{digits}g} {unit}".strip()


def row_of(rows: list[dict[str, Any]]) -> list[str]:
    """The row of all cases of a test that measured the same quantity."""
    worst = max(rows, key=lambda row: (row["part"], row["test"]))
    unit, off, allowed = worst["unit"], abs(worst["measured"] - worst["expected"]), worst["abs"]
    if worst["expected"] != 0.0 and worst["rel"] * abs(worst["expected"]) >= allowed:
        off, allowed, unit = 100.0 * off / abs(worst["expected"]), 100.0 * worst["rel"], "%"
    test, _, case = worst["test"].partition("[")
    name = "`" + test.removeprefix("tests/").replace("::", ": ") + "`"
    if (cases := len({row["test"] for row in rows})) > 1:
        name += f", {cases} cases, here {case.rstrip(']')}"
    cells = [
        worst["quantity"], worst["source"], told(worst["expected"], worst["unit"]),
        told(worst["measured"], worst["unit"]), told(off, unit, 2) + ("" if worst["holds"] else " (open)"),
        told(allowed, unit, 2), worst["reason"], name,
    ]  # fmt: skip
    return [cell.replace("|", "\\|") for cell in cells]


def page_of(rows: list[dict[str, Any]]) -> str:
    """The page: a table per room, tests in the order of their names."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["room"], row["test"].partition("[")[0], row["quantity"]), []).append(row)
    blocks = [HEAD]
    for room, found in itertools.groupby(sorted(groups), key=lambda key: key[0]):
        blocks += [f"## `core/{room}/`", table(COLUMNS, [row_of(groups[key]) for key in found])]
    return "\n\n".join(blocks) + "\n"


def main() -> int:
    """Measure and write."""
    PAGE.write_text(page_of(measure(sys.argv[1:])), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
