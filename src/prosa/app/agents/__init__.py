"""Coding agents as engines: which are here, one attempt of one, what is recorded of it (X36)."""
