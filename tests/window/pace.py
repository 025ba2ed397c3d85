"""In a real window: how long it stands still while Simulate runs with 20 000 vertices.

Counted is the processor time that the main thread takes between two rounds of the main loop: not what other programs
take, nor what software draws in other threads.

    blender --python tests/window/pace.py -- [--zip ZIP] [CASE ...]

The extension must be installed, or is from `--zip`. `test_window.py` runs it.
"""

import argparse
import sys
import time
from pathlib import Path

import bpy

sys.path.append(str(Path(__file__).resolve().parent))

import steps

#: Longest time that the main thread may be away [s of processor time].
LONGEST = 0.3
#: Most times that the outliner, which shows nothing of a run, is drawn: reading frames ahead draws all, in slices.
MOST_DRAWS = 12
#: For so long it is watched once frames come [s].
WATCHED = 8.0
#: Cuts of each edge of a cube that make a ball of 20 888 vertices.
CUTS = 58


class Watch:
    """Notes when the main loop comes round, and how long it was away at most."""

    def __init__(self) -> None:
        self.last, self.gaps, self.is_on, self.draws = time.thread_time(), list[float](), True, 0
        bpy.types.SpaceOutliner.draw_handler_add(self.note_draw, (), "WINDOW", "POST_PIXEL")
        bpy.app.timers.register(self.tick, persistent=True)

    def tick(self) -> float | None:
        """The timer."""
        now = time.thread_time()
        self.gaps.append(now - self.last)
        self.last = now
        return 0.005 if self.is_on else None

    def note_draw(self) -> None:
        """The handler of the outliner."""
        self.draws += 1

    def stop(self) -> list[float]:
        """The longest gaps [s]."""
        self.is_on = False
        return sorted(self.gaps)[-5:]


def scene() -> steps.Steps:
    """A fine ball over a floor, simulated as it is drawn."""
    with steps.in_view():
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        bpy.ops.mesh.primitive_plane_add(size=6.0)
        bpy.ops.softpressure.add_body(kind="COLLIDER")
        bpy.ops.mesh.primitive_cube_add(location=(0.0, 0.0, 1.0))
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=CUTS)
        bpy.ops.object.mode_set(mode="OBJECT")
        for vertex in bpy.context.object.data.vertices:
            vertex.co = 0.5 * vertex.co.normalized()
        bpy.ops.softpressure.add_body(kind="SOFT")
        bpy.context.object.softpressure.simulation_mesh = "DRAWN"
    print(f"{len(bpy.context.object.data.vertices)} vertices", flush=True)
    yield 1.0


def simulate() -> steps.Steps:
    """Simulate leaves the window alive."""
    yield from scene()
    watch = Watch()
    with steps.in_view():
        bpy.ops.softpressure.simulate("INVOKE_DEFAULT")
    yield lambda: steps.session().run.cache is not None and steps.session().run.cache.frame_count > 2
    yield WATCHED
    gaps = watch.stop()
    print(
        f"frames {steps.session().run.cache.frame_count}, longest gaps {[round(gap, 3) for gap in gaps]} s", flush=True
    )
    print(f"outliner drawn {watch.draws} times in {len(watch.gaps)} rounds", flush=True)
    with steps.in_view():
        bpy.ops.softpressure.stop()
    yield steps.is_over
    assert gaps[-1] < LONGEST, f"the window stood still for {gaps[-1]:.2f} s"
    assert watch.draws <= MOST_DRAWS, "a tick draws what has not changed"


CASES = {"simulate": simulate}


if __name__ == "__main__":
    steps.run(steps.one_after_the_other(CASES, steps.options_of(argparse.ArgumentParser())))
