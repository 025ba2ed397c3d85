"""How long a step may be: masses that bear it, and the highest frequency of what is left.

Steps of h are stable for h omega < 2 (leapfrog). A vertex's stiffness, the largest eigenvalue of its own 3 x 3 block,
bounds omega^2 by 2 (springs) or 4 (what joins four vertices) times itself over the mass. Crash codes raise the masses
of the few vertices that ask for the shortest steps until a share of the body's mass is added (selective mass scaling;
Olovsson, Simonsson, Unosson 2005): statics stay exact. The body keeps its mass: the others give it.
"""

from collections.abc import Callable

import numpy as np

from ...model import FloatArray, Model

#: Share of the longest stable step that is taken; contact adds at most 1 / h^2 to omega^2 (`press.py`).
SAFETY = 0.85
#: Damping ratio of the dashpots along springs at the highest frequency.
DASHPOT_RATIO = 0.03
#: Steps of Lanczos' method: within a part in a thousand.
LANCZOS_STEPS = 40
#: Longest step [s]: contact springs are as stiff as it allows, and what lies on one sinks in by 2 g h^2.
LONGEST_STEP = 1e-3


def vertex_stiffness(model: Model) -> FloatArray:
    """What bounds omega^2 once it is divided by the mass, for each vertex in the model's order [N/m]."""
    count, edges, x = model.vertex_count, model.edges, model.rest_positions
    blocks = np.zeros((count, 3, 3))
    along = (x[edges.points[:, 1]] - x[edges.points[:, 0]]) / edges.rest_length[:, None]
    spring = 2.0 * edges.stiffness[:, None, None] * along[:, :, None] * along[:, None, :]
    for end in range(2):
        _add(blocks, edges.points[:, end], spring)
    tetrahedra = model.tetrahedra
    if len(tetrahedra.points):
        corner = x[tetrahedra.points]
        for slot in range(4):
            a, b, c = (corner[:, k] for k in range(4) if k != slot)
            gradient = np.cross(b - a, c - a) / 6.0
            own = 4.0 * tetrahedra.stiffness[:, None, None] * gradient[:, :, None] * gradient[:, None, :]
            _add(blocks, tetrahedra.points[:, slot], own)
    stiffness: FloatArray = np.linalg.eigvalsh(blocks)[:, -1] + 4.0 * model.hinges.diagonal
    return stiffness


def _add(blocks: FloatArray, vertex: "np.ndarray[tuple[int], np.dtype[np.int32]]", part: FloatArray) -> None:
    for i in range(3):
        for j in range(3):
            blocks[:, i, j] += np.bincount(vertex, part[:, i, j], len(blocks))


def scaled_masses(model: Model, stiffness: FloatArray, added: float) -> tuple[FloatArray, FloatArray]:
    """Masses for steps [kg], and the share of its mass that each membrane was given, shape (membrane_count,).

    All bodies take steps of one length: the one that the stiffest can with `added` of its mass.
    """
    starts = model.body_point_start[: model.membrane_count + 1]
    bodies = [slice(first, last) for first, last in zip(starts[:-1], starts[1:], strict=True)]
    square = max((_least_square(model.vertex_mass[own], stiffness[own], added) for own in bodies), default=0.0)
    masses, shares = model.vertex_mass.copy(), np.zeros(model.membrane_count)
    for body, own in enumerate(bodies):
        if square > 0.0:
            raised = np.maximum(model.vertex_mass[own], stiffness[own] / square)
            shares[body] = raised.sum() / model.vertex_mass[own].sum() - 1.0
            masses[own] = raised / (1.0 + shares[body])
    return masses, shares


def _least_square(mass: FloatArray, stiffness: FloatArray, added: float) -> float:
    """Least omega^2 such that raising masses to stiffness / omega^2 adds no more than a share of them."""
    ratio = stiffness / mass
    order = np.argsort(ratio)[::-1]
    # with the first k raised: (sum of their stiffness) / omega^2 = added * total + sum of their masses
    raised, held = np.cumsum(stiffness[order]), np.cumsum(mass[order])
    square = raised / (added * mass.sum() + held)
    return float(min(max(square.max(), 0.0), ratio.max(initial=0.0)))


def largest_square(product: Callable[[FloatArray], FloatArray], masses: FloatArray) -> float:
    """Largest omega^2 [1/s^2] of M u'' = -K u, by Lanczos' method with full reorthogonalisation.

    `product`: K u of displacements u, shape (vertex_count, 3); `masses` [kg]; what cannot move has a mass of infinity.
    """
    root = 1.0 / np.sqrt(masses)[:, None]
    # rough enough to have a share of every oscillation, the same every time
    direction = np.cos(np.arange(3.0 * len(masses)) ** 2).reshape(-1, 3) * (root > 0.0)
    size = float(np.linalg.norm(direction))
    if size == 0.0:
        return 0.0
    basis = [direction / size]
    diagonal, beside = list[float](), list[float]()
    for _ in range(min(LANCZOS_STEPS, 3 * len(masses))):
        image = root * product(root * basis[-1])
        diagonal.append(float((image * basis[-1]).sum()))
        table = np.stack([one.ravel() for one in basis])
        for _twice in range(2):
            image -= (table.T @ (table @ image.ravel())).reshape(image.shape)
        beside.append(float(np.linalg.norm(image)))
        if beside[-1] <= 1e-10 * abs(diagonal[0]):
            break
        basis.append(image / beside[-1])
    count = len(diagonal)
    matrix = np.diag(diagonal) + np.diag(beside[: count - 1], 1) + np.diag(beside[: count - 1], -1)
    return float(np.linalg.eigvalsh(matrix)[-1])


def stable_step(square: float) -> float:
    """Length of a step [s] for an omega^2 [1/s^2]."""
    if not square > 0.0:
        return LONGEST_STEP
    dashpots = np.sqrt(1.0 + DASHPOT_RATIO**2) - DASHPOT_RATIO
    return float(min(SAFETY * dashpots * 2.0 / np.sqrt(square), LONGEST_STEP))
