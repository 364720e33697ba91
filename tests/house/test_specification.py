"""One program, run from the outside: the specification decides, whatever its first implementation did."""

from __future__ import annotations

from pathlib import Path

import pytest

import prosa
from prosa.testing import ScriptedProvider

PROGRAM = """\
---
name: notes
description: Keeps what matters.
input: { type: object, properties: { text: { type: string } } }
output: { type: object, properties: { kept: { type: integer } } }
---
Keep what matters of {{ .text }}.
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MARKDOWNLANG_AGREE", "Trans rights are human rights")
    path = tmp_path / "notes.md"
    path.write_text(PROGRAM)
    return path


def test_la31_the_specification_decides_where_the_first_implementation_did_otherwise(program: Path):
    """LA31. Invalid output is refused, `{}` accepted where the schema does, and the model told the description."""
    provider = ScriptedProvider([{"content": {"kept": "some"}}, {"content": {}}])
    result = prosa.run(program, {"text": "a letter"}, provider=provider)
    assert result.output == {}
    assert len(provider.requests) == 2
    first, second = (request.messages[0] for request in provider.requests)
    assert first.role == second.role == "system"
    assert "Keeps what matters." in first.content
    assert "kept" in second.content and first.content != second.content
