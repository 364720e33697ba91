"""X46: standard input is read only where `-` or a flag asks for it."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.commands import COMMANDS, HIDDEN
from prosa.cli.console import Console
from prosa.cli.main import main
from tests import warm
from tests.app.run.skills.worlds import skill
from tests.cli.programs import program, prosa, script, started, user

CHAT = "### @user:\n\nq\n"
RELATED = "---\nid: {0}\ntype: note\ntitle: {0}\n---\nSee [b](b.md).\n"


class Unread(io.TextIOBase):
    """The open end of a pipe into which nobody ever writes: to read it is to wait without end."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.reads = descriptor, 0

    def fileno(self) -> int:
        return self.descriptor

    def isatty(self) -> bool:
        return False

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> str:
        self.reads += 1
        raise AssertionError("standard input was read")

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        return self.read(size)

    @property
    def buffer(self) -> Unread:
        return self


@pytest.fixture
def pipe() -> Iterator[Unread]:
    """A pipe that stays open."""
    read, write = os.pipe()
    yield Unread(read)
    os.close(read)
    os.close(write)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document of each kind."""
    here = tmp_path / "here"
    here.mkdir()
    program(here)
    skill(here)
    for name in ("a", "b"):
        (here / f"{name}.md").write_text(RELATED.format(name))
    (here / "chat.md").write_text(CHAT)
    (here / "page.mda").write_text('---\ntitle: P\n---\nT.\n\n```ai-script\n{"script-id": "s", "prompt": "p"}\n```\n')
    (here / "rows.jsonl").write_text('{"text": "a"}\n')
    (here / "count.test.md").write_text(
        "---\ntests: ./count.md\n---\n\n## One\n\n```json input\n{}\n```\n\n```yaml expect\nwords: 2\n```\n"
    )
    monkeypatch.chdir(here)
    return here


ASKING: tuple[tuple[str, ...], ...] = (
    ("run", "count.md"),
    ("run", "count.md", "text=a"),
    ("run", "greeting"),
    ("run", "greeting", "Greet Ada"),
    ("run", "page.mda", "--all"),
    ("chat", "chat.md"),
    ("chat", "new.md"),
    ("chat", "chat.md", "--message", "More."),
    ("chat", "chat.md", "--dry-run"),
    ("test",),
    ("batch", "count.md", "--rows", "rows.jsonl"),
    ("batch", "count.md", "--rows", "rows.jsonl", "--yes"),
)
OTHERS: tuple[tuple[str, ...], ...] = (
    ("plan", "count.md"),
    ("plan", "greeting"),
    ("render", "count.md"),
    ("render", "greeting"),
    ("mail",),
    ("mail", "send", "count", "1"),
    ("worker", "--until-empty"),
    ("runs",),
    ("improve", "greeting"),
    ("check",),
    ("check", "--fix"),
    ("fmt", "--check"),
    ("show", "."),
    ("convert", "count.md", "--to", "dotprompt"),
    ("explain", "magi"),
    ("index",),
    ("search", "words"),
    ("links", "a.md"),
    ("path", "a.md", "b.md"),
    ("impact", "b.md"),
    ("graph",),
    ("rename", "b.md", "c.md", "--dry-run"),
    ("stats",),
    ("query", "SELECT 1"),
    ("enrich", ".", "--dry-run"),
    ("build", ".", "../out"),
    ("visit", "http://127.0.0.1:9/"),
    ("login",),
    ("login", "https://127.0.0.1:9/", "--yes"),
    ("logout", "https://127.0.0.1:9/"),
    ("call", "a.md", "none", "--site-root", "https://example.org", "--dry-run"),
    ("probe", "."),
    ("init",),
    ("new", "program"),
    ("trust", "--list"),
    ("models",),
    ("agents",),
    ("report",),
    ("doctor",),
    ("completion", "bash"),
    ("complete", "--", "prosa", ""),
    ("serve", "nowhere"),
    ("view", "--store", "nowhere"),
    ("demo", "--no-such-flag"),
)
READING = {"lsp", "mcp", "agree"}
"""X46: those that read standard input whatever their arguments are."""


@pytest.mark.parametrize("argv", (*ASKING, *OTHERS), ids=" ".join)
def test_x46_no_command_reads_what_it_was_not_asked_to_read(argv: tuple[str, ...], folder: Path, pipe: Unread):
    model = ("--model", script(folder.parent, *[{"content": {"words": 2}}] * 4)) if argv in ASKING else ()
    console = Console(pipe, io.StringIO(), io.StringIO(), user(folder.parent), interactive=False)
    status = main([*argv, *model], console)
    said = console.stderr.getvalue()  # type: ignore[attr-defined]
    assert status in (0, 1, 2), said
    assert pipe.reads == 0 and "standard input was read" not in said


def test_x46_every_command_stands_in_the_table():
    assert {each.name for each in (*COMMANDS, *HIDDEN)} <= {argv[0] for argv in (*ASKING, *OTHERS)} | READING


@pytest.mark.parametrize("argv", [("agree",), ("chat", "chat.md", "-"), ("run", "greeting", "-"), ("check", "-")])
def test_x46_what_is_asked_to_read_does(argv: tuple[str, ...], folder: Path, pipe: Unread):
    environ = user(folder.parent, MARKDOWNLANG_AGREE="")
    main([*argv], Console(pipe, io.StringIO(), io.StringIO(), environ, interactive=False))
    assert pipe.reads == 1


# ---- chats in loops, scripts and jobs ----


def piped(command: str, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """A line of a shell in which `prosa` is this one."""
    path = os.pathsep.join((str(warm.scripts(folder.parent / "bin")), os.environ["PATH"]))
    environ = {"PATH": path, "PYTHONPATH": os.environ["PYTHONPATH"], **user(folder.parent)}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environ, text=True, capture_output=True, **options)


def test_x46_chats_in_a_loop_are_each_answered(folder: Path):
    """The names that the loop reads are not what is said in the first chat."""
    model = script(folder.parent, {"content": "Yes."})
    for number in (1, 2, 3):
        (folder / f"c{number}.md").write_text(CHAT)
    done = piped(f"ls c*.md | while read f; do prosa chat $f --model {model} -q; done", folder)
    assert done.returncode == 0, done.stderr
    for number in (1, 2, 3):
        text = (folder / f"c{number}.md").read_text()
        assert "c2.md" not in text and text.count("Yes.") == 1


def test_x46_the_rest_of_a_script_is_no_message(folder: Path):
    model = script(folder.parent, {"content": "Yes."})
    done = piped("bash", folder, input=f"prosa chat chat.md --model {model}\necho SURVIVED\n")
    assert done.stdout == "Yes.\nSURVIVED\n", done.stderr
    assert "SURVIVED" not in (folder / "chat.md").read_text()


def test_x46_an_open_pipe_holds_up_no_chat(folder: Path):
    """As under cron or in CI: somebody holds the other end and never writes."""
    child = started(
        *("chat", "chat.md", "--model", script(folder.parent, {"content": "Yes."})),
        environ=user(folder.parent),
        cwd=folder,
        stdin=subprocess.PIPE,
    )
    try:
        assert child.wait(60) == 0
        assert child.stdout is not None and child.stdout.read() == b"Yes.\n"
    finally:
        child.kill()
        for stream in (child.stdin, child.stdout, child.stderr):
            assert stream is not None
            stream.close()


def test_x46_a_dash_adds_what_is_said(folder: Path):
    status, at = prosa("chat", "chat.md", "-", "--dry-run", environ=user(folder.parent), typed="More, and\n% n = 3\n")
    assert (status, at.out) == (0, "-- user\nq\n\n-- user\nMore, and\n% n = 3\n")
