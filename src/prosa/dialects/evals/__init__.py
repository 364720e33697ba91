"""Tests as documents: test documents (`document`), and the suites beside skills (`suite`)."""
