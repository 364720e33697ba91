"""One voice of all commands: wrong use in two lines, the nearest file, `--dry-run`, `--diff`, short flags, `-q`
(interface.md, X5)."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.files.near import nearest_file
from prosa.cli.commands import COMMANDS, Command
from prosa.cli.main import main
from prosa.cli.parser import Parser
from tests.cli.desk import Desk, desk
from tests.cli.programs import COUNT, user

SHORT = {"--model": "-m", "--output": "-o", "--quiet": "-q", "--watch": "-w"}
LOOSE = "# A\n\nA [link](b.md).  \n\n\n\nText.\n"


def parser_of(command: Command) -> Parser:
    parser = Parser(console=desk().console, prog=f"prosa {command.name}", description="")
    import_module(command.module).configure(parser)
    return parser


def flags_of(command: Command) -> list[argparse.Action]:
    return [action for action in parser_of(command)._actions if action.option_strings]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (root / "a.md").write_text(LOOSE)
    (root / "b.md").write_text("# B\n")
    (root / "sentiment.md").write_text(COUNT.format(name="sentiment", more=""))
    (root / "deep" / "harbour.md").write_text("# Harbour\n")
    monkeypatch.chdir(root)
    return root


def said(tmp_path: Path, *argv: str, terminal: bool = False) -> tuple[int, Desk]:
    at = desk(environ=user(tmp_path), terminal=terminal)
    return main(argv, at.console), at


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_a_flag_without_its_last_letter_is_two_lines_that_name_it(command: Command):
    parser = parser_of(command)
    for action in flags_of(command):
        for flag in action.option_strings:
            wrong = flag[:-1]
            if len(flag) < 7 or parser.has_flag(wrong):
                continue
            at = desk()
            assert main([command.name, wrong], at.console) == 2
            first, second = at.err.splitlines()
            assert first == f"error: unknown flag {wrong}"
            assert second.startswith("  did you mean --")


@given(st.sampled_from(COMMANDS), st.from_regex(r"--?[a-z][a-z-]{0,9}(=[a-z ]{0,5})?", fullmatch=True))
def test_whatever_is_no_flag_is_wrong_use_in_two_lines(command: Command, word: str):
    parser = parser_of(command)
    if any(parser.has_flag(each) for each in (word.partition("=")[0], word[:2])) or word[:2] in ("-h", "-q"):
        return
    if word.partition("=")[0] in ("--help", "--quiet", "--debug"):
        return
    at = desk()
    assert main([command.name, word], at.console) == 2
    assert at.out == ""
    first, second = at.err.splitlines()
    assert first == f"error: unknown flag {word.partition('=')[0]}" and second.startswith("  ")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_short_flags_stand_wherever_they_apply(command: Command):
    for action in flags_of(command):
        for long, short in SHORT.items():
            if long in action.option_strings:
                assert short in action.option_strings
            assert short not in action.option_strings or long in action.option_strings
    at = desk()
    assert main([command.name, "--help"], at.console) == 0
    assert "-q, --quiet" in at.out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_work_at_the_same_time_is_called_jobs_or_concurrency(command: Command):
    words = [flag for action in flags_of(command) for flag in action.option_strings]
    assert not {"--workers", "--parallel", "--threads", "--processes", "--max-runs", "--max-concurrency"} & {*words}


def test_what_stands_as_a_flag_and_is_an_input_is_shown_as_one(folder: Path, tmp_path: Path):
    for argv in (("--text", "I love it"), ("--text=I love it",)):
        for command in ("run", "plan", "render"):
            status, at = said(tmp_path, command, "sentiment.md", *argv)
            assert (status, at.err) == (2, "error: unknown flag --text\n  inputs are KEY=VALUE: 'text=I love it'\n")
    assert said(tmp_path, "run", "sentiment.md", "--modle", "m")[1].err.endswith("  did you mean --model?\n")


@pytest.mark.parametrize(
    ("argv", "near"),
    [
        (("run", "sentiment", "text=x"), "sentiment.md"),
        (("run", "sentimant.md"), "sentiment.md"),
        (("plan", "SENTIMENT"), "sentiment.md"),
        (("render", "deep/harbor.md"), "deep/harbour.md"),
        (("check", "sentimnt.md"), "sentiment.md"),
        (("fmt", "depe/harbour.md"), "deep/harbour.md"),
        (("show", "sentiment"), "sentiment.md"),
        (("trust", "sentiment"), "sentiment.md"),
        (("run", "sentiment.md", "--input", "@sentimnt.md"), None),
        (("graph", "sentimnt.md"), "sentiment.md"),
        (("stats", "depe"), "deep"),
        (("serve", "depe"), "deep"),
        (("build", "depe", "../out"), "deep"),
        (("chat", "sentimnt.md", "--export", "openai"), "sentiment.md"),
        (("call", "sentimnt.md", "x"), "sentiment.md"),
        (("check", "nothing-like-it.md"), None),
    ],
)
def test_a_missing_file_gets_the_nearest_name(argv: tuple[str, ...], near: str | None, folder: Path, tmp_path: Path):
    status, at = said(tmp_path, *argv)
    if near is None:
        assert status != 0 and "did you mean nothing" not in at.err
        return
    assert status == 2
    first, second = at.err.splitlines()
    assert "no such f" in first and second == f"  did you mean {near}?"


@given(st.lists(st.from_regex(r"[a-z]{1,6}(\.md)?", fullmatch=True), max_size=9), st.text("abc./é", max_size=9))
def test_the_nearest_file_is_there(tmp_path_factory: pytest.TempPathFactory, names: list[str], name: str):
    base = tmp_path_factory.mktemp("near")
    for each in names:
        (base / each).touch()
    path = base / name.strip("/")
    near = None if path.exists() else nearest_file(path)
    assert near is None or near.exists()


@pytest.mark.parametrize("name", ["a/" * 3000 + "b", "x" * 5000, "a\0b", "b.md/c", "../" * 50 + "b"], ids=range(5))
def test_no_name_is_too_strange_to_look_for_its_like(name: str, folder: Path):
    assert nearest_file(Path(name)) is None


def test_a_dry_run_of_check_and_fmt_writes_nothing(folder: Path, tmp_path: Path):
    (folder / "s.mda").write_text('---\ntitle: a\ntags: b\n---\n\nText[^1].\n\n[^1]: {"rel-type": "child"}\n')
    (folder / "chat.md").write_text("### @user\n\nHello.\n")
    before = tree(folder)
    status, at = said(tmp_path, "check", ".", "--dry-run")
    assert tree(folder) == before
    real = said(tmp_path, "check", ".", "--fix")
    assert status == real[0]
    assert at.out.replace("Would fix", "Fixed") == real[1].out
    (folder / "talk.md").write_text("### @user\n\nHello.\n")
    after = tree(folder)
    status, at = said(tmp_path, "fmt", ".", "--dry-run")
    assert (status, tree(folder)) == (0, after)
    named = {line.removeprefix("would change: ") for line in at.out.splitlines()}
    assert said(tmp_path, "fmt", ".")[0] == 0
    assert named == {name for name, text in tree(folder).items() if text != after[name]} != set()


def test_a_dry_run_of_new_and_build_writes_nothing(folder: Path, tmp_path: Path):
    names = [line.split()[0] for line in said(tmp_path, "new", "ymj")[1].err.splitlines()[1:]]
    new = ("new", "ymj", "--profile", names[0], "-o", "n.ymj")
    before = tree(folder)
    assert said(tmp_path, *new, "--dry-run")[1].out == "would write: n.ymj\n"
    out = tmp_path / "out"
    status, at = said(tmp_path, "build", ".", str(out), "--dry-run")
    assert (status, tree(folder), out.exists()) == (0, before, False)
    planned = {line.removeprefix("would write: ") for line in at.out.splitlines()}
    assert said(tmp_path, "build", ".", str(out))[0] == 0
    assert {name for name in tree(out) if not name.startswith(".prosa")} == planned
    status, at = said(tmp_path, "build", ".", str(out), "--dry-run")
    assert (status, at.out) == (0, "")
    assert said(tmp_path, *new)[0] == 0
    assert said(tmp_path, *new, "--dry-run")[0] == 2


def test_a_dry_run_of_run_is_the_plan(folder: Path, tmp_path: Path):
    plan = said(tmp_path, "plan", "sentiment.md", "text=x")[1].out
    assert said(tmp_path, "run", "sentiment.md", "text=x", "--dry-run")[1].out == plan != ""


def test_quiet_leaves_notices_out_and_keeps_results_and_errors(folder: Path, tmp_path: Path):
    for argv in (("fmt", "."), ("graph", "--format", "html", "-o", "../g.html"), ("rename", "b.md", "c.md", "--write")):
        before = said(tmp_path, *argv, "-q")
        assert (before[0], before[1].err) == (0, "")
    assert said(tmp_path, "rename", "c.md", "b.md", "--write")[1].err != ""
    assert said(tmp_path, "-q", "check", "none.md")[1].err.startswith("error: none.md: no such file")
    assert said(tmp_path, "check", ".", "-q", terminal=True)[1].err == ""
