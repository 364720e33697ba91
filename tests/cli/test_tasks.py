"""Twenty tasks that a program does with nothing but `prosa help --format json`: each is a sequence of command lines of
which every word that begins with a dash is in that help, and every answer is JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.programs import ANSWER, program, prosa, script, user


class Task(NamedTuple):
    """What is to be done, how, and whether the answers are right. ``statuses`` are 0 where nothing else is said."""

    goal: str
    lines: tuple[str, ...]
    is_right: Callable[[list[Any]], bool]
    statuses: tuple[int, ...] = ()


def after(at: int, key: str) -> str:
    """A word that is taken from an earlier answer."""
    return f"{{{at}.{key}}}"


TASKS = (
    Task(
        "find where refunds are explained, in few words",
        ("search refund --fields path,line,snippet --limit 1",),
        lambda got: got[0]["hits"][0]["path"] == "refunds.md" and "next" in got[0],
    ),
    Task(
        "read the second page of the same answer",
        ("search refund --fields path --limit 1", f"search refund --fields path --after {after(0, 'next')}"),
        lambda got: {"path": "prices.md"} in got[1]["hits"] and {"path": "refunds.md"} not in got[1]["hits"],
    ),
    Task(
        "list the documents that depend on a document",
        ("links refunds.md --impact",),
        lambda got: [each["path"] for each in got[0]["reached"]] == ["prices.md"],
    ),
    Task(
        "find the links that lead nowhere, and where they stand",
        ("check . --select unresolved-link --fields path,line",),
        lambda got: got[0]["diagnostics"] == [{"path": "prices.md", "line": 6}],
        (1,),
    ),
    Task(
        "learn what a rule means",
        ("check . --select unresolved-link --fields code", f"explain {after(0, 'diagnostics.0.code')}"),
        lambda got: "unresolved-link" in got[1]["page"],
        (1,),
    ),
    Task(
        "rename a document without breaking a link: first see, then do",
        (
            "rename refunds.md money-back.md --dry-run",
            "rename refunds.md money-back.md",
            "links money-back.md --fields source",
        ),
        lambda got: not got[0]["written"] and got[1]["written"] and got[2]["back"] == [{"source": "prices.md"}],
    ),
    Task(
        "mend a misspelt command with the fix of its error",
        ("serch refund", "{0.fix}"),
        lambda got: got[0]["error"] == "wrong-use" and got[1]["hits"] != [],
        (2, 0),
    ),
    Task(
        "learn which commands cost nothing, and take one that shows what a run would send",
        ("help", "render count.md text=hello"),
        lambda got: _of(got[0], "render")["costs"] is False and "hello" in got[1][-1]["content"],
    ),
    Task(
        "estimate a run before it is made",
        ("plan count.md text=hello",),
        lambda got: isinstance(got[0], dict) and got[0] != {},
    ),
    Task(
        "run a program with a scripted reply",
        ("run count.md text=hello --model {model}",),
        lambda got: got[0] == ANSWER["content"],
    ),
    Task(
        "find the last run and see its calls",
        (
            "run count.md text=hello --model {model} --store runs.sqlite",
            "runs --store runs.sqlite --fields id,program",
            f"runs {after(1, 'runs.0.id')} --store runs.sqlite --fields path",
        ),
        lambda got: got[1]["runs"][0]["program"] == "count" and len(got[2]["calls"]) == 1,
    ),
    Task(
        "write a new program and see that it is sound",
        ("new program triage", f"check {after(0, 'files.0')}"),
        lambda got: got[0]["next"] == "prosa run triage.md --help" and got[1]["diagnostics"] == [],
    ),
    Task(
        "ask the index for the longest document",
        ("query 'SELECT path, words FROM documents ORDER BY words DESC' --limit 1",),
        lambda got: got[0]["rows"][0]["path"] == "refunds.md" and got[0]["more"],
    ),
    Task(
        "find documents that no other points at",
        ("graph --report orphans --fields path",),
        lambda got: {"path": "alone.md"} in got[0]["orphans"],
    ),
    Task(
        "see the inputs that a program takes",
        ("show count.md",),
        lambda got: "text" in got[0]["input"]["properties"],
    ),
    Task(
        "make a skill of a program, in a folder of its own",
        ("convert count.md --to skill -o out/ --dry-run", "convert count.md --to skill -o out/"),
        lambda got: not got[0]["written"] and got[1]["written"] and got[1]["files"] != [],
    ),
    Task(
        "bring the documents to their normal form, and see that nothing is left to do",
        ("fmt .", "fmt . --check"),
        lambda got: got[1]["changed"] == [],
    ),
    Task(
        "prepare a project for checks, and only with what is absent",
        ("init --only settings --dry-run", "init --only settings", "init --only settings"),
        lambda got: got[1]["written"] and got[2]["files"] == [] and got[2]["left"] != [],
    ),
    Task(
        "write a first test of a program, and see what it does not expect yet",
        ("new test count --program count.md", "test count.test.md --model {model} --dry-run"),
        lambda got: got[0]["files"] == ["count.test.md"] and got[1]["total"]["cases"] == 1,
        (0, 1),
    ),
    Task(
        "find out which agents and which models are known here",
        ("agents --fields name,version", "models --fields name,state --max-tokens 200"),
        lambda got: got[0][0]["name"] == "claude" and set(got[1]["services"][0]) == {"name", "state"},
    ),
)


def _of(index: Any, name: str) -> Any:
    return next(each for each in index["commands"] if each["name"] == name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A few documents and a program."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "refunds.md").write_text(
        "# Refunds\n\nA refund takes five days. " + "Every refund is counted. " * 30 + "\n"
    )
    (work / "prices.md").write_text(
        "# Prices\n\nA ticket has a price.\n\nSee [how a refund works](refunds.md).\n[Old](old.md).\n"
    )
    (work / "alone.md").write_text("# Alone\n\nNo document points here.\n")
    program(work)
    monkeypatch.chdir(work)
    return tmp_path


@cache
def flags_of(command: str) -> frozenset[str]:
    found = _asked(f"help {command}", Path(), {})[1]
    return frozenset(flag for each in found["options"] for flag in each["flags"])


def _asked(line: str, folder: Path, environ: dict[str, str]) -> tuple[int, Any]:
    words = shlex.split(line)
    words = words if "--format" in words else [*words, "--format", "json"]
    status, at = prosa(*words, environ=environ)
    text = at.out or at.err.splitlines()[-1]
    return status, json.loads(text)


def _filled(line: str, got: list[Any], model: str) -> str:
    """Put the model, and what earlier answers say, into a line."""
    line = line.replace("{model}", model)
    while "{" in line:
        head, _, rest = line.partition("{")
        place, _, tail = rest.partition("}")
        at, *keys = place.split(".")
        value = got[int(at)]
        for key in keys:
            value = value[int(key)] if key.isdigit() else value[key]
        line = f"{head}{str(value).removeprefix('prosa ')}{tail}"
    return line


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.goal)
def test_a_task_is_done_with_the_help_alone(task: Task, folder: Path):
    environ = user(folder)
    model = script(folder)
    known = {each["name"] for each in _asked("help", folder, environ)[1]["commands"]} | {"help"}
    got: list[Any] = []
    for at, line in enumerate(task.lines):
        line = _filled(line, got, model)
        status, answer = _asked(line, folder, environ)
        words = shlex.split(line)
        expected = task.statuses[at] if at < len(task.statuses) else 0
        assert status == expected, (line, answer)
        if status != 2:
            assert words[0] in known
            given = {word.partition("=")[0] for word in words if word.startswith("-")}
            assert words[0] == "help" or given <= flags_of(words[0])
        got.append(answer)
    assert task.is_right(got), got


def test_there_are_twenty():
    assert len(TASKS) == len({each.goal for each in TASKS}) == 20
