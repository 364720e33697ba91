"""L47, LA33. `prosa mail` and `prosa worker`: what they print, and what they refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.programs import prosa, started, user
from tests.runtime.worlds import text_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with a mailbox, one without, and replies."""
    (tmp_path / "number.md").write_text(text_of(more="mailbox: true\n"), encoding="utf-8")
    (tmp_path / "mute.md").write_text(text_of("mute"), encoding="utf-8")
    lines = [json.dumps({"content": {"n": n}}) for n in range(3)]
    (tmp_path / "replies.jsonl").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mail(folder: Path, *words: str, typed: str = "") -> tuple[int, Any]:
    return prosa("mail", *words, environ=user(folder), typed=typed)


def listed(folder: Path, *words: str) -> list[dict[str, Any]]:
    status, at = mail(folder, *words, "--format", "jsonl")
    assert status == 0
    return [json.loads(line) for line in at.out.splitlines()]


def test_l47_messages_are_sent_listed_and_found(folder):
    for each in ('{"text": "rent"}', '{"urgent": true}', "3"):
        status, at = mail(folder, "send", "number", each)
        assert status == 0 and len(at.out.strip()) == 16
    assert [each["payload"] for each in listed(folder, "number")] == [{"text": "rent"}, {"urgent": True}, 3]
    assert [each["payload"] for each in listed(folder, "number", "--text", "RENT")] == [{"text": "rent"}]
    assert [each["payload"] for each in listed(folder, "number", "--where", "payload.urgent")] == [{"urgent": True}]
    assert len(listed(folder, "--from", "user", "--since", "1h")) == 3
    assert listed(folder, "--from", "nobody") == [] == listed(folder, "--dead")
    assert listed(folder)[0]["new"] == 3
    _, at = mail(folder)
    assert at.out.splitlines()[2].split()[:2] == ["number", "3"]


def test_l47_a_mailbox_may_be_called_send(folder):
    assert mail(folder, "send", "./send", "1")[0] == 0
    assert [each["payload"] for each in listed(folder, "./send")] == [1]
    assert [each["mailbox"] for each in listed(folder)] == ["send"]


def test_l47_a_payload_comes_from_a_file_or_from_standard_input(folder):
    (folder / "p.json").write_text('{"a": 1}')
    assert mail(folder, "send", "number", "@p.json")[0] == 0
    assert mail(folder, "send", "number", "-", typed="[2]")[0] == 0
    assert [each["payload"] for each in listed(folder, "number")] == [{"a": 1}, [2]]


def test_l47_what_a_message_says_cannot_drive_a_terminal(folder):
    mail(folder, "send", "number", json.dumps({"x": "\x1b[2J\u202e\x9b"}))
    for words in ((), ("--format", "json"), ("--format", "jsonl")):
        _, at = mail(folder, "number", *words)
        assert not {"\x1b", "\u202e", "\x9b"} & set(at.out) and "\\u202e" in at.out


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("send",), 2, "which mailbox, and what?"),
        (("send", "number"), 2, "which mailbox, and what?"),
        (("send", "number", "1", "2"), 2, "one mailbox and one payload"),
        (("send", "number", "{oops"), 2, "the payload is not valid JSON: line 1, column 2"),
        (("send", "a b", "1"), 1, "'a b' is not a name of a mailbox"),
        (("send", "number", "@no.json"), 2, "no.json"),
        (("send", "number", "1", "--watch"), 2, "--watch selects existing messages"),
        (("a", "b"), 2, "one mailbox is read at a time"),
        (("../x",), 1, "is not a name of a mailbox"),
        (("number", "--where", "a =="), 2, "--where: column"),
        (("number", "--since", "soon"), 2, "--since soon: that is not a moment"),
        (("--watch",), 2, "which mailbox?"),
        (("--retry", "0123"), 1, "there is no message '0123'"),
        (("--retry", "x", "number"), 2, "--retry takes one message"),
        (("--store", "."), 2, "is a folder"),
    ],
)
def test_la33_wrong_use_is_said(folder, words, status, message):
    found, at = mail(folder, *words)
    assert (found, message in at.err) == (status, True), at.err


def test_la33_a_worker_prints_a_line_for_each_message(folder):
    for n in range(2):
        mail(folder, "send", "number", json.dumps({"text": str(n)}))
    mail(folder, "send", "number", '{"text": 7}')
    words = ("worker", "--mail", "number.md", "--until-empty", "-m", "scripted:replies.jsonl")
    status, at = prosa(*words, environ=user(folder))
    assert status == 0
    lines = [json.loads(line) for line in at.out.splitlines()]
    assert [each["output"] for each in lines] == [{"n": 0}, {"n": 1}]
    assert [*lines[0]] == ["id", "sender", "output", "cost", "calls", "seconds"]
    assert "is a dead letter now: the input of number is not valid: /text" in at.err
    assert "number: 2 handled, 1 failed attempts, 1 dead letters" in at.err
    (dead,) = listed(folder, "--dead")
    status, at = mail(folder, "--retry", dead["id"][:10])
    assert status == 0 and "waits again in number" in at.err
    assert listed(folder, "--dead") == []
    assert [each["payload"] for each in listed(folder, "user", "--from", "number")] == [{"n": 0}, {"n": 1}]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--mail", "number.md", "--batch", "x"), 2, "--batch is about rows, and --mail about messages"),
        (("--mail", "no.md"), 2, "no.md"),
        (("--mail", "mute.md"), 1, "mute.md has no mailbox"),
        (("--mail", "number.md", "--concurrency", "0"), 2, "--concurrency"),
    ],
)
def test_la33_a_worker_says_why_it_does_not_begin(folder, words, status, message):
    words = ("worker", *words, "--until-empty", "-m", "scripted:replies.jsonl")
    found, at = prosa(*words, environ=user(folder))
    assert (found, message in at.err) == (status, True), at.err


def test_x29_a_worker_ends_well_when_it_is_told_to_stop(folder):
    environ = user(folder)
    mail(folder, "send", "number", '{"text": "x"}')
    words = ("worker", "--mail", "number.md", "-m", "scripted:replies.jsonl")
    worker = started(*words, environ=environ, cwd=folder)
    assert json.loads(worker.stdout.readline())["output"] == {"n": 0}
    os.kill(worker.pid, signal.SIGTERM)
    _, said = worker.communicate(timeout=120)
    assert (worker.returncode, b"number: 1 handled" in said) == (0, True), said


def test_l47_a_watch_prints_what_comes(folder):
    environ = user(folder)
    mail(folder, "send", "number", "0")
    watch = started("mail", "number", "--watch", "--format", "jsonl", environ=environ, cwd=folder)
    first = b""
    for n in range(1, 200):  # whatever was sent before it looked is not shown
        mail(folder, "send", "number", str(n))
        if _has_output(watch):
            first = watch.stdout.readline()
            break
    assert json.loads(first)["payload"] >= 1
    os.kill(watch.pid, signal.SIGINT)
    watch.communicate(timeout=120)


def _has_output(process: subprocess.Popen[bytes]) -> bool:
    import select

    return bool(select.select([process.stdout], [], [], 0.5)[0])
