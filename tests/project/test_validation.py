"""docs/validation.md lists the tests that compare with closed forms."""

import re

from validation_page import PAGE, all_tests


def test_the_page_lists_the_tests_that_compare() -> None:
    """After a change of what is compared, `nox -s validation` writes the page anew."""
    listed = re.findall(r"`([\w/]+\.py): (test_\w+)`", PAGE.read_text(encoding="utf-8"))
    assert {f"tests/{file}::{test}" for file, test in listed} == set(all_tests())
