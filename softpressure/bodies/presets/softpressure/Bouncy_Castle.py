"""The floor of a bouncy castle: coated cloth that is blown up, 60 kg at a width of 4 m."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.area_density = 1.53
settings.gauge_pressure = 2500.0
settings.stretch_modulus = 100000.0
settings.bend_modulus = 0.1
settings.damping = 2.0
settings.friction = 0.6
settings.bounciness = 0.7
