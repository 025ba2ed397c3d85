"""Benchmarks: what a step costs, and the same scenes in this and other engines (`run.py`)."""
