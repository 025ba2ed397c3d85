"""The solvers of the papers: forces, an integrator, impulses at contacts (see README.md beside this file)."""
