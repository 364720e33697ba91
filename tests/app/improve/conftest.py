"""Fixtures of searches."""

from tests.app.evals.conftest import here

__all__ = ["here"]
