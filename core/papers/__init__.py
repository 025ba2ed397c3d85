"""The solvers of the papers: forces, an integrator, impulses at contacts (see core/README.md)."""
