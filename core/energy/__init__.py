"""Energies of a body and of its contacts.

One file per energy. Each has a kernel that evaluates it over the whole scene (energy summed per chunk, local
derivatives stored), and two per-vertex functions that gather its force and its Hessian product for the loops in
`core/solvers` and `core/linear`.
"""
