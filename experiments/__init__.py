"""The experiments of the papers, repeated with the solvers of `core/`; `run.py` is the command."""
