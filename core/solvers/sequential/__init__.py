"""Solvers with substeps of a given length and contacts by sequential impulses: XPBD and the papers' integrators."""
