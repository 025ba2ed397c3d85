"""Displacements of all vertices in a stage, each in one pass."""

from ...jit import kernel


@kernel
def advance_along(x, step, scale, chunks, trial):
    """Positions [m] after `scale` times a step of the vertices; other points stay."""
    for chunk in range(chunks.body.shape[0]):
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            for k in range(3):
                trial[i, k] = x[i, k] + scale * step[i, k]
    for i in range(chunks.start[chunks.start.shape[0] - 1], x.shape[0]):
        for k in range(3):
            trial[i, k] = x[i, k]


@kernel
def step_towards(x, goal, pinned, chunks, step):
    """Step of the vertices from x to their goal [m]; 0 for pinned ones."""
    for chunk in range(chunks.body.shape[0]):
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            for k in range(3):
                step[i, k] = 0.0 if pinned[i] else goal[i, k] - x[i, k]


@kernel
def set_targets(base, drawn, drift, time, fall, guessed_fall, share, chunks, target, guess):
    """Targets of the vertices in a stage of a length [s], base + time * drawn + fall, and its first guess [m].

    The guess uses the velocity `drift` [m/s] and `share` of `guessed_fall` of each body [m], shape (membrane_count, 3).
    """
    for chunk in range(chunks.body.shape[0]):
        body = chunks.body[chunk]
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            for k in range(3):
                target[i, k] = base[i, k] + time * drawn[i, k] + fall[k]
                guess[i, k] = base[i, k] + time * drift[i, k] + share * guessed_fall[body, k]


@kernel
def velocity_change(x, base, before, time, rest, chunks, change):
    """Velocity change [m/s] in a time `rest` [s] with the acceleration of a stage of a length [s] from its base to x.

    before: velocities at the start of the stage [m/s].
    """
    for chunk in range(chunks.body.shape[0]):
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            for k in range(3):
                change[i, k] = rest * (((x[i, k] - base[i, k]) / time - before[i, k]) / time)
