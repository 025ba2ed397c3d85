"""Energies of a body: one file per energy.

Forces of whole scenes are evaluated in `solvers/explicit/skins.py`.
"""
