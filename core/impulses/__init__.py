"""Impulses from outside between runs of substeps: force fields and goals. No solver knows of them."""
