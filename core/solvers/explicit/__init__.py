"""Explicit steps at the limit of stability, with contact that is searched for once in several steps."""
