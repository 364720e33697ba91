"""Suites of other projects, run where they are unpacked: `make suites SUITES=DIR`."""
