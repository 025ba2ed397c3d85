"""The distance that contacts keep, as shares of the thickness r of both sides.

* Explicit steps, XPBD and the papers' integrators: r, edges `EDGE_SHARE` of it. A spring or a constraint acts from
  there inwards.
* Rigid bodies: `RESTING_SHARE`. Contact points must be known on both sides of it: beyond it, so that what is lifted a
  little has a contact still; within it, so that a load can press it in.
* Implicit steps have no constant. The barrier starts at r and has no bound at 0 (`barrier.py`); its stiffness follows
  from the pressure (`solvers/implicit/newton.py`), so that a patch rests at a quarter to a third of r.
"""

#: Edges touch at this share of the distance at which a vertex touches a triangle: vertices come first.
EDGE_SHARE = 0.8
#: Gap at which the surfaces of rigid bodies rest.
RESTING_SHARE = 0.5
#: Gap at which a point that comes from the wrong side of a surface is let go. A nearly full thickness makes the way
#: back slow and the last contact light.
RECOVERY_SHARE = 0.75
#: Gap that a rigid body's point keeps on its way back: a little more than what lets it go.
RECOVERED_SHARE = 0.8
