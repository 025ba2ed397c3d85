"""docs/papers.md: it was written by the code that is here, and its links and pictures lead somewhere."""

import importlib
import re

import pytest

papers = importlib.import_module("softpressure_ext.experiments.run")
PAGE = papers.PAGE.path


@pytest.mark.parametrize("name", papers.SECTIONS)
def test_a_section_was_written_by_the_code_that_it_depends_on(name: str) -> None:
    renew = f"Renew it: `nox -s papers -- --only {name}`"
    kept = papers.PAGE.kept()
    assert name in kept, f"docs/papers.md has no section `{name}`. {renew}."
    changed = papers.changed_files(name, kept[name])
    assert not changed, (
        f"Section `{name}` of docs/papers.md is older than {', '.join(changed)}. {renew}; or, if these files have no "
        f"part in its numbers, take them out of DEPENDS in experiments/{name}.py and renew it once."
    )


def test_the_page_is_the_text_with_the_values_that_are_kept() -> None:
    assert PAGE.read_text(encoding="utf-8") == papers.PAGE.filled(), "Run `nox -s papers -- --assemble`."


def test_links_and_pictures_of_the_page_lead_somewhere() -> None:
    text = PAGE.read_text(encoding="utf-8")
    headings = {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    for target in re.findall(r"\]\(#([^)]*)\)", text):
        assert target in headings, target
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (PAGE.parent / target).exists(), target
    shown = re.findall(r"\((papers/\w+\.png)\)", text)
    assert sorted(shown) == sorted(f"papers/{path.name}" for path in (PAGE.parent / "papers").glob("*.png"))


def anchor(heading: str) -> str:
    """What a link to a heading ends in, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
