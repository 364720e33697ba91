"""The programs that are measured, written to a temporary folder."""

from __future__ import annotations

import json
from pathlib import Path

PROGRAM = """\
---
name: {name}
description: Says how many words a text has.
input:
  type: object
  properties:
    text: {{ type: string }}
  required: [text]
output:
  type: object
  properties:
    words: {{ type: integer }}
  required: [words]
  additionalProperties: false
---
Count the words of: {{{{ .text }}}}
"""

ANSWER = {"words": 2}


def write_program(folder: Path, name: str = "words") -> Path:
    """Return a program that asks once."""
    path = folder / f"{name}.md"
    path.write_text(PROGRAM.format(name=name), encoding="utf-8")
    return path


def write_replies(folder: Path, *, python: bool = False) -> Path:
    """Scripted replies: the answer, with ``python`` after one call of the sandbox."""
    lines = (
        [{"tool_calls": [{"name": "python", "arguments": {"code": "print(len('two words'.split()))"}}]}]
        if python
        else []
    )
    path = folder / ("python.jsonl" if python else "plain.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"content": ANSWER}]), encoding="utf-8")
    return path
