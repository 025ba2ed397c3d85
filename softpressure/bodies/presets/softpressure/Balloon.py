"""A party balloon of rubber: 20 g at a width of 0.3 m, those of the rubber and of the air that it moves."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.area_density = 0.08
settings.gauge_pressure = 3000.0
settings.stretch_modulus = 9000.0
settings.bend_modulus = 0.0001
settings.damping = 1.0
settings.friction = 0.6
settings.bounciness = 0.8
