"""The reliability ledger: a tiny form of each line, and that its page is put together from them."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

child = importlib.import_module("softpressure_ext.tools.child")
fuzz = importlib.import_module("softpressure_ext.reliability.fuzz")
hostile = importlib.import_module("softpressure_ext.reliability.hostile")
kills = importlib.import_module("softpressure_ext.reliability.kills")
PAGE = importlib.import_module("softpressure_ext.reliability.run").PAGE
#: Cases that hypothesis found and that ended the process, as they were drawn.
FUZZED = sorted((Path(__file__).resolve().parent / "fuzzed").glob("*.json"))


def ball(scale: float, **settings: Any) -> dict[str, Any]:
    import shapes

    x, faces = shapes.icosphere(1, scale)
    body = {"kind": "SOFT", "type": "", "location": (0, 0, 1), "rotation": (0, 0, 0), "scale": (1, 1, 1)}
    return {
        "bodies": [body | {"mesh": (x.tolist(), faces.tolist()), "settings": settings}],
        "scene": {"solver": "EXPLICIT"},
    }


def test_a_body_of_a_picometre_is_refused() -> None:
    """Its search for contacts ended Blender."""
    assert not fuzz.simulate(ball(5e-13))
    assert fuzz.simulate(ball(0.5))


@pytest.mark.parametrize("path", FUZZED, ids=[path.stem for path in FUZZED])
def test_a_case_that_ended_the_process_ends_in_order(path: Path) -> None:
    """Runs that blew up, beyond 1e30 m within a frame: the search took lanes without a box for candidates.

    In a process of its own, as it would end that of the tests. The motion is refused with a sentence, or simulated;
    `fuzz.simulate` checks that.
    """
    case = json.loads(path.read_text(encoding="utf-8"))
    assert child.call("reliability.fuzz", "simulate", case=case) in (True, False)


def test_a_few_kills_lose_at_most_a_frame() -> None:
    data = kills.run(3)
    assert data["wrong"] == [] and data["lost"] <= 1


def test_a_few_hostile_files_do_nothing() -> None:
    data = hostile.run(12)
    assert data["wrong"] == [] and data["by"]["presets"] == len(hostile.PRESETS)


def test_the_page_is_the_text_with_what_is_kept() -> None:
    assert len(PAGE.kept()) == len(PAGE.sections)
    assert PAGE.path.read_text(encoding="utf-8") == PAGE.filled(), "Run `nox -s ledger -- --assemble`."
