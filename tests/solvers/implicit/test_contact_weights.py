"""Contact weights of pairs of edges: what keeps them, and what changes them."""

from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.solvers.implicit.contact_weights import ContactWeights

POINTS, EDGES = 7, 9


def contacts_of(pairs, distance, target):
    """One vertex against a triangle, then pairs of edges, sorted, which may touch below 1 m."""
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
    weights = ContactWeights(EDGES)
    first = contacts_of([(0, 3), (2, 8), (4, 5)], (0.5, 2.0, 2.0), (0.7, 1.0, 0.0))
    weights.begin(first)
    assert weights_of(first) == [1.0, 0.7, 1.0, 0.0]
    near = contacts_of([(0, 3), (1, 2), (2, 8), (4, 5)], (0.5, 0.5, 2.0, 0.5), (0.1, 0.9, 0.4, 1.0))
    weights.begin(near)
    assert weights_of(near) == [1.0, 0.7, 0.9, 0.4, 1.0]  # a pair without force may get one
    again = contacts_of([(0, 3), (2, 8)], 0.1, (1.0, 1.0))
    weights.begin(again)
    assert weights_of(again) == [1.0, 0.7, 0.4]


def test_a_step_begins_with_the_weights_that_the_geometry_asks_for():
    weights = ContactWeights(EDGES)
    contacts = contacts_of([(0, 3), (2, 8)], (0.5, 2.0), (0.7, 1.0))
    weights.begin(contacts)
    assert not weights.renew(contacts)
    contacts.target_weight[2] = 0.2
    assert not weights.renew(contacts)  # farther apart than they keep
    contacts.target_weight[1] = 0.6
    assert weights.renew(contacts)
    assert weights_of(contacts) == [1.0, 0.6, 0.2]
    again = contacts_of([(0, 3), (2, 8)], 0.5, 1.0)
    weights.begin(again)
    assert weights_of(again) == [1.0, 0.6, 0.2]


def test_a_frame_begins_without_the_weights_of_the_last():
    weights = ContactWeights(EDGES)
    weights.begin(contacts_of([(0, 3)], 0.5, 0.7))
    weights.forget()
    contacts = contacts_of([(0, 3)], 0.5, 0.2)
    weights.begin(contacts)
    assert weights_of(contacts) == [1.0, 0.2]
