"""A balloon filled with water, 0.15 m wide: heavy and slack. Its mass is that of the water."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.mass = 1.5
settings.gauge_pressure = 1200.0
settings.stretch_modulus = 3200.0
settings.bend_modulus = 0.0001
settings.damping = 4.0
settings.friction = 0.5
settings.bounciness = 0.2
