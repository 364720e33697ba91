"""The model server of these tests."""

from __future__ import annotations

from tests.model_server.fixture import model_server

__all__ = ["model_server"]
