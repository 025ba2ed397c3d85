"""A balloon filled with water: heavy and slack, 1.5 kg at a width of 0.15 m."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.area_density = 20.9
settings.gauge_pressure = 1200.0
settings.stretch_modulus = 3200.0
settings.bend_modulus = 0.0001
settings.damping = 4.0
settings.friction = 0.5
settings.bounciness = 0.2
