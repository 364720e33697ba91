"""Doors agree about what runs: command line, Python and a site give the same outputs, summaries and errors (X30)."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.records.summary import Summary
from tests.app.scripts.documents import block
from tests.cli.programs import BROKEN, COUNT, script, summary_in, user
from tests.cli.programs import prosa as command
from tests.web.run.site import Reply, site

TIMES = ("duration", "start_time", "end_time", "total_duration", "average_duration")

Replies = tuple[Mapping[str, Any], ...]


def timeless(value: Any) -> Any:
    """A summary as data, without what a clock says."""
    if isinstance(value, Summary):
        value = value.as_dict()
    if isinstance(value, dict):
        return {name: timeless(each) for name, each in value.items() if name not in TIMES}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def told(err: str) -> str:
    """The error on standard error, without what a person may do about it."""
    found = re.search(r"^error: (.*)$", err, re.M)
    return found[1] if found else ""


def in_a_command(error: prosa.RunError) -> str:
    """What the command says of an error: of a document with errors it prints diagnostics, and then what came of it."""
    return error.outcome if isinstance(error, prosa.ProgramRefused) else error.message


@dataclass(frozen=True)
class Answer:
    """What a door said: the output or the error, and the summary where the door has it."""

    output: Any = None
    error: str = ""
    summary: Any = None


# ---- programs ----

INNER = COUNT.format(name="inner", more="")
OUTER = COUNT.format(name="count", more="imports: [./inner.md]\n")
PLAIN = COUNT.format(name="count", more="")
CALLS = ({"name": "inner", "arguments": {"text": "a"}, "id": "one"}, {"name": "inner", "arguments": {}, "id": "two"})
USED = {"usage": {"input_tokens": 150, "output_tokens": 75}, "model": "gpt-4o-mini-2024-07-18"}

PROGRAMS: dict[str, tuple[str, Any, Replies]] = {
    "success": (PLAIN, {"text": "two words"}, ({"content": {"words": 2}, **USED},)),
    "mended": (PLAIN, {}, ({"content": {"words": -1}}, {"content": "nothing"}, {"content": {"words": 2}, **USED})),
    "refused": (PLAIN, {}, ({"content": {"words": -1}},) * 10),
    "declined": (PLAIN, {}, ({"refusal": "I will not."},)),
    "cut": (PLAIN, {}, ({"content": '{"words": 2', "finish": "length"},) * 10),
    "input": (PLAIN, {"times": 99}, ()),
    "no reply": (PLAIN, {}, ()),
    "service": (PLAIN, {}, ({"error": {"message": "no such model", "kind": "bad-request", "status": 404}},)),
    "unknown tool": (PLAIN, {}, ({"tool_calls": [{"name": "x", "arguments": {}}]}, {"content": {"words": 1}})),
    "import": (
        OUTER,
        {},
        (
            {"program": "count", "tool_calls": list(CALLS)},
            {"program": "inner", "content": {"words": 1}, **USED},
            {"program": "inner", "content": {"words": 1}, **USED},
            {"program": "count", "content": {"words": 2}},
        ),
    ),
    "broken": (BROKEN, {}, ()),
}  # fmt: skip


def programs_at(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "inner.md").write_text(INNER)
    (folder / "count.md").write_text(text)
    return folder / "count.md"


def by_command(path: Path, given: Any, replies: Replies, beside: Path) -> Answer:
    argv = ("run", path, "--input", json.dumps(given), "--model", played(beside, replies), "--retries", 0, "--summary")
    status, at = command(*argv, environ=user(beside))
    assert status == int(bool(told(at.err)))
    return Answer(json.loads(at.out) if at.out else None, told(at.err), timeless(summary_in(at.err)))


def by_python(path: Path, given: Any, replies: Replies, beside: Path) -> Answer:
    try:
        result = prosa.run(path, given, model=played(beside, replies), retries=0, environ=user(beside))
    except prosa.RunError as error:
        return Answer(error=in_a_command(error))
    return Answer(result.output, "", timeless(result.summary))


def by_site(path: Path, given: Any, replies: Replies) -> Answer:
    async def work() -> Reply:
        with site(path.parent, *(replies or ({"program": "nobody", "content": ""},))) as at:
            return await at.run(given, "/mdh/run/count")

    reply = asyncio.run(work())
    return Answer(reply.json) if reply.status == 200 else Answer(error=reply.json["detail"])


def played(folder: Path, replies: Replies) -> str:
    return script(folder, *(replies or ({"program": "nobody", "content": ""},)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_x30_a_program_gives_the_same_at_every_door(name: str, tmp_path: Path):
    """X30. Outputs and errors at all three; the summary, but for times, where a door has one."""
    text, given, replies = PROGRAMS[name]
    path = programs_at(tmp_path / "site", text)
    shown, called = by_command(path, given, replies, tmp_path), by_python(path, given, replies, tmp_path)
    asked = by_site(path, given, replies)
    assert (shown.output, shown.error) == (called.output, called.error)
    if name != "broken":  # where a file lies is for those who have it
        assert shown.error.replace(f"{path.parent}/", "") == asked.error
    assert shown.output == asked.output
    assert (shown.output is None) == bool(shown.error)
    if called.summary is not None:
        assert shown.summary == called.summary
    else:
        assert shown.summary["success"] is False and (name == "broken" or shown.summary["error"] == called.error)


def test_x30_a_file_that_is_not_there_is_refused_in_the_same_words(tmp_path: Path):
    path = tmp_path / "gone.md"
    with pytest.raises(prosa.FileProblem) as missing:
        prosa.run(path, environ=user(tmp_path))
    assert told(command("run", path, environ=user(tmp_path))[1].err) == str(missing.value)


# ---- ai-scripts ----

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
DOCUMENT = "\n".join((
    "# A report\n",
    block("plain", "Sum it up."),
    block("data", "Count.", **{"output-format": "json", "output-schema": SCHEMA}),
    block("odd", "Count.", **{"model-name": "odd-model"}),
    '```ai-script\n{"script-id": "broken", "prompt": 3}\n```\n',
    block("later", "Elsewhere.", **{"runtime-env": "browser"}),
    block("ask", "Say it.", **{"interactive-type": "inputbox"}),
))  # fmt: skip
SPOKEN: Replies = (
    {"program": "plain", "content": "Short.", **USED},
    {"program": "data", "content": {"n": 3}},
    {"program": "odd", "error": {"message": "no such model", "kind": "bad-request", "status": 404}},
    {"program": "ask", "content": "Said."},
)


def scripts_at(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "page.mda").write_text(DOCUMENT)
    return folder / "page.mda"


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (("--all",), {}),
        (("--script", "plain", "data"), {"ids": ["plain", "data"]}),
        (("--script", "odd"), {"ids": "odd"}),
        (("--all", "--input", "my words"), {"text": "my words"}),
        (("--all", "--write"), {"write": True}),
        (("--all", "--stale"), {"stale": True}),
        (("--all", "--context", "none"), {"context": "none"}),
    ],
    ids=str,
)
def test_x30_scripts_give_the_same_at_every_door(flags: tuple[str, ...], options: dict[str, Any], tmp_path: Path):
    """X30. Results, errors, the document, what was passed over, and the summary of each script."""
    one, two = scripts_at(tmp_path / "one"), scripts_at(tmp_path / "two")
    environ, model = user(tmp_path), script(tmp_path, *SPOKEN)
    common = ("--model", model, "--retries", 0, "--format", "jsonl", "--summary", "--jobs", 1)
    status, at = command("run", one, *flags, *common, environ=environ)
    results = prosa.run_scripts(two, model=model, retries=0, jobs=1, environ=environ, **options)
    lines = {each["script"]: each for each in map(json.loads, at.out.splitlines())}
    assert list(lines) == [each.script for each in results]
    for each in results:
        line = lines[each.script]
        assert (line["ok"], line.get("result"), line["form"]) == (each.ok, each.output, each.form)
        assert (line.get("error") or "").replace("/one/", "/two/") == (each.error.message if each.error else "")
        assert line.get("written") == each.written
    assert status == int(not all(each.ok for each in results))
    told = timeless(json.JSONDecoder().raw_decode(at.err[at.err.index('{\n  "program"') :])[0])["scripts"]
    mine = [{"script": each.script, **timeless(each.summary)} for each in results]
    assert [each | {"program": None} for each in json.loads(json.dumps(told).replace("/one/", "/two/"))] == [
        each | {"program": None} for each in mine
    ]
    assert bare(one) == bare(two)


def bare(path: Path) -> str:
    """A document without the times of its results."""
    return re.sub(r'"(generated-at|date|time|created)[^"]*": "[^"]*"', "", path.read_text())


@pytest.mark.parametrize("name", ["broken", "later", "ask", "brokn"])
def test_x30_a_script_that_was_named_and_does_not_run_is_told_in_the_same_words(name: str, tmp_path: Path):
    path, environ = scripts_at(tmp_path), user(tmp_path)
    status, at = command("run", path, "--script", name, "--model", script(tmp_path, *SPOKEN), environ=environ)
    with pytest.raises(prosa.RunError) as refused:
        prosa.run_scripts(path, ids=name, model=script(tmp_path, *SPOKEN), environ=environ)
    assert status in (1, 2) and told(at.err) == refused.value.message


def test_x30_a_script_of_a_site_gives_the_same(tmp_path: Path):
    """X30. An input field, at the three doors."""
    path = scripts_at(tmp_path / "site")
    environ, model = user(tmp_path), script(tmp_path, *SPOKEN)
    (result,) = prosa.run_scripts(path, ids="ask", text="my words", model=model, environ=environ)
    argv = ("run", path, "--script", "ask", "--input", "my words", "--model", model)
    assert command(*argv, environ=environ)[1].out == f"{result.output}\n"

    async def work() -> Reply:
        with site(path.parent, *SPOKEN) as at:
            return await at.press("ask", "my words", accept="application/json")

    assert asyncio.run(work()).json["output"] == result.output == "Said."


# ---- chats ----

ASK = '% model = "gpt-4o-mini"\n\n### @user:\n\nWhen is high water?\n'
CHATS: dict[str, tuple[str, str | None, dict[str, Any], Replies]] = {
    "success": (ASK, None, {}, ({"content": "At noon.", **USED},)),
    "message": (ASK, "And today?", {}, ({"content": "At one."},)),
    "begun": ("", "Hello?", {}, ({"content": "Hello."},)),
    "several": (ASK, None, {"n": 2}, ({"content": "At noon."}, {"content": "At one."})),
    "cut": (ASK, None, {}, ({"content": "At no", "finish": "length"},)),
    "cut and allowed": (ASK, None, {"allow_cut": True}, ({"content": "At no", "finish": "length"},)),
    "service": (ASK, None, {}, ({"error": {"message": "no such model", "kind": "bad-request", "status": 404}},)),
    "broken": ("% prapti.temperatur = 3\n% nonsense\n" + ASK, None, {}, ()),
    "empty": (ASK, None, {}, ({"content": ""},)),
    "tool": (ASK, None, {}, ({"tool_calls": [{"name": "x", "arguments": {}}]}, {"content": "No."})),
}
FLAGS = {"n": lambda value: ("-n", value), "allow_cut": lambda value: ("--allow-cut",)}


@pytest.mark.parametrize("name", CHATS)
def test_x30_a_turn_gives_the_same_at_every_door(name: str, tmp_path: Path):
    """X30. Replies, the file afterwards, the summary, the error."""
    text, message, options, replies = CHATS[name]
    for door in ("one", "two"):
        (tmp_path / door).mkdir()
        (tmp_path / door / "chat.md").write_text(text)
    one, two = tmp_path / "one" / "chat.md", tmp_path / "two" / "chat.md"
    environ = user(tmp_path)
    flags = [word for option, value in options.items() for word in FLAGS[option](value)]
    said = ("--message", message) if message else ()
    argv = ("chat", one, *said, *flags, "--model", played(tmp_path, replies), "--retries", 0, "--format", "json")
    status, at = command(*argv, "--summary", environ=environ)
    try:
        result = prosa.chat(
            two, message, model=played(tmp_path, replies), retries=0, write=True, environ=environ, **options
        )
    except prosa.RunError as error:
        assert status == 1
        assert json.loads(at.err.splitlines()[-1])["message"] == error.message.replace("/two/", "/one/")
        assert at.out == ""
    else:
        assert status == 0
        shown = json.loads(at.out)["replies"]
        assert [each["text"] for each in shown] == [each.text for each in result.replies]
        assert [each["number"] for each in shown] == [each.number for each in result.replies]
        summary = timeless(summary_in(at.err))
        mine = [timeless(each.summary) for each in result.replies]
        assert (
            summary == mine[0]
            if len(mine) == 1
            else [{name: each[name] for name in mine[0] if name != "program"} for each in summary["replies"]]
            == [{name: each[name] for name in each if name != "program"} for each in mine]
        )
        assert result.text == two.read_text()
    assert one.read_text() == two.read_text()


def test_x30_where_nothing_is_to_be_answered_python_says_so(tmp_path: Path):
    """X30. The command begins a chat for a person and says what is next; a program is told that nothing was asked."""
    path = tmp_path / "chat.md"
    status, at = command("chat", path, "--model", script(tmp_path), environ=user(tmp_path))
    assert status == 0 and "a new chat" in at.err and path.exists()
    with pytest.raises(prosa.RunError, match=r"write below a|nothing|empty|message"):
        prosa.chat(path, model=script(tmp_path), environ=user(tmp_path))
    shutil.rmtree(tmp_path / "home")
