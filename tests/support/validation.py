"""Comparisons with closed forms and independent references, asserted in a test and told on docs/validation.md.

`tools/validation_page.py` (nox -s validation) runs the tests that call `validated` with the variable RECORD in the
environment and writes the page. Without it nothing is recorded.
"""

import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from validation_page import RECORD

#: Largest part of its tolerance that each quantity of each test has used so far in this process.
_largest: dict[tuple[str, str], float] = {}


def validated(
    quantity: str, *, room: str, measured: ArrayLike, expected: ArrayLike, unit: str = "", source: str, reason: str,
    rel: float = 0.0, abs: float = 0.0,
) -> None:  # fmt: skip
    """Assert that `measured` equals `expected` to a tolerance, and record both.

    The tolerance is the larger of `abs` [unit] and `rel` times the expected size, for each component of an array.
    `room`: the folder of the core whose part is checked; `source`: the closed form or reference; `reason`: of the
    tolerance. Of several calls in a test for the same quantity the page shows the one nearest to its tolerance.
    """
    found, wanted = np.broadcast_arrays(np.asarray(measured, float), np.asarray(expected, float))
    allowed = np.maximum(rel * np.abs(wanted), abs)
    error = np.abs(found - wanted)
    holds = bool((error <= allowed).all())  # not where a number is NaN
    part = np.where(error == 0.0, 0.0, error / np.where(allowed > 0.0, allowed, np.finfo(float).tiny))
    worst = np.unravel_index(np.argmax(np.where(np.isnan(part), np.inf, part)), part.shape)
    if RECORD in os.environ:
        _record(float(part[worst]), quantity=quantity, room=room, unit=unit, source=source, reason=reason, rel=rel,
                abs=abs, measured=float(found[worst]), expected=float(wanted[worst]), holds=holds)  # fmt: skip
    assert holds, (
        f"{quantity}: {found[worst]:.9g} {unit}, expected {wanted[worst]:.9g} within {allowed[worst]:.3g} ({source})"
    )


def _record(part: float, **row: str | float | bool) -> None:
    """Add a row to the file, unless this test used a larger part of the tolerance before."""
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    key = test, str(row["quantity"])
    if part > _largest.get(key, -1.0):
        _largest[key] = part
        with Path(os.environ[RECORD]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row | {"test": test, "part": part}) + "\n")
