"""A stuffed cushion: it gives way and stays where it falls. 0.6 kg at a width of 0.5 m."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.area_density = 0.94
settings.gauge_pressure = 300.0
settings.stretch_modulus = 5000.0
settings.bend_modulus = 0.01
settings.damping = 10.0
settings.friction = 0.8
settings.bounciness = 0.1
