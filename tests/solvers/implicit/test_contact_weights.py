"""Contact weights of pairs of edges: what keeps them, and what changes them."""

import numpy as np
from softpressure_ext.core.contact.contacts import WEIGHT_STEP, Contacts
from softpressure_ext.core.solvers.implicit.contact_weights import ContactWeights
from softpressure_ext.core.state import FrictionSprings

POINTS, EDGES = 7, 9


def contacts_of(pairs, distance, target):
    """One vertex against a triangle, then pairs of edges, sorted, within 1 m of each other if nearer than that."""
    contacts = Contacts(POINTS)
    contacts.edge_start, contacts.count = 1, 1 + len(pairs)
    contacts.first_element = contacts.count
    rows = slice(1, contacts.count)
    contacts.edges[rows], contacts.thickness[rows] = pairs, 1.0
    contacts.distance[rows], contacts.target_weight[rows] = distance, target
    return contacts


def weights_of(contacts):
    return contacts.contact_weight[: contacts.count].tolist()


def test_a_new_search_in_a_step_changes_no_weight_of_what_is_near():
    """A pair that was far has the weight that its geometry asks for, and keeps it when it comes near."""
    weights = ContactWeights(EDGES, POINTS)
    far = contacts_of([(0, 3), (2, 8), (4, 5)], 2.0, (0.7, 1.0, 0.0))
    weights.begin(far)
    assert weights_of(far) == [1.0, 0.7, 1.0, 0.0]
    near = contacts_of([(0, 3), (1, 2), (2, 8), (4, 5)], (0.5, 0.5, 2.0, 0.5), (0.1, 1.0, 0.4, 1.0))
    weights.begin(near)
    assert weights_of(near) == [1.0, 0.7, 0.0, 0.4, 0.0]
    again = contacts_of([(0, 3), (2, 8)], 0.1, (1.0, 1.0))
    weights.begin(again)
    assert weights_of(again) == [1.0, 0.7, 0.4]


def test_a_step_begins_with_the_weights_of_its_state():
    """Also where it is repeated; a pair of edges is known by their numbers, a vertex has another name."""
    weights = ContactWeights(EDGES, POINTS)
    stuck = FrictionSprings(
        np.array([POINTS + 4, 2, POINTS + 0], np.int32), np.array([5, 3, 3], np.int32), np.zeros((3, 3)),
        np.array([0.3, 0.2, 0.6]), 0.0,
    )  # fmt: skip
    contacts = contacts_of([(0, 3), (2, 3), (4, 5)], 0.5, 1.0)
    contacts.contact_weight[1:4] = 0.9
    weights.start(contacts, stuck)
    assert weights_of(contacts) == [1.0, 0.6, 0.9, 0.3]
    found = contacts_of([(0, 3), (2, 3), (4, 5)], 0.5, 1.0)
    weights.begin(found)
    assert weights_of(found) == [1.0, 0.6, 0.0, 0.3]


def test_soft_pairs_take_their_target_in_steps_and_hard_ones_at_once():
    contacts = contacts_of([(0, 3), (2, 8)], 0.5, 1.0)
    contacts.soft[1] = (False, True)
    contacts.contact_weight[1:3] = 0.0
    assert contacts.update_contact_weights()
    assert weights_of(contacts) == [1.0, WEIGHT_STEP, 1.0]
    while contacts.update_contact_weights():
        pass
    assert weights_of(contacts)[1] > 0.94
