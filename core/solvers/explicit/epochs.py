"""Length of an epoch of contact, and the slack: how far points may deviate from their predicted flight."""

from ...jit import lean_inline_kernel, lean_kernel
from .arrays import AGE, GIVEN, SPAN

#: Longest epoch [steps].
LONGEST_EPOCH = 24
#: Root mean square deviation that is planned for, and the most slack, as shares of the distance that is kept.
STRAYING_SHARE, LEAST_SLACK = 0.3, 0.02
#: That of patches far from others, as a share of the mean edge.
FAR_STRAYING_SHARE = 0.1
#: The most slack: near others as a share of the distance that is kept, else as a share of the mean edge.
NEAR_SLACK, FAR_SLACK = 4.0, 0.25
#: Slack over the deviation of a patch in the last epoch, and its least value as a share of the body's mean.
SLACK_FACTOR, MEAN_SHARE = 2.0, 1.0
#: Exponent of the growth of deviations with time.
STRAYING_POWER = 1.6


@lean_kernel
def plan(boxes, bodies, run, age):
    """Length of the next epoch and the slack of each patch, from the deviations in the last `age` steps.

    There are two classes: patches near others, whose slack widens the search, and all others.
    """
    start = boxes.patches.body_start
    span = float(LONGEST_EPOCH)
    for b in range(bodies.kind.shape[0]):
        if bodies.kind[b] != GIVEN:
            for near in range(2):
                strayed = mean_deviation(boxes, start[b], start[b + 1], near)
                wanted = STRAYING_SHARE * run.scale[b, 0] if near else FAR_STRAYING_SHARE * run.scale[b, 1]
                if strayed > 0.0:
                    span = min(span, age * (wanted / strayed) ** (1.0 / STRAYING_POWER))
    span = max(1.0, float(int(span)))
    factor = SLACK_FACTOR * (span / age) ** STRAYING_POWER
    for b in range(bodies.kind.shape[0]):
        if bodies.kind[b] != GIVEN:
            for near in range(2):
                strayed = mean_deviation(boxes, start[b], start[b + 1], near)
                for patch in range(start[b], start[b + 1]):
                    if boxes.near[patch] == near:
                        slack = factor * max(boxes.strayed[patch], MEAN_SHARE * strayed)
                        slack = max(slack, LEAST_SLACK * run.scale[b, 0])
                        boxes.slack[patch] = min(
                            slack, NEAR_SLACK * run.scale[b, 0] if near else FAR_SLACK * run.scale[b, 1]
                        )
    run.state[SPAN] = int(span)


@lean_kernel
def mean_deviation(boxes, first, last, near):
    """Root mean square deviation [m] over the patches that are near others, or over those that are not."""
    total, count = 0.0, 0
    for patch in range(first, last):
        if boxes.near[patch] == near:
            total += boxes.strayed[patch] ** 2
            count += 1
    return (total / max(count, 1)) ** 0.5


@lean_inline_kernel
def epoch(state, h):
    """Longest duration of the next epoch [s]."""
    return h * (state[SPAN] + 1)


@lean_kernel
def widen(boxes, bodies, run, attempt):
    """Slack for an epoch of one step, after a step that exceeded it."""
    for b in range(bodies.kind.shape[0]):
        if bodies.kind[b] != GIVEN:
            least = min(LEAST_SLACK * 4.0 ** min(attempt, 6), 1.0) * run.scale[b, 0]
            most = least if run.stopped[b] else max(NEAR_SLACK * run.scale[b, 0], FAR_SLACK * run.scale[b, 1])
            for patch in range(boxes.patches.body_start[b], boxes.patches.body_start[b + 1]):
                boxes.slack[patch] = min(max(1.5 * boxes.strayed[patch], least), most)
    run.state[SPAN] = 0
    run.state[AGE] = 0
