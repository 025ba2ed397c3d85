"""A block of solid rubber: stiff and heavy, 30 kg at a width of 0.3 m."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "SOLID"
settings.area_density = 61.7
settings.modulus = 1500000.0
settings.poisson_ratio = 0.47
settings.damping = 15.0
settings.friction = 1.0
settings.bounciness = 0.2
