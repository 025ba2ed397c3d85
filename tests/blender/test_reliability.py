"""The reliability ledger: a tiny form of each line, and that its page is put together from them."""

import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bpy_scene import empty_file  # noqa: F401

child = importlib.import_module("softpressure_ext.reliability.child")
fuzz = importlib.import_module("softpressure_ext.reliability.fuzz")
hostile = importlib.import_module("softpressure_ext.reliability.hostile")
kills = importlib.import_module("softpressure_ext.reliability.kills")
samples = importlib.import_module("softpressure_ext.reliability.samples")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
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
    assert child.call("fuzz", "simulate", case=json.loads(path.read_text(encoding="utf-8"))) in (True, False)


def test_a_case_that_took_long_begins_again_alone() -> None:
    got = fuzz._patiently(json.dumps(ball(0.5)))
    assert got["simulated"] == 1 and 0.0 < got["slow"] < fuzz.PATIENCE
    failed = fuzz._patiently(json.dumps({"bodies": []}))  # what raises fails, with the case
    assert "KeyError" in failed["failed"] and failed["case"] == '{"bodies": []}'


def test_what_a_pickle_does_is_seen(tmp_path: Path) -> None:
    watch = hostile.Watch()
    with watch:
        (tmp_path / "file").write_text("x")
        (tmp_path / "file").unlink()
        import pickle

        pickle.loads(pickle.dumps(Path("x")))
    kinds = [kind for kind, _ in watch.events]
    assert kinds.count("write") >= 2 and any(kind == "run" and "pickle" in text for kind, text in watch.events)


def test_a_few_kills_lose_at_most_a_frame() -> None:
    data = kills.run(3)
    assert data["wrong"] == [] and data["lost"] <= 1


def test_a_few_hostile_files_do_nothing() -> None:
    data = hostile.run(12)
    assert data["wrong"] == [] and data["by"]["presets"] == len(hostile.PRESETS)


@pytest.mark.parametrize("jump", [0.01, 0.2])
def test_a_vertex_that_jumps_is_seen(jump: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body of a metre falls at 1 m/s, so the bound is 2/24 + g/24^2 + 0.05 m = 0.15 m."""
    monkeypatch.setattr(samples, "EVERY", 100)
    x, watch = np.random.default_rng(1).uniform(0.0, 1.0, (20, 3)), samples.Watch()
    x[:2] = [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)]
    model = SimpleNamespace(
        body_point_start=np.array([0, 20]), moving_count=1, body_names=["Ball"], gravity=np.array([0.0, 0.0, -9.81])
    )
    world = SimpleNamespace(model=model, frame_rate=24.0, save=lambda: SimpleNamespace(positions=x))
    for _ in range(3):
        watch.see(world)
        x = x - [0.0, 0.0, 1.0 / 24.0]
    assert not watch.popped
    x[5, 0] += jump
    watch.see(world)
    assert bool(watch.popped) == (jump > 0.15)


def test_the_page_is_put_together_from_its_lines() -> None:
    text = PAGE.read_text(encoding="utf-8")
    kept = sorted(PAGE.with_suffix("").glob("*.json"))
    assert len(kept) >= 4
    for path in kept:
        line = json.loads(path.read_text(encoding="utf-8"))
        for block in line["blocks"]:
            assert block in text, f"{path.name}: run `nox -s ledger -- --assemble`; the page is not written by hand."
