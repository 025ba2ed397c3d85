"""Kernels are compiled by the jobs of `core/prepare.py`, each for one list of types, and never inside a world."""

import dataclasses
from collections import Counter

import kernel_guard
import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder, World, kernel_store, prepare


def ball_model():
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(1, 0.1, (0.0, 0.0, 0.101)), gauge_pressure=500.0)
    return builder.build()


def test_every_kernel_is_compiled_for_one_list_of_types():
    """A file's name ends with the digest of its types. That no job is refused is told by `kernel_guard`."""
    missing = [job for job in prepare.all_jobs() if not prepare.is_compiled([job])]
    assert not missing, "Run `python tests/support/warm.py` first."
    kernels = [path.stem.rpartition("-")[0] for path in kernel_store.folders()[1].glob("*.kernel")]
    assert len(kernels) > 90
    several = [kernel for kernel, count in Counter(kernels).items() if count > 1]
    assert not several, f"If a script called them, delete {kernel_store.folders()[1]} and run the jobs again."


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
