"""Rules: one table, one file per rule under its dialect, one page each, and the engine that runs them.

Nothing is imported here: `table` is cheap, and `engine` loads parsers.
"""
