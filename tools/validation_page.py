"""Write docs/validation.md: run the tests that compare with closed forms and references, and tell what they measured.

`python tools/validation_page.py [pytest's arguments]`; the tests state their comparisons by `validated` of
tests/support/validation.py.
"""

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "validation.md"
#: Environment variable: the file, one JSON object per line, to which a run adds what it measured.
RECORD = "SOFTPRESSURE_VALIDATION"

HEAD = """# Validation

What the tests compare with closed forms and independent references. `nox -s validation` writes this page from what they
measure; do not edit it. A tolerance in % is relative to the expected value. Where a test has several cases, and in each
several frames or components, the row shows the one that is nearest to its tolerance. Deviations of about 1e-12 and less
are roundings and differ between processors. "Open" is a tolerance that is not met yet.
"""


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


def number(value: float, unit: str = "") -> str:
    """A number to four digits, and its unit."""
    return f"{value:.4g} {unit}".strip()


def size(value: float) -> str:
    """A deviation or tolerance to two digits."""
    return f"{value:.2g}"


def table_row(rows: list[dict[str, Any]]) -> str:
    """Of all cases of a test that measured the same quantity."""
    worst = max(rows, key=lambda row: (row["part"], row["test"]))
    unit, off = worst["unit"], abs(worst["measured"] - worst["expected"])
    in_percent = worst["rel"] * abs(worst["expected"]) >= worst["abs"] and worst["expected"] != 0.0
    if in_percent:
        share = 100.0 / abs(worst["expected"])
        deviation, tolerance = f"{size(share * off)} %", f"{size(100.0 * worst['rel'])} %"
    else:
        deviation, tolerance = number(float(size(off)), unit), number(float(size(worst["abs"])), unit)
    if not worst["holds"]:
        deviation += " (open)"
    test, _, case = worst["test"].partition("[")
    name = "`" + test.removeprefix("tests/").replace("::", ": ") + "`"
    cases = len({row["test"] for row in rows})
    if cases > 1:
        name += f", {cases} cases, here {case.rstrip(']')}"
    columns = [
        worst["quantity"], worst["source"], number(worst["expected"], unit), number(worst["measured"], unit), deviation,
        tolerance, worst["reason"], name,
    ]  # fmt: skip
    return "| " + " | ".join(column.replace("|", "\\|") for column in columns) + " |"


def page_of(rows: list[dict[str, Any]]) -> str:
    """The page: a table per room, tests in the order of their names."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["room"], row["test"].partition("[")[0], row["quantity"]), []).append(row)
    lines = [HEAD]
    for room in sorted({key[0] for key in groups}):
        lines.append(f"## `core/{room}/`\n")
        lines.append("| quantity | reference | expected | measured | deviation | tolerance | its reason | test |")
        lines.append("|" + "---|" * 8)
        lines += [table_row(group) for key, group in sorted(groups.items()) if key[0] == room]
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Measure and write."""
    PAGE.write_text(page_of(measure(sys.argv[1:])), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
