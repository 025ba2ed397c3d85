"""A jelly from a mold: it wobbles. 3 kg at a width of 0.2 m."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "SOLID"
settings.area_density = 27.4
settings.modulus = 20000.0
settings.poisson_ratio = 0.48
settings.damping = 1.0
settings.friction = 0.4
settings.bounciness = 0.1
