"""The one writer of pages: a text in Markdown whose slots are filled with what was measured, which is kept as JSON.

`{{mesit.gas}}` stands for a number, a list or a table of the section `mesit`, `{{mesit.SPRINGS}}` for a constant of its
module. Where there is nothing for a slot, its part of the text, from `##` on, is left out; before the first part, its
line. A section is a module: `values(data)` tells what stands in the text, `draw(figures, data)` draws its figures. One
section can be renewed alone, and a page can be written anew without measuring.
"""

import importlib
import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SLOT = re.compile(r"\{\{([\w.]+)\}\}")


@dataclass(frozen=True, slots=True)
class Page:
    """A page and the package whose modules are its sections, in their order; `folder` has what is kept of them."""

    path: Path
    package: str
    sections: tuple[str, ...]
    folder: str = "."

    def module(self, name: str) -> Any:
        """The module of a section."""
        return importlib.import_module(f"softpressure_ext.{self.package}.{name}")

    def file(self, name: str) -> Path:
        """Where a section is kept."""
        return self.path.with_suffix("") / self.folder / f"{name}.json"

    def keep(self, name: str, seconds: float, **found: Any) -> None:
        """Keep what a section is made of: its `data`, or the `values` of it."""
        about = {"version": version(), "machine": machine(), "seconds": round(seconds)}
        write_json(self.file(name), about | found)

    def kept(self) -> dict[str, dict[str, Any]]:
        """The sections that the page has, by name."""
        return {name: read_json(self.file(name)) for name in self.sections if self.file(name).exists()}

    def figures(self) -> Any:
        """The writer of its figures."""
        return importlib.import_module("softpressure_ext.experiments.figures").Figures(self.path.with_suffix(""))

    def filled(self) -> str:
        """The text with its values; raises `KeyError` for a value that a section should have and has not."""
        kept = self.kept()
        values = {name: each.get("values") or self.module(name).values(each["data"]) for name, each in kept.items()}

        def value(slot: str) -> Any:
            name, _, key = slot.partition(".")
            if name == "made":
                return made(kept)
            if name not in kept:
                return None
            return _constant(self.module(name), key) if key[0].isupper() else values[name][key]

        return fill((ROOT / self.package / "page.md").read_text(encoding="utf-8"), value)

    def write(self) -> None:
        """Write the page, draw figures from the data that is kept, and delete those that the page does not show."""
        for name, section in self.kept().items():
            if "data" in section and hasattr(self.module(name), "draw"):
                self.module(name).draw(self.figures(), section["data"])
        text = self.filled()
        self.path.write_text(text, encoding="utf-8")
        for picture in self.path.with_suffix("").glob("*.png"):
            if f"({self.path.stem}/{picture.name})" not in text:
                picture.unlink()


def fill(text: str, value: Any) -> str:
    """A text with the values of its slots, and below each figure its caption."""
    done = ""
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        for piece in [part] if part.startswith("## ") else part.splitlines(keepends=True):
            found = {slot: value(slot) for slot in _SLOT.findall(piece)}
            if None not in found.values():
                done += _SLOT.sub(lambda slot, found=found: str(found[slot[1]]), piece)  # type: ignore[misc]
    done = re.sub(r"^(!\[(.+)\]\(\w+/\w+\.png\))$", r"\1\n\n*\2*", done, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", done)


def _constant(value: Any, key: str) -> str:
    """A constant of a module as text: a number or several of them, or one of a scene, as in BALL.radius."""
    for part in key.split("."):
        value = getattr(value, part)
    parts = value if isinstance(value, tuple) else (value,)
    return ", ".join(part if isinstance(part, str) else f"{part:g}" for part in parts)


def made(kept: dict[str, dict[str, Any]]) -> str:
    """The table of how each section was made."""
    rows = []
    for name, section in kept.items():
        load = section["machine"].get("load_at_start", "unknown")
        rows.append([f"`{name}`", section["version"], f"{section['seconds']} s", told_machine(section), load])
    return table(["section", "version", "run time", "machine", "load at its end"], rows)


def told_machine(section: dict[str, Any]) -> str:
    """What a section was measured on."""
    own = section["machine"]
    return f"{own['processor']}, {own['cores']} cores, {own['system']}; Python {own['python']}, numba {own['numba']}"


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits, powers of ten only where they help; a dash for none."""
    if value is None:
        return "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e5:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}·10{str(int(power)).translate(_RAISED)}"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def table(head: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def items(lines: Iterable[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"* {line}" for line in lines)


def read_json(path: Path) -> Any:
    """What a file holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, found: Any) -> None:
    """Keep it; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def version() -> str:
    """Version of the extension."""
    found = re.search(r'^version = "(.+)"', (ROOT / "blender_manifest.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def machine() -> dict[str, Any]:
    """What figures depend on."""
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.+)", cpuinfo.read_text()) if cpuinfo.exists() else []
    found = {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
    found |= {name: metadata.version(name) for name in ("numpy", "numba", "llvmlite")}
    if sys.platform != "win32":
        found["load_at_start"] = round(os.getloadavg()[0], 2)  # figures of a busy machine are worth little
    return found
