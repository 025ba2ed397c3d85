"""Substeps of a given length whose contacts are answered by sequential impulses: XPBD and the papers' integrators."""
