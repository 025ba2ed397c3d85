"""The pages of the guide as files: what they show and link is there, and none is left out."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "guide"
PAGES = sorted(FOLDER.glob("*.md"))


@pytest.mark.parametrize("path", [path for path in PAGES if path.stem != "README"], ids=lambda path: path.stem)
def test_every_step_does_something(path: Path) -> None:
    """Below each numbered sentence stands a block, before the next."""
    for item in re.split(r"^(?=\d+\. )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        assert "<!-- do\n" in item, item


def test_pages_and_pictures_are_all_shown() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in PAGES}
    named = set(re.findall(r"\]\(([^)/#]+)\)", " ".join(texts.values())))
    assert {path.name for path in FOLDER.iterdir()} - {"README.md"} == named
    for number, path in enumerate(sorted(FOLDER.glob("[0-9]*.md")), start=1):
        assert path.name.startswith(f"{number:02d}-") and texts[path.name].startswith(f"# {number}. ")


def test_every_sample_is_in_the_gallery() -> None:
    text = (FOLDER / "gallery.md").read_text(encoding="utf-8")
    for path in (ROOT / "sample_blends").glob("*.blend"):
        assert f"{path.name}" in text, path.name
