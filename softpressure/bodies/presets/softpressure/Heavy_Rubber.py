"""A block of solid rubber, 0.3 m wide: stiff and heavy."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "SOLID"
settings.mass = 30.0
settings.modulus = 1500000.0
settings.poisson_ratio = 0.47
settings.damping = 15.0
settings.friction = 1.0
settings.bounciness = 0.2
