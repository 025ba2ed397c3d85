"""A beach ball of thin plastic: 0.15 kg at a width of 0.4 m."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.area_density = 0.3
settings.gauge_pressure = 1000.0
settings.stretch_modulus = 10000.0
settings.bend_modulus = 0.001
settings.damping = 3.0
settings.friction = 0.5
settings.bounciness = 0.6
