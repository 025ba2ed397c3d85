"""Files, links, folders and functions that the documents name exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
PAGES += [ROOT / "docs" / f"{name}.md" for name in ("method", "validation", "features", "command-line", "limits")]
PAGES += [*sorted((ROOT / "core").rglob("README.md")), *sorted((ROOT / "docs" / "guide").glob("*.md"))]
SOURCES = [path for path in ROOT.rglob("*.py") if not {".nox", "build", "wheels"} & set(path.relative_to(ROOT).parts)]
#: That hold sources or pictures.
FOLDERS = {path.relative_to(ROOT).parent.as_posix() for path in (*SOURCES, *(ROOT / "docs").rglob("*.*"))}
FOLDERS |= {parent.as_posix() for folder in FOLDERS for parent in Path(folder).parents}


def files_of(name: str, page: Path) -> list[Path]:
    """Files that a name such as `press.py` or `contact/filter/step_filter.py` may stand for."""
    nearby = [base / name for base in (page.parent, ROOT / "core", ROOT) if (base / name).is_file()]
    return nearby or [path for path in SOURCES if path.as_posix().endswith(f"/{name}")]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_page_names_and_links_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name, function in re.findall(r"`([\w/]+\.py)(?::? (\w+))?`", text):
        files = files_of(name, page)
        assert files, f"no file {name}"
        if function:
            texts = [path.read_text(encoding="utf-8") for path in files]
            assert any(re.search(rf"(def|class) {function}\b", text) for text in texts), f"{name} has no {function}"
    for name in re.findall(r"`([\w/]+/)`", text):
        is_made_later = name.startswith("build/") or name == "wheels/"
        assert is_made_later or any(f"/{folder}/".endswith(f"/{name}") for folder in FOLDERS), f"no folder {name}"
    rooms = "|".join(sorted({path.parent.name for path in (ROOT / "core").glob("*/__init__.py")}))
    for name in re.findall(rf"`((?:{rooms})\.\w+(?:\.\w+)*)`", text):
        parts = name.split(".")
        if parts[-1] != "py":  # else a file, as `bodies.py`
            modules = [ROOT / "core" / Path(*parts[:count]) for count in (len(parts), len(parts) - 1)]
            assert any(module.with_suffix(".py").is_file() for module in modules), f"no module {name}"
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"no target {target}"
