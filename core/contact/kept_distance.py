"""Gaps that contacts keep, as fractions of the thickness r of both sides.

* Explicit steps, XPBD and the papers' integrators: r, edges `EDGE_SHARE` of it. A spring or a constraint acts below.
* Rigid bodies: `RESTING_SHARE`. Contact points are kept beyond it, so that a body lifted a little still has contacts,
  and within it, so that a load can press it in.
"""

#: Gap of two edges [r]: less than that of a vertex and a triangle, so that vertices carry the load first.
EDGE_SHARE = 0.8
#: Gap at which the surfaces of rigid bodies rest [r]: the middle of the range in which contact points are kept.
RESTING_SHARE = 0.5
#: Gap at which a point from the wrong side of a surface is released [r]: nearly r, so that the last contact force is
#: small.
RECOVERY_SHARE = 0.75
#: Target gap of a rigid body's point on the wrong side [r]: somewhat above `RECOVERY_SHARE`, so that it is reached.
RECOVERED_SHARE = 0.8
#: Gap that two features of one body keep, at most [their distance at rest]: what lies near itself as drawn, as the seam
#: of a cushion, does not press.
REST_SHARE = 0.5
