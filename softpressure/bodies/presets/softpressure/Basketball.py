"""A basketball: hard, and lively. 0.62 kg at a width of 0.24 m."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.area_density = 3.44
settings.gauge_pressure = 55000.0
settings.stretch_modulus = 200000.0
settings.bend_modulus = 0.1
settings.damping = 0.5
settings.friction = 0.8
settings.bounciness = 0.85
