"""Chats, ai-scripts and Python record and play as programs do (X27, X30)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.testing import Recorder, ScriptedProvider
from tests.app.chat.turns import User
from tests.app.run.recordings.runs import asks, command, only, program, says, script
from tests.app.scripts.documents import block, document, lines_of
from tests.cli.programs import user

CHAT = '% tools = ["python"]\n\n### @user:\n\nHow many?\n'


@pytest.fixture
def chatting(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.mark.parametrize("flags", [(), ("--no-progress",)])
def test_x27_a_chat_plays_with_its_tools(chatting: User, flags: tuple[str, ...]) -> None:
    call = {"tool_calls": [{"name": "python", "arguments": {"code": "print(6 * 7)"}, "id": "a"}]}
    model = chatting.script(call, "There are 42.")
    chatting.write(CHAT)
    done = chatting.chat("--tool", "python", "--model", model, "--record", chatting.folder / "tapes", *flags)
    assert done.status == 0, done.err
    first = chatting.text
    assert "There are 42." in first and "### @_tools:" in first
    chatting.write(CHAT)
    again = chatting.chat("--tool", "python", "--replay", chatting.folder / "tapes", *flags)
    assert again.status == 0, again.err
    assert chatting.text == first and again.out == done.out


def test_x27_several_replies_are_recordings_of_their_own(chatting: User) -> None:
    chatting.write("### @user:\n\nSay something.\n")
    model = chatting.script("One.", "Two.", "Three.")
    assert chatting.chat("-n", "3", "--model", model, "--record", chatting.folder / "tapes").status == 0
    first = chatting.text
    assert len(list((chatting.folder / "tapes").iterdir())) == 3
    chatting.write("### @user:\n\nSay something.\n")
    assert chatting.chat("-n", "3", "--replay", chatting.folder / "tapes").status == 0
    assert chatting.text == first


def test_x27_a_chat_that_was_changed_is_compared_with_its_recording(chatting: User) -> None:
    chatting.write("### @user:\n\nSay something.\n")
    assert chatting.chat("--model", chatting.script("One."), "--record", chatting.folder / "tapes").status == 0
    chatting.write("### @user:\n\nSay anything.\n")
    done = chatting.chat("--replay", chatting.folder / "tapes")
    assert done.status == 1 and "/messages/0/content" in done.err and '"Say anything."' in done.err


def test_x25_a_confidential_chat_is_not_recorded(chatting: User) -> None:
    chatting.write("---\nclassification: confidential\n---\n### @user:\n\nSay something.\n")
    tapes = chatting.folder / "tapes"
    done = chatting.chat("--model", chatting.script("One."), "--record", tapes)
    assert done.status == 1 and "is confidential or secret" in done.err
    assert chatting.chat("--model", chatting.script("One."), "--record", tapes, "--force").status == 0


def test_x27_scripts_play_each_from_its_own_recording(tmp_path: Path) -> None:
    path = document(tmp_path, "# Report\n", block("one", "Say one."), block("two", "Say two."))
    replies = ({"program": "one", "content": "1"}, {"program": "two", "content": "2"})
    tapes = tmp_path / "tapes"
    more = ("--all", "--format", "jsonl")
    status, first = command(path, *more, "--record", tapes, "--model", script(tmp_path, *replies))
    assert status == 0, first.err
    assert sorted(each.name.split("-")[0] for each in tapes.iterdir()) == ["one", "two"]
    assert all('"to": "report"' in each.read_text() for each in tapes.iterdir()), "they point at the document"
    status, again = command(path, *more, "--replay", tapes)
    assert status == 0, again.err
    assert [each["result"] for each in lines_of(again)] == [each["result"] for each in lines_of(first)] == ["1", "2"]
    path.write_text(path.read_text().replace("Say two.", "Say 2."))
    status, changed = command(path, *more, "--replay", tapes)
    assert status == 1 and "/messages/" in changed.out + changed.err


def test_x25_a_confidential_document_is_not_recorded(tmp_path: Path) -> None:
    path = document(tmp_path, "---\nclassification: secret\n---\n# Report\n", block("one", "Say one."))
    reply = script(tmp_path, {"content": "1"})
    status, at = command(path, "--all", "--record", tmp_path / "tapes", "--model", reply)
    assert status == 1 and "is confidential or secret" in at.out + at.err
    status, at = command(path, "--all", "--record", tmp_path / "tapes", "--model", reply, "--force")
    assert status == 0, at.err


# Python.


def test_x27_python_records_and_plays_programs_chats_and_scripts(tmp_path: Path) -> None:
    path, environ, tapes = program(tmp_path), user(tmp_path), tmp_path / "tapes"
    model = ScriptedProvider([says(4), {"content": "Hello."}, {"content": "Summed up."}])
    texts: dict[str, Any] = {"environ": environ, "record": str(tapes), "provider": model}
    ran = prosa.run(path, {"text": "a"}, **texts)
    said = prosa.chat("### @user:\n\nHi.\n", **texts)
    (summed,) = prosa.run_scripts("# Notes", [{"id": "sum", "prompt": "Sum up."}], **texts)
    assert model.remaining == 0
    plays: dict[str, Any] = {"environ": environ, "replay": prosa.Replay(tapes, strict=True)}
    assert prosa.run(path, {"text": "a"}, **plays).output == ran.output == {"n": 4}
    assert prosa.chat("### @user:\n\nHi.\n", **plays).reply == said.reply == "Hello."
    (again,) = prosa.run_scripts("# Notes", [{"id": "sum", "prompt": "Sum up."}], **plays)
    assert again.output == summed.output == "Summed up."


def test_x27_words_that_mean_nothing_are_refused_in_python(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="match='almost': it is one of 'exact', 'messages', 'path'"):
        prosa.Replay(tmp_path, "almost")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="give record= too"):
        prosa.run(program(tmp_path), {}, replay=prosa.Replay(tmp_path, new="live"), environ=user(tmp_path))
    with pytest.raises(ValueError, match="does not say when to record"):
        Recorder(tmp_path, when="sometimes")  # type: ignore[arg-type]


def test_x27_a_recorder_asks_once_and_never_in_ci(tmp_path: Path) -> None:
    path, environ = program(tmp_path), user(tmp_path)
    model = ScriptedProvider([says(1), says(2)])
    tapes = Recorder(tmp_path / "tapes", environ={})
    for _ in range(2):
        assert tapes.run(path, {"text": "a"}, provider=model, environ=environ).output == {"n": 1}
    new = Recorder(tmp_path / "tapes", environ={"PROSA_RECORD": "new"})
    assert new.run(path, {"text": "a"}, provider=model, environ=environ).output == {"n": 2}
    in_ci = Recorder(tmp_path / "tapes", environ={"CI": "1"})
    assert asyncio.run(in_ci.arun(path, {"text": "a"}, environ=environ)).output == {"n": 2}
    with pytest.raises(prosa.CassetteProblem, match="has no recording of `say` with this input") as caught:
        in_ci.run(path, {"text": "b"}, environ=environ)
    assert "PROSA_RECORD=once" in caught.value.hint
    assert [in_ci.when, Recorder(tmp_path, environ={"CI": "false"}).when] == ["never", "once"]


def test_x27_a_recorder_fails_a_test_whose_run_has_changed(tmp_path: Path) -> None:
    path, environ = program(tmp_path), user(tmp_path)
    tapes = Recorder(tmp_path / "tapes", when="once")
    tapes.run(path, {"text": "a"}, provider=ScriptedProvider([says(1)]), environ=environ)
    path.write_text(path.read_text().replace("Say a", "Tell a"))
    with pytest.raises(prosa.ReplayDrift) as caught:
        tapes.run(path, {"text": "a"}, environ=environ)
    assert caught.value.hint.endswith("in a test: PROSA_RECORD=new")


def test_x27_a_recorder_chats_and_runs_scripts(tmp_path: Path) -> None:
    environ, tapes = user(tmp_path), Recorder(tmp_path / "tapes", when="once")
    model = ScriptedProvider([{"content": "Hello."}, {"content": "Summed up."}])
    for _ in range(2):
        assert tapes.chat("### @user:\n\nHi.\n", provider=model, environ=environ).reply == "Hello."
        (summed,) = tapes.run_scripts("# N", [{"id": "sum", "prompt": "Sum."}], provider=model, environ=environ)
        assert summed.output == "Summed up."


def test_x27_a_replay_leaves_no_run_in_the_history(tmp_path: Path) -> None:
    path, tapes, data = program(tmp_path), tmp_path / "tapes", str(tmp_path / "data")
    reply = script(tmp_path, says(1))
    status, at = command(path, "text=a", "--record", tapes, "--model", reply, PROSA_DATA_DIR=data)
    assert status == 0, at.err
    before = sorted(each.name for each in Path(data).rglob("*"))
    other = str(tmp_path / "other")
    status, at = command(path, "text=a", "--replay", tapes, PROSA_DATA_DIR=other)
    assert status == 0 and not Path(other).exists(), at.err
    assert before == sorted(each.name for each in Path(data).rglob("*"))


# What the corpus makes of recordings.


def test_x23_a_recording_is_on_no_site(tmp_path: Path) -> None:
    """What users asked is nobody else's business."""
    from tests.cli.programs import prosa as cli

    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "readme.md").write_text("# Welcome\n")
    path = program(folder)
    assert command(path, "text=parsnips", "--record", folder / "tapes", "--model", script(folder, says(1)))[0] == 0
    status, at = cli("build", folder, tmp_path / "out", environ=user(tmp_path))
    assert status == 0, at.err
    built = [each.read_text("utf-8", "replace") for each in (tmp_path / "out").rglob("*") if each.is_file()]
    assert built and not any("parsnips" in each for each in built)


