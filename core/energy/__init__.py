"""Energies of a body: one file per energy.

Each has a kernel that evaluates it over the whole scene (energy summed per chunk, local derivatives stored), and a
per-vertex function that gathers its force.
"""
