"""Which pairs of bodies the guarantee held apart in a frame, and how early in a step they would have met.

Written only where `verify.py` rejects a step, so a step that is accepted at once pays nothing.
"""

from ...jit import lean_kernel
from .verify import fails

#: What was done about a pair, the first index of `Run.failures`: its motion was limited, or stopped; nothing was left
#: to stop, as what is given goes on.
KEPT_APART, STOPPED, NO_ROOM = range(3)


@lean_kernel
def note_failures(contact, how):
    """Count the contacts that fail, as last verified, for their pairs of bodies, and keep each pair's least share.

    The share of the step after which the frozen plane would no longer separate both sides; 1 if it still does at the
    end of the step.
    """
    run, body = contact.run, contact.points.body
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(run.found[2 + kind]):
            if not fails(contacts, c):
                continue
            a, b = body[contacts.points[4 * c] >> 2], body[contacts.points[4 * c + 3] >> 2]
            low, high = min(a, b), max(a, b)
            before, after = max(contacts.gap[4 * c + 1], 0.0), contacts.gap[4 * c + 3]
            share = before / (before - after) if after < 0.0 else 1.0
            run.failures[how, low, high] += 1
            if how != KEPT_APART:
                run.gap_left[low, high] = min(run.gap_left[low, high], before)
            run.least_share[low, high] = min(run.least_share[low, high], share)
