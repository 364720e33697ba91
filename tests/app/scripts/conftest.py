"""Fixtures of the tests of ai-scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.scripts.documents import block, document
from tests.model_server.fixture import model_server

__all__ = ["model_server"]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A document with one script of each kind, in an order other than that in which they run."""
    return document(
        tmp_path,
        "# Report\n\nSome apples.\n\n## Figures\n\nTen apples.\n",
        block("sum", "Sum up.", **{"auto-run": True, "priority": "low"}),
        "Between.\n",
        block("data", "Count.", **{"priority": "high", "output-schema": NUMBER, "retry-times": 1}),
        block("later", "Wait.", **{"runtime-env": "browser"}),
        block("ask", "Answer.", **{"interactive-type": "inputbox", "interactive-label": "Go"}),
    )


NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
