"""Simulating a file with many settings, in processes of their own."""

import shlex
from pathlib import Path

import bpy

from ..softpressure.batch import sweep
from ..softpressure.properties.sweep_properties import Sweep
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .job import JobOperator
from .needs import A_BODY, ALL_FRAMES, unless


class SOFTPRESSURE_OT_sweep(Sweep, JobOperator, bpy.types.Operator):
    """Simulate the saved file with each combination of values, in separate processes."""

    bl_label = "Run Sweep"
    lets_go_on = True
    every = 0.1
    needs = (
        A_BODY,
        unless(lambda _: bpy.data.filepath, "Save the file first: its cases are simulated from there"),
        ALL_FRAMES,
    )

    def job(self, _context: Context) -> jobs.Work:
        """Plan, then the cases."""
        scenes = [scene for scene in bpy.data.scenes if sessions.has_bodies(scene)]
        if bpy.data.is_dirty and not bpy.app.background:  # without a window Blender does not know
            raise ValueError(
                f"{bpy.data.filepath}: has unsaved changes, which its cases would not have. Save it first."
            )
        try:
            words = shlex.split(self.settings)
        except ValueError as error:
            raise ValueError(f"{self.settings!r}: {error}. Close each quotation mark, or leave them out.") from error
        if not words:
            raise ValueError("No settings are given. Write some, such as Ball.gauge_pressure=500,2000.")
        self._folder = sweep.prepare(Path(bpy.data.filepath), words, self.pairwise, scenes=scenes)
        return sweep.run(self._folder, self.workers)

    def done_text(self, _context: Context) -> str:
        """How many are finished, and where."""
        return sweep.collect(self._folder)[0]


CLASSES = (SOFTPRESSURE_OT_sweep,)
