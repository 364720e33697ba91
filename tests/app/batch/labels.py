"""A program, rows and a model for the tests of batches. The model is a fake and says so."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

from prosa.app.trust import accept_agreement
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest, Usage

LABEL = """---
name: label
description: Counts the letters of a text.
input:
  type: object
  properties: {text: {type: string}, stars: {type: integer}}
  required: [text]
output:
  type: object
  properties: {n: {type: integer}}
  required: [n]
---
{{ .text }}
"""


class Letters:
    """Answers with the number of letters of what it is asked, after ``turns`` of the event loop. A text that holds
    ``refused`` gets no valid answer, one that holds ``absent`` a failure of the service."""

    def __init__(self, turns: int = 1) -> None:
        self.asked: Counter[str] = Counter()
        self.turns, self.now, self.most = turns, 0, 0

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        text = request.messages[-1].content.strip()
        self.asked[text] += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            for _ in range(self.turns):
                await asyncio.sleep(0)
        finally:
            self.now -= 1
        if "absent" in text:
            raise ProviderError("nobody is there", kind="bad-request", retryable=False)
        said = "no number" if "refused" in text else json.dumps({"n": len(text)})
        return ModelReply(said, (), Usage(100, 10), model_name="fake-1")

    async def aclose(self) -> None:
        pass


def program(folder: Path) -> Path:
    """The program in a folder, with somebody's home beside it who accepted the agreement."""
    (folder / "label.md").write_text(LABEL)
    accept_agreement(home(folder), 0)
    return folder / "label.md"


def home(folder: Path) -> dict[str, str]:
    """The variables of that user."""
    (folder / "home").mkdir(exist_ok=True)
    return {"HOME": str(folder / "home")}


def texts(count: int) -> list[dict[str, Any]]:
    """Rows whose texts all differ in length."""
    return [{"text": "x" * (n + 1)} for n in range(count)]
