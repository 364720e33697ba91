"""Suites that others publish, run from an unpacked copy."""
