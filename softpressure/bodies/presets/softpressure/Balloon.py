"""A party balloon of rubber, 0.3 m wide. Its mass is that of the rubber and the air that it moves."""

import bpy

settings = bpy.context.object.softpressure

settings.body_type = "MEMBRANE"
settings.pressure_at = "REST"
settings.drawn_shape = "INFLATED"
settings.mass = 0.02
settings.gauge_pressure = 3000.0
settings.stretch_modulus = 9000.0
settings.bend_modulus = 0.0001
settings.damping = 1.0
settings.friction = 0.6
settings.bounciness = 0.8
