"""A jelly from a mould, 0.2 m wide: it wobbles."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "SOLID"
settings.mass = 3.0
settings.modulus = 20000.0
settings.poisson_ratio = 0.48
settings.damping = 1.0
settings.friction = 0.4
settings.bounciness = 0.1
