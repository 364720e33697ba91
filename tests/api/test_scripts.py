"""`prosa.run_scripts`: the ai-scripts of a document, or beside it, from Python (M41)."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.dialects.magi.parts import model_of
from prosa.runtime.events import RunFinished
from prosa.source import FileProblem
from prosa.testing import ScriptedProvider
from tests.app.scripts.documents import block, document, trusting

LETTER = "# A letter\n\nTwo orders are waiting.\n"
WHO: list[dict[str, Any]] = [
    {"id": "who", "prompt": "Who waits?"},
    {"id": "count", "prompt": "How many?", "output-schema": {"type": "integer"}},
]
REPLIES = ({"program": "who", "content": "Orders."}, {"program": "count", "content": 2})


@pytest.fixture
def me(tmp_path: Path) -> dict[str, str]:
    """Somebody without a key."""
    return {"HOME": str(tmp_path / "home"), "PROSA_CONFIG_DIR": str(tmp_path / "home" / "config")}


def replies(*given: Any) -> ScriptedProvider:
    return ScriptedProvider(given or REPLIES)


class Asked(ScriptedProvider):
    """Remembers what it was asked."""

    def __init__(self, replies: Any) -> None:
        super().__init__(replies)
        self.requests: list[Any] = []

    async def complete(self, request: Any, on_text: Any = None) -> Any:
        self.requests.append(request)
        return await super().complete(request, on_text)


def test_m41_scripts_come_beside_a_text(me: dict[str, str]):
    provider = Asked(REPLIES)
    who, count = prosa.run_scripts(LETTER, WHO, provider=provider, environ=me)
    assert (who.script, who.output, who.ok, who.written) == ("who", "Orders.", True, None)
    assert (count.output, count.error, count.summary.iterations) == (2, None, 1)
    assert isinstance(who, prosa.ScriptResult)
    sent = [message.content for message in provider.requests[0].messages]
    assert any("Two orders are waiting." in text and "Who waits?" in text for text in sent)


@pytest.mark.parametrize("shape", ["list", "envelope", "one", "path", "name"])
def test_m41_instructions_in_every_shape(shape: str, me: dict[str, str], tmp_path: Path):
    file = tmp_path / "scripts.json"
    file.write_text(json.dumps({"ai-scripts": WHO[:1]}))
    given: Any = {"list": WHO[:1], "envelope": {"ai-scripts": WHO[:1]}, "one": WHO[0], "path": file, "name": str(file)}
    letter = tmp_path / "letter.md"
    letter.write_text(LETTER)
    (who,) = prosa.run_scripts(letter, given[shape], provider=replies(), environ=me)
    assert (who.script, who.output) == ("who", "Orders.")


def test_m41_blocks_of_a_document_run_by_priority(me: dict[str, str], tmp_path: Path):
    path = document(tmp_path, LETTER, block("a"), block("b", priority="high"), block("c", **{"runtime-env": "edge"}))
    heard: list[Any] = []
    given = replies({"program": "a", "content": "1"}, {"program": "b", "content": "2"})
    results = prosa.run_scripts(path, provider=given, environ=me, listener=heard.append)
    assert [(each.script, each.output) for each in results] == [("b", "2"), ("a", "1")]
    assert sum(isinstance(each, RunFinished) for each in heard) == 2
    assert [
        each.script
        for each in prosa.run_scripts(path, ids="c", env="edge", provider=replies({"content": ""}), environ=me)
    ] == ["c"]


def test_a_failure_is_a_result_and_ends_no_other(me: dict[str, str], caplog: pytest.LogCaptureFixture):
    text = "\n".join([block("bad").replace('"prompt"', '"prompts"'), block("good"), block("odd", parameters={"n": 2})])
    text += "\n" + block("ask", **{"interactive-type": "inputbox"})
    with caplog.at_level(logging.WARNING, "prosa"):
        bad, good, odd = prosa.run_scripts(text, provider=replies({"content": "Fine."}), environ=me)
    assert (good.output, good.ok) == ("Fine.", True)
    assert bad.output is None and bad.error is not None and "`prompt` is missing" in bad.error.message
    assert odd.error is not None and odd.error.hint and not odd.summary.success
    assert "ask is not run: waits for a text" in caplog.text


def test_m37_texts_for_all_or_by_id(me: dict[str, str]):
    text = block("ask", **{"interactive-type": "inputbox"})
    for given in ("Why?", {"ask": "Why?"}):
        provider = Asked(({"content": "So."},))
        (ask,) = prosa.run_scripts(text, text=given, provider=provider, environ=me)
        assert ask.output == "So." and "Why?" in provider.requests[0].messages[-1].content


def test_x19_results_go_into_the_document(me: dict[str, str], tmp_path: Path):
    path = document(tmp_path, LETTER, block("a"), block("b"))
    first = prosa.run_scripts(path, write=True, provider=replies({"content": "1"}, {"content": "2"}), environ=me)
    assert [each.written for each in first] == [True, True] and len(model_of(path.read_text()).regions) == 2
    assert prosa.run_scripts(path, stale=True, provider=replies(), environ=me) == ()
    path.write_text(path.read_text().replace("Two", "Three"))
    again = prosa.run_scripts(path, stale=True, ids=["b"], provider=replies({"content": "3"}), environ=me)
    assert [(each.script, each.output, each.written) for each in again] == [("b", "3", True)]


def test_x19_a_stale_result_keeps_its_context(me: dict[str, str], tmp_path: Path):
    path = document(tmp_path, LETTER, block("a"))
    prosa.run_scripts(path, write=True, context="section", provider=replies({"content": "1"}), environ=me)
    path.write_text(path.read_text().replace("Two", "Three"))
    prosa.run_scripts(path, stale=True, provider=replies({"content": "2"}), environ=me)
    assert [each.about.context for each in model_of(path.read_text()).regions] == ["section"]


def test_x19_a_result_that_cannot_be_written_is_not_lost(me: dict[str, str], tmp_path: Path):
    path = document(tmp_path, LETTER, block("a"))

    def vanish(event: Any) -> None:
        path.unlink(missing_ok=True)

    (a,) = prosa.run_scripts(path, write=True, provider=replies({"content": "1"}), environ=me, listener=vanish)
    assert (a.output, a.written, a.ok) == ("1", False, False)
    assert a.error is not None and "no such file" in a.error.message


def test_x7_auto_needs_trust(tmp_path: Path):
    path = document(tmp_path, block("auto", **{"auto-run": True}), block("other"))
    me = {"PROSA_CONFIG_DIR": str(tmp_path / "home" / "config"), "HOME": str(tmp_path / "home")}
    with pytest.raises(prosa.RunError, match="is not trusted") as refused:
        prosa.run_scripts(path, auto=True, provider=replies(), environ=me)
    assert f"prosa trust {path}" in refused.value.hint
    with pytest.raises(prosa.RunError, match="is not trusted"):
        prosa.run_scripts(path.read_text(), auto=True, provider=replies(), environ=me)
    assert trusting(path)[0] == 0
    assert [
        each.script for each in prosa.run_scripts(path, auto=True, provider=replies({"content": "1"}), environ=me)
    ] == ["auto"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"ids": ["wo"]}, prosa.RunError, "has no script 'wo'"),
        ({"ids": "who", "auto": True}, ValueError, "choose differently"),
        ({"write": True}, ValueError, "this is a text"),
        ({"tools": ["shell"]}, ValueError, "there is no tool 'shell'"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], error: type[Exception], words: str, me: dict[str, str]):
    with pytest.raises(error, match=words):
        prosa.run_scripts(LETTER, WHO, provider=replies(), environ=me, **options)


def test_results_beside_a_document_have_no_place_in_it(me: dict[str, str], tmp_path: Path):
    path = document(tmp_path, LETTER)
    with pytest.raises(ValueError, match="come beside it"):
        prosa.run_scripts(path, WHO, write=True, provider=replies(), environ=me)
    with pytest.raises(FileProblem):
        prosa.run_scripts(tmp_path / "gone.mda", provider=replies(), environ=me)
    with pytest.raises(prosa.RunError, match="holds no script"):
        prosa.run_scripts(path, [], provider=replies(), environ=me)


def test_m28_a_provider_by_name_needs_its_key(me: dict[str, str]):
    (who,) = prosa.run_scripts(LETTER, WHO[:1], provider="anthropic", model="m", environ=me)
    assert who.error is not None and "ANTHROPIC_API_KEY is not set" in who.error.message
    (who,) = prosa.run_scripts(LETTER, [{**WHO[0], "provider": "nobody"}], provider=replies(), environ=me)
    assert who.output == "Orders."


def test_a_running_event_loop_awaits(me: dict[str, str]):
    async def inside() -> tuple[prosa.ScriptResult, ...]:
        with pytest.raises(RuntimeError, match="await prosa"):
            prosa.run_scripts(LETTER, WHO, environ=me)
        return await prosa.arun_scripts(LETTER, WHO, provider=replies(), environ=me)

    assert [each.ok for each in asyncio.run(inside())] == [True, True]
