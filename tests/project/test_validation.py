"""Comparisons with closed forms fail where they should, and docs/validation.md lists the tests that make them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import validation
from validation import validated
from validation_page import PAGE, RECORD, all_tests, page_of

ABOUT = {"room": "energy", "unit": "m", "source": "closed form", "reason": "rounding"}


@pytest.mark.parametrize("measured", [1.11, np.nan, np.inf, [1.0, 0.89], [1.0, np.nan]])
def test_what_is_beyond_the_tolerance_fails(measured: float | list[float]) -> None:
    with pytest.raises(AssertionError, match=r"^length: \S+ m, expected 1 within 0.1 \(closed form\)"):
        validated("length", measured=measured, expected=1.0, rel=0.1, **ABOUT)


def test_no_tolerance_asks_for_equality() -> None:
    validated("length", measured=[1.0, 2.0], expected=[1.0, 2.0], **ABOUT)
    with pytest.raises(AssertionError):
        validated("length", measured=1.0 + 1e-15, expected=1.0, **ABOUT)


def test_the_page_shows_the_case_nearest_to_its_tolerance(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    monkeypatch.setenv(RECORD, str(record))
    monkeypatch.setattr(validation, "_largest", {})
    for measured in (1.01, 1.05, 1.02):
        validated("length", measured=measured, expected=1.0, rel=0.1, **ABOUT)
    rows = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert [row["measured"] for row in rows] == [1.01, 1.05]
    name = "`project/test_validation.py: test_the_page_shows_the_case_nearest_to_its_tolerance`"
    row = f"| length | closed form | 1 m | 1.05 m | 5 % | 10 % | rounding | {name} |"
    assert "## `core/energy/`" in page_of(rows) and row in page_of(rows)


def test_the_page_lists_the_tests_that_compare() -> None:
    """After a change of what is compared, `nox -s validation` writes the page anew."""
    listed = re.findall(r"`([\w/]+\.py): (test_\w+)`", PAGE.read_text(encoding="utf-8"))
    assert {f"tests/{file}::{test}" for file, test in listed} == set(all_tests())
