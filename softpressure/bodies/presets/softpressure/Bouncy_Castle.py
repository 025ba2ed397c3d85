"""The floor of a bouncy castle, 4 m wide: coated cloth that is blown up."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.mass = 60.0
settings.gauge_pressure = 2500.0
settings.stretch_modulus = 100000.0
settings.bend_modulus = 0.1
settings.damping = 2.0
settings.friction = 0.6
settings.bounciness = 0.7
