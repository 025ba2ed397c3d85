"""A step of all points through the step filter, as the Newton solver does it, for models without rigid bodies."""

import contact_reference as reference
import numpy as np
from softpressure_ext.core.contact.broad_phase.candidates import Candidates
from softpressure_ext.core.contact.filter.step_filter import StepFilter
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_gaps


class Filtering:
    """The filter of one model."""

    def __init__(self, model):
        self.model = model
        self.candidates = Candidates(model, 1.05)
        self.filter = StepFilter(model, self.candidates)

    def __call__(self, x, step, only_shorten=False):
        """What is left of a step of all points [m], shape (point_count, 3), from x [m]; colliders do not move."""
        n = self.model.vertex_count
        x, move = np.ascontiguousarray(x), step.copy()
        move[n:] = 0.0
        self.candidates.cover(x, x + move)
        contacts = self.candidates.contacts
        evaluate_gaps(x, contacts, self.model.surfaces)
        edges = slice(contacts.edge_start, contacts.first_element)
        contacts.contact_weight[edges] = contacts.target_weight[edges]
        evaluate_gaps(x, contacts, self.model.surfaces)
        unknowns = move[:n].copy()

        def place():
            return np.concatenate([x[:n] + unknowns, x[n:]])

        if only_shorten:
            self.filter.shorten(x, unknowns, reference.mobility_of(self.model), place)
        else:
            self.filter.filter(x, unknowns, reference.mobility_of(self.model), place)
        assert self.candidates.alone or self.candidates.still_valid(place())
        move[:n] = unknowns
        return move
