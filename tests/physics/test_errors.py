"""Refusals of the core, with their sentences; and the state after a failed run."""

import numpy as np
import pytest
import shapes
from scenes import advance, ball_world
from softpressure_ext.core import DivergenceError, MeshError, ModelBuilder, ParameterError, World

X, T = shapes.icosphere(1, 0.2)


def test_divergence_names_frame_and_body_and_keeps_the_last_good_frame(monkeypatch):
    world = ball_world(subdivisions=2, substeps=4)
    advance(world, 3)
    before, speeds, state = world.positions(0), world.velocities(0), world.save()
    step, calls = world._solver.step, []
    monkeypatch.setattr(world._solver, "join", lambda state, left: 1)

    def broken(start, after, motion, share, gas, count, load):
        step(start, after, motion, share, gas, count, load)
        calls.append(share)
        if len(calls) == 3:
            after.positions[5] = np.nan

    monkeypatch.setattr(world._solver, "step", broken)
    with pytest.raises(DivergenceError, match=r"^ball: the motion is not finite in frame 4\. Look for extreme"):
        world.advance_frame()
    assert world.frame == 3
    assert (world.positions(0) == before).all() and (world.velocities(0) == speeds).all()
    monkeypatch.undo()
    world.advance_frame()  # it can go on
    again = ball_world(subdivisions=2, substeps=4)
    again.load(state)
    again.advance_frame()
    assert (world.positions(0) == again.positions(0)).all()


def builds(**options):
    builder = ModelBuilder()
    builder.add_membrane("Toy", X, T, **options)
    return builder.build()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"frame_rate": 0.0}, "frame rate: 0.0 per second; give a positive number."),
        ({"substeps": 0}, "scene: substeps 0; give a whole number from 1."),
        ({"substeps": 2.5}, "scene: substeps 2.5; give a whole number from 1."),
        ({"threads": -1}, "scene: threads -1; give a whole number from 0."),
    ],
)
def test_a_clock_out_of_range_is_refused(options, sentence):
    with pytest.raises(ParameterError) as refused:
        World(builds(), **options)
    assert str(refused.value) == sentence


def test_a_scene_in_which_nothing_moves_is_refused():
    builder = ModelBuilder()
    builder.add_collider("floor", *shapes.grid(1.0))
    with pytest.raises(ParameterError, match=r"^scene: no body to simulate\. Add at least one that moves\.$"):
        builder.build()
    with pytest.raises(ParameterError, match=r"^gravity: \(0, 0\); give three finite numbers in m/s"):
        ModelBuilder(gravity=(0, 0))
    with pytest.raises(ParameterError, match=r"^scene: ambient pressure -1 Pa; give a number at least 0\.$"):
        ModelBuilder(ambient_pressure=-1.0)


def collapsed(x):
    x[T[0, 0]] = 0.5 * (x[T[0, 1]] + x[T[0, 2]])
    return x, T


BAD_MESHES = {
    "2 vertices with invalid coordinates (NaN or infinite). Delete or move them.":
        lambda x: (np.concatenate([x, [[0, 0, np.nan], [np.inf, 0, 0]]]), T),
    "no faces; a body needs a surface. Add faces to the mesh.": lambda x: (x, T[:0]),
    "1 loose vertices that belong to no face. Delete them.":
        lambda x: (np.concatenate([x, [[1, 2, 3]]]), T),
    "1 faces of zero area. Dissolve them.": collapsed,
    "3 open edges; a pressurized mesh must be closed. Fill the holes, or merge doubled vertices.": lambda x: (x, T[1:]),
    "3 non-manifold edges (shared by three or more faces); a skin has two faces at each edge. "
    "Delete inner faces.": lambda x: (x, np.concatenate([T, T[:1]])),
    "3 edges join faces of opposite winding; inside and outside are undefined. "
    "Recalculate the normals.":
        lambda x: (x, np.concatenate([T[:1, ::-1], T[1:]])),
    "inside out, it encloses -0.0293 m\u00b3. Flip the normals.":
        lambda x: (x, T[:, ::-1]),
}  # fmt: skip


@pytest.mark.parametrize("sentence", BAD_MESHES)
def test_bad_meshes_are_refused(sentence):
    x, triangles = BAD_MESHES[sentence](X.copy())
    with pytest.raises(MeshError) as refused:
        ModelBuilder().add_membrane("Toy", x, triangles)
    assert str(refused.value) == f"Toy: {sentence}"


def test_wrong_shapes_and_numbers_of_vertices_are_refused():
    with pytest.raises(ParameterError, match=r"^Toy: positions of shape \(42, 2\); give \(vertex count, 3\)\.$"):
        ModelBuilder().add_membrane("Toy", X[:, :2], T)
    with pytest.raises(ParameterError, match=r"^Toy: triangles of shape \(80, 2\); give \(triangle count, 3\)\.$"):
        ModelBuilder().add_membrane("Toy", X, T[:, :2])
    with pytest.raises(MeshError, match=r"^Toy: pinned vertex 42 of 42\. Give numbers from 0 below the count\.$"):
        ModelBuilder().add_membrane("Toy", X, T, pinned=[3, 42])
    with pytest.raises(MeshError, match=r"^Toy: a face names vertex 99 of 42\. Rebuild the mesh\.$"):
        ModelBuilder().add_membrane("Toy", X, np.concatenate([T, [[0, 1, 99]]]))


def test_a_collider_may_be_open_but_not_broken():
    builder = ModelBuilder()
    builder.add_membrane("Toy", X, T)
    builder.add_collider("Sheet", *shapes.grid(1.0))
    builder.build()
    with pytest.raises(MeshError, match=r"^Sheet: no faces"):
        builder.add_collider("Sheet", X, T[:0])