def test_x27_a_check_verifies_what_stands_beside_a_recording(tmp_path: Path) -> None:
    """B4."""
    from tests.cli.programs import prosa as cli

    path, tapes = program(tmp_path), tmp_path / "tapes"
    (tmp_path / "prosa.toml").touch()
    assert command(path, "text=" + "z" * 70_000, "--record", tapes, "--model", script(tmp_path, says(1)))[0] == 0
    environ = user(tmp_path)
    assert cli("check", "--strict", tmp_path, environ=environ)[0] == 0
    (beside,) = tapes.glob("*.txt")
    beside.write_text("something else")
    status, at = cli("check", tmp_path, environ=environ)
    assert status == 1 and "attachment-hash-mismatch" in at.out


def test_x27_recordings_are_found_shown_and_linked(tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    (tmp_path / "prosa.toml").touch()
    replies = [asks(("python", {"code": "print('rutabaga')"})), says(7)]
    status, at = command(path, "text=parsnips", "--record", tapes, "--model", script(tmp_path, *replies))
    assert status == 0, at.err
    from tests.cli.programs import prosa as cli

    environ = user(tmp_path)
    status, found = cli("search", "parsnips", tmp_path, environ=environ)
    assert status == 0 and only(tapes).name in found.out
    status, graph = cli("graph", tmp_path, "--format", "json", environ=environ)
    edges = json.loads(graph.out)["edges"]
    assert [(each["rel"], each["target"], each["resolved"]) for each in edges] == [("ran", "say", True)]
    status, clean = cli("check", "--strict", tmp_path, environ=environ)
    assert status == 0, clean.out
    status, shown = cli("show", only(tapes), environ=environ)
    assert status == 0
    assert "  calls          1 gpt-4o, 10 → 2 tokens, line 53: asks for python\n" in shown.out, shown.out
    assert "                 1.0 python, line " in shown.out and "rutabaga" in shown.out
    assert "2 gpt-4o-2024, 20 → 3 tokens, line " in shown.out and '{"n":7}' in shown.out
