"""The loop of a runner: a request a line on standard input, an answer a line on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


class Rejected(Exception):
    """A document is not accepted; ``line`` is where, or None."""

    def __init__(self, line: int | None = None) -> None:
        self.line = line


class Unsupported(Exception):
    """The implementation has no such thing."""


def answer(request: dict[str, Any], do: Callable[[str, str, dict[str, Any]], Any]) -> dict[str, Any]:
    """Return the answer to a request. ``do`` takes format, operation and input."""
    try:
        return {"id": request["id"], "result": do(request["format"], request["op"], request["input"])}
    except Rejected as found:
        return {"id": request["id"], "error": {"line": found.line}}
    except Unsupported:
        return {"id": request["id"], "error": "unsupported"}


def loop(do: Callable[[str, str, dict[str, Any]], Any]) -> None:
    """Answer every line of standard input."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), do), ensure_ascii=False), flush=True)
