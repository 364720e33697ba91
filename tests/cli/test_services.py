"""What surrounds a run, with each service in turn: recordings, runs that broke off, budgets, chats, ai-scripts (X7)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.programs import configured, nested, prosa, summary_in, user
from tests.cli.services import MODEL, Service

CALL = {"name": "inner", "arguments": {"text": "deep"}, "id": "c1"}


def test_x27_what_was_recorded_with_a_service_is_played_without_it(service: Service, count: Path, tmp_path: Path):
    service.server.script({"content": {"words": 2}})
    tapes = tmp_path / "tapes"
    assert service.asked(count, "--record", tapes)[0] == 0
    status, at = prosa("run", count, "--replay", tapes, environ=user(tmp_path))
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    assert len(service.server.requests) == 1
    (recording,) = (each for each in tapes.rglob("*") if each.is_file())
    assert "sk-" not in recording.read_text("utf-8")


def test_x25_a_run_that_broke_off_goes_on_at_the_same_service(service: Service, tmp_path: Path):
    """The calls that were answered are not asked again, and the rest goes where the first went."""
    path, _ = nested(tmp_path)
    service.server.script({"tool_calls": [CALL]}, {"content": {"words": 1}}, {"status": 400, "message": "not now"})
    status, at = service.asked(path, "--retries", 0)
    assert status == 1
    found = re.search(r"prosa run --resume (\w+)", at.err)
    assert found is not None
    service.server.script({"content": {"words": 2}})
    environ = user(tmp_path, **service.environ)
    status, at = prosa("run", "--resume", found[1], environ=environ)
    assert (status, json.loads(at.out)) == (0, {"words": 2}), at.err
    assert len({each.path.partition("?")[0] for each in service.server.requests}) == 1
    assert len(service.sent) == 4
    assert service.sent[3]["messages"] == service.sent[2]["messages"]


def test_x26_a_budget_counts_what_a_service_charges(service: Service, count: Path, tmp_path: Path):
    place = configured(tmp_path, f'[prices."{MODEL}"]\ninput = 1000\noutput = 2000\n')
    service.server.default = {"content": {"words": 2}}
    status, at = service.asked(count, "--summary", "--max-cost", "20", PROSA_CONFIG_DIR=place)
    assert status == 0, at.err
    assert summary_in(at.err)["tokens"]["cost"] == pytest.approx(0.3)
    status, at = service.asked(count, "--max-cost", "1", PROSA_CONFIG_DIR=place)
    assert status == 1 and "--max-cost" in at.err
    assert len(service.server.requests) == 1


def test_p2_a_chat_is_answered_and_streamed(service: Service, tmp_path: Path):
    path = tmp_path / "chat.md"
    path.write_text("### @system:\n\nBe short.\n\n### @user:\n\nHello.\n", "utf-8")
    service.server.script("Hi there.")
    status, at = service.ran("chat", path)
    assert status == 0, at.err
    assert "### @assistant:\n\nHi there.\n" in path.read_text("utf-8")
    assert service.sent == [
        {
            "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello."}],
            "stream": service.sent[0].get("stream", False),
        }
    ]


def test_ma10_an_ai_script_is_answered_with_its_parameters(service: Service, tmp_path: Path):
    path = tmp_path / "report.mda"
    block = {"script-id": "one", "prompt": "Sum up.", "parameters": {"max-tokens": 77, "stop": ["END"]}}
    path.write_text(f"---\ntitle: Report\n---\n\nText.\n\n```ai-script\n{json.dumps(block)}\n```\n", "utf-8")
    service.server.script("A sum.")
    status, at = service.ran("run", path, "--all")
    assert (status, at.out) == (0, "A sum.\n"), at.err
    assert "77" in service.server.requests[0].text
    assert "END" in service.server.requests[0].text or service.name == "responses"


def test_x7_x8_the_key_of_a_service_goes_there_alone_and_is_in_nothing_that_is_said(service: Service, count: Path):
    service.server.key = "sk-other"
    service.server.default = {"content": {"words": 2}}
    keys = {"OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-anthropic", "GEMINI_API_KEY": "sk-google"}
    status, at = service.asked(count, "--summary", "--debug", "--retries", 0, **keys)
    assert status == 1
    own = {"chat": "openai", "responses": "openai"}.get(service.name, service.name)
    sent = str([(each.headers, each.text, each.path) for each in service.server.requests])
    assert f"sk-{own}" in sent
    assert not [key for key in keys.values() if key in f"{at.out}{at.err}" or (key in sent and key != f"sk-{own}")]
