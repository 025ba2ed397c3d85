"""Kernels are compiled by the jobs of `core/prepare.py`, each for one list of types, and never inside a world."""

import dataclasses
import subprocess
import sys

import extension
import kernel_guard
import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder, World, prepare

#: Simulates the scene of every job, and prints those that are refused and the kernels of which there are two versions.
COUNTS = """
import extension
extension.load()
import sys
from numba.core.dispatcher import Dispatcher
from softpressure_ext.core import SoftPressureError, prepare
for job in prepare.all_jobs():
    try:
        prepare.run_scene(job)
    except SoftPressureError:
        print(job.solver, job.choice or job.part, sep="|")
print("simulated")
for name, module in list(sys.modules.items()):
    for kernel in vars(module).values() if name.startswith("softpressure_ext.core.") else ():
        if isinstance(kernel, Dispatcher) and kernel.__module__ == module.__name__ and len(kernel.signatures) > 1:
            print(kernel.__module__.split(".core.")[1], kernel.__name__, *kernel.signatures, sep="|")
print("done")
"""


def ball_model():
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(1, 0.1, (0.0, 0.0, 0.101)), gauge_pressure=500.0)
    return builder.build()


def test_every_kernel_is_compiled_for_one_list_of_types():
    missing = [job for job in prepare.all_jobs() if not prepare.is_compiled([job])]
    assert not missing, "Run `python tests/support/warm.py` first."
    run = subprocess.run(
        [sys.executable, "-c", COUNTS], cwd=extension.FOLDER, capture_output=True, text=True, check=False
    )
    lines = run.stdout.splitlines()
    assert lines[-1:] == ["done"], run.stderr
    refused, several = lines[: lines.index("simulated")], lines[lines.index("simulated") + 1 : -1]
    choices = {"EXPLICIT": {"BOUNDING_BOX", "CENTRE_FAN", "VALENCE", "STEP_DAMPING", "FEATURE_PARTICLES"},
               "XPBD": {"FEATURE_PARTICLES"}}  # fmt: skip
    assert all(choice in choices.get(solver, ()) for solver, choice in (line.split("|") for line in refused)), refused
    assert not several


def test_a_model_has_the_types_that_it_declares():
    model = ball_model()
    wrong = dataclasses.replace(
        model,
        vertex_mass=model.vertex_mass.astype(np.float32),
        rest_positions=np.asfortranarray(model.rest_positions),
        edges=model.edges._replace(points=model.edges.points.astype(np.int64)),
    )
    world = World(wrong, substeps=1, solver="EXPLICIT")
    world.advance_frame()
    kernel_guard.check()
