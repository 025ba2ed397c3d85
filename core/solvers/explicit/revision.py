"""The plan of explicit steps when values of a model change during a run, without new measurements."""

import numpy as np

from ...array_types import FloatArray
from ...model import Model
from .stability import Bounds, Plan, damping_rates, start_gas


def has_same_stiffness(one: Model, other: Model) -> bool:
    """Whether two models of the same parts have the same springs, dampers, hinges and tetrahedra."""
    return np.array_equal(one.edge_damping, other.edge_damping) and all(
        np.array_equal(getattr(one, name).stiffness, getattr(other, name).stiffness)
        for name in ("edges", "hinges", "tetrahedra")
    )


def has_same_elements(one: Model, other: Model) -> bool:
    """Whether two models of one start have the same pins, springs, dampers, hinges and tetrahedra."""
    return (
        np.array_equal(one.pinned, other.pinned)
        and np.array_equal(one.edges.points, other.edges.points)
        and has_same_stiffness(one, other)
    )


def revised_plan(plan: Plan, model: Model, other: Model) -> Plan:
    """The plan of `model` for another one with other stiffness, and the same masses.

    Bodies do not couple at rest. Of one whose springs, hinges and tetrahedra are at most r times as stiff as before,
    omega^2 is at most r times what it was, and never more than the bound of its vertices and its gas: the least of
    them counts.
    """
    if has_same_stiffness(model, other):
        return plan
    bounds = Bounds(other, plan.masses)
    bound, gas = bounds.measure(other.rest_positions), bounds.gas(start_gas(other))[0]
    ratio = _ratios(model, other)
    grown = np.where(ratio >= 1.0, ratio * plan.square, np.minimum(plan.square, ratio * plan.square + gas))
    return plan._replace(square=np.minimum(bound + gas, grown), decay=_decays(plan, model, other), bound=bound)


def _decays(plan: Plan, model: Model, other: Model) -> FloatArray:
    """Bounds of the rates at which the dampers of another model damp; measured where one had none before."""
    before, after = model.edge_damping, other.edge_damping
    if (after[before == 0.0] > 0.0).any():
        return damping_rates(other, plan.masses)
    ratio = np.zeros(model.membrane_count)
    share = np.divide(after, before, out=np.zeros_like(before), where=before > 0.0)
    np.maximum.at(ratio, model.point_body[model.edges.points[:, 0]], share)
    return plan.decay * ratio


def _ratios(model: Model, other: Model) -> FloatArray:
    """Largest ratio of new to old stiffness of each membrane; infinite where hinges are new."""
    ratio = np.zeros(model.membrane_count)
    for name in ("edges", "hinges", "tetrahedra"):
        before, after = getattr(model, name), getattr(other, name)
        if len(before.points) != len(after.points):
            return np.full(model.membrane_count, np.inf)
        body = model.point_body[after.points[:, 0]] if len(after.points) else np.zeros(0, np.int32)
        share = np.divide(after.stiffness, before.stiffness, out=np.ones(len(body)), where=before.stiffness > 0.0)
        np.maximum.at(ratio, body, share)
    return ratio
