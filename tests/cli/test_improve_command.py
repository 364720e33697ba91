"""`prosa improve` on the command line (X41)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.main import main
from tests.app.improve.worlds import PROPOSES, greets, tides
from tests.cli.desk import Desk, desk
from tests.cli.programs import user
from tests.model_server.behaviour import Behaviour
from tests.model_server.connection import Request
from tests.model_server.fixture import model_server
from tests.model_server.server import ModelServer

__all__ = ["model_server"]

BETTER = "Say when the tide is high. Begin with AHOY."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_server: ModelServer) -> Path:
    monkeypatch.chdir(tmp_path)

    def answer(request: Request) -> Behaviour:
        body: Any = request.body
        text = "\n".join(str(each["content"]) for each in body["messages"])
        content = {"reason": "a word", "text": BETTER} if PROPOSES in text else greets(text)
        return Behaviour(content=content, usage={"input_tokens": 10, "output_tokens": 5})

    model_server.answer = answer
    return tides()


def called(*words: str, server: ModelServer) -> tuple[int, Desk]:
    it = desk(environ=user(Path.cwd(), OPENAI_BASE_URL=server.base_url))
    return main(["improve", "skills/tide-times", "--yes", "--retries", "0", *words], it.console), it


def test_x41_what_is_accepted_is_written_when_asked(folder: Path, model_server: ModelServer):
    before = (folder / "SKILL.md").read_text()
    status, it = called("--diff", "-o", "better.md", "--write", "--report", "r.html", server=model_server)
    assert status == 0, it.err
    assert "accepted: candidate 1" in it.out and "+Say when the tide is high. Begin with AHOY." in it.out
    assert "look 1 needs p ≤ 0.05" in it.out
    assert (folder / "SKILL.md").read_text() == Path("better.md").read_text() != before
    assert "Text of candidate 1" in Path("r.html").read_text()


def test_x41_nothing_is_written_unasked(folder: Path, model_server: ModelServer):
    before = (folder / "SKILL.md").read_text()
    status, it = called("--format", "json", "--write", "--dry-run", server=model_server)
    told = json.loads(it.out)
    assert status == 0 and told["accepted"] and (told["p"], told["look"]) == (0.03125, 1)
    keys = ("id", "parent", "train", "held_out")
    assert [tuple(each[key] for key in keys) for each in told["candidates"]] == [(0, None, 0, 0), (1, 0, 1, 1)]
    assert (folder / "SKILL.md").read_text() == before != told["proposal"]
    again, it = called(server=model_server)
    assert again == 1 and "looked at once and accept nothing further" in it.err


@pytest.mark.parametrize(
    "words",
    [
        ("-o", "skills/tide-times/SKILL.md"),
        ("-o", "gone/out.md"),
        ("-o", "."),
        ("--report", "x.pdf"),
        ("--seed", "-1"),
    ],
)
def test_x41_wrong_use_is_said_before_any_call(words: tuple[str, ...], folder: Path, model_server: ModelServer):
    status, it = called(*words, server=model_server)
    assert status in (1, 2) and it.err.startswith("error: "), it.err
    assert not model_server.requests
