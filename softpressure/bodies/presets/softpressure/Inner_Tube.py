"""The inner tube of a truck tire: thick rubber, 2.5 kg at a width of 1 m."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.area_density = 1.26
settings.gauge_pressure = 4000.0
settings.stretch_modulus = 20000.0
settings.bend_modulus = 0.05
settings.damping = 2.0
settings.friction = 0.9
settings.bounciness = 0.7
