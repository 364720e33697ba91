"""What a command loads, and what it never loads (style 11)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from prosa.corpus.found import RACY_NS
from tests.cli.programs import program, script

HEAVY = frozenset(
    {
        *("openai", "mcp", "wasmtime", "genai_prices", "platformdirs", "httpx2", "pydantic"),
        *("anyio", "asyncio", "ssl", "sqlite3", "starlette", "numpy"),
    }
)
# What `prosa --help` may load of ours; everything else waits for its command.
FRONT = frozenset(
    f"prosa{name}" for name in ("", ".cli", ".cli.main", ".cli.commands", ".cli.console", ".cli.errors", ".cli.process")
)

CODE = """
import json, os, sys
from prosa.cli.{module} import main
for folder, argv in {commands!r}:
    os.chdir(folder)
    status = main(argv)
    print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded(argv: list[str], module: str = "main", home: Path | None = None) -> tuple[int, set[str]]:
    """The exit status of a command in a fresh process, and all modules it loaded. The default home is an empty one."""
    with TemporaryDirectory() as empty:
        ((status, modules),) = loaded_one_by_one([(".", argv)], home or Path(empty), module)
    return status, modules


def loaded_one_by_one(
    commands: Sequence[tuple[str, Sequence[str]]], home: Path, module: str = "main"
) -> list[tuple[int, set[str]]]:
    """Run commands in their folders, one after the other in one fresh process; return the exit status of each with all
    modules that it and those before it loaded. What is not among them, none of these commands loads."""
    environ = {name: value for name, value in os.environ.items() if "AGREE" not in name} | {"HOME": str(home)}
    code = CODE.format(module=module, commands=[(folder, list(argv)) for folder, argv in commands])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    ends = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[")]
    assert len(ends) == len(commands)
    return [(status, set(modules)) for status, modules in ends]


@pytest.mark.parametrize("argv", [["--help"], ["--version"], []])
def test_help_and_version_load_the_table_and_nothing_else_of_ours(argv: list[str]):
    status, modules = loaded(argv)
    assert status == 0
    assert {name for name in modules if name.split(".")[0] == "prosa"} <= FRONT
    assert not modules & (HEAVY | {"yaml", "jsonschema_rs", "pyromark", "pathlib", "tomllib", "argparse", "typing"})


def test_markdownlang_help_loads_no_more():
    status, modules = loaded([], "markdownlang")
    assert status == 0
    assert not modules & HEAVY


def test_check_never_loads_what_only_a_run_needs(tmp_path: Path):
    program = tmp_path / "hello.md"
    program.write_text(
        "---\nname: hello\ndescription: says hello\ninput: {type: object}\noutput: {type: object}\n---\nHello.\n"
    )
    status, modules = loaded(["check", str(program)])
    assert status == 0
    assert not modules & (HEAVY - {"sqlite3"})  # what is kept between runs is in there (X10)
    checking = {
        "prosa.app",
        "prosa.app.text_files",
        *(name for name in modules if name.split(".")[:3] == ["prosa", "app", "check"]),
    }
    never = ("prosa.app", "prosa.adapters.providers", "prosa.adapters.mcp")
    assert not {name for name in modules if name.startswith(never)} - checking


@pytest.mark.parametrize(
    "argv",
    [["run", "--help"], ["run", "FILE", "--help"], ["render", "FILE", "text=a"], ["plan", "FILE", "text=a"]],
    ids=" ".join,
)
def test_what_only_looks_at_a_program_loads_nothing_that_runs_one(argv: list[str], tmp_path: Path):
    path = program(tmp_path)
    status, modules = loaded([str(path) if item == "FILE" else item for item in argv])
    assert status == 0
    costs = {"genai_prices", "sqlite3", "httpx2", "pydantic", "asyncio", "ssl", "anyio"} if argv[0] == "plan" else set()
    assert not modules & (HEAVY - costs)  # a plan says what a run may cost, so it loads the list of prices


def test_a_scripted_run_loads_no_client_no_server_no_sandbox_and_no_prices(tmp_path: Path):
    path, model = program(tmp_path), script(tmp_path)
    status, modules = loaded(["run", str(path), "--model", model], home=agreed(tmp_path))
    assert status == 0
    assert not modules & (HEAVY - {"asyncio", "sqlite3"})  # sqlite3 keeps its answers
    late = {"prosa.adapters.sandbox.process", "prosa.adapters.files.walk", "prosa.template.printf", "random", "shlex"}
    assert not modules & late


def agreed(folder: Path) -> Path:
    """The home of somebody who has agreed."""
    (folder / ".markdownlang-agreement.json").write_text('{"agreed_at": "2026-01-01T00:00:00Z", "phrase_index": 0}')
    return folder


def test_x10_a_check_of_what_is_known_loads_no_parser(tmp_path: Path):
    """X10. A second check of the same document answers from what was kept, and loads neither parser nor schema."""
    (tmp_path / "prosa.toml").touch()
    (tmp_path / "notes.md").write_text("# Notes\n\nSee [above](#notes) and [there](notes.md).\n")
    _, first = loaded(["check", str(tmp_path)], home=tmp_path)
    status, second = loaded(["check", str(tmp_path)], home=tmp_path)
    parsers = {"pyromark", "yaml", "jsonschema_rs", "re2", "difflib", "concurrent.futures"}
    assert status == 0
    assert "pyromark" in first
    assert not second & parsers


ASKING = [
    ("search", "notes"),
    ("search", "--where", "title=Notes"),
    ("search", "--similar", "notes.md"),
    ("links", "notes.md"),
    ("path", "notes.md", "plan.md"),
    ("impact", "plan.md"),
    ("stats",),
    ("index",),
    ("query", "SELECT path FROM documents"),
    ("graph",),
    ("graph", "--format", "json"),
    ("graph", "--format", "html"),
    ("graph", "--report", "rank"),
]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two documents; the current folder is theirs."""
    monkeypatch.chdir(two_documents(tmp_path))
    return tmp_path


def two_documents(folder: Path) -> Path:
    """Write two documents that link to each other into a folder; return it."""
    (folder / "prosa.toml").touch()
    (folder / "notes.md").write_text("---\ntitle: Notes\n---\n# Notes\n\nSee the [plan](plan.md).\n")
    (folder / "plan.md").write_text("# Plan\n\nAs in the [notes](notes.md).\n")
    return folder


def test_x10_what_asks_an_index_loads_no_parser_no_rule_and_nothing_of_a_run(corpus: Path):
    """X10. A warm question reads rows: no Markdown, no YAML, no schema, no client, no server, no event loop. A search
    alone parses the sections that it shows: an index that kept what a reader sees of each took longer to build."""
    written = (corpus / "plan.md").stat().st_ctime_ns
    time.sleep(max(0, written + RACY_NS - time.time_ns()) / 1e9)  # what is younger is read again at every question
    assert loaded(["index"], home=corpus)[0] == 0
    asking = sorted(ASKING, key=lambda argv: argv[0] == "search")  # a search loads what nothing else may
    for argv, (status, modules) in zip(
        asking, loaded_one_by_one([(".", argv) for argv in asking], corpus), strict=True
    ):
        assert status == 0, argv
        assert not modules & (HEAVY - {"sqlite3"}), argv
        parser = set() if argv[0] == "search" else {"pyromark"}
        assert not modules & {*parser, "yaml", "jsonschema_rs", "re2", "difflib", "concurrent.futures"}, argv
        foreign = ("prosa.runtime.", "prosa.rules.", "prosa.adapters.providers", "prosa.api", "prosa.template")
        loaned = {"prosa.runtime.errors"}
        assert {name for name in modules if name.startswith(foreign)} <= loaned, argv


READING_AND_WRITING = [
    ("rename", "plan.md", "later.md"),
    ("chat", "talk.md", "--dry-run"),
    ("chat", "talk.md", "--inspect"),
    ("chat", "talk.md", "--export", "openai"),
    ("show", "notes.md"),
    ("fmt", "--check", "notes.md"),
    ("trust", "talk.md"),
    ("trust", "--list"),
    ("new", "ymj", "--profile", "card", "--subject", "a", "--owner", "b", "--summary", "c"),
    ("explain", "unknown-doc-id"),
]


@pytest.fixture(scope="module")
def read_and_written(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], tuple[int, set[str]]]:
    """How each command ended, with what was loaded until then; each had the same documents."""
    folders = [two_documents(tmp_path_factory.mktemp("corpus")) for _ in READING_AND_WRITING]
    for folder in folders:
        (folder / "talk.md").write_text("### @user:\n\nHello?\n")
    commands = list(zip(map(str, folders), READING_AND_WRITING, strict=True))
    ended = loaded_one_by_one(commands, tmp_path_factory.mktemp("home"))
    return dict(zip(READING_AND_WRITING, ended, strict=True))


@pytest.mark.parametrize("argv", READING_AND_WRITING, ids=" ".join)
def test_what_only_reads_and_writes_documents_loads_nothing_of_a_run(
    argv: tuple[str, ...], read_and_written: dict[tuple[str, ...], tuple[int, set[str]]]
):
    status, modules = read_and_written[argv]
    assert status == 0
    assert not modules & (HEAVY - {"sqlite3"})


def test_x6_enrich_without_vectors_loads_no_client(corpus: Path):
    """X6."""
    (corpus / "a.ymj").write_text("---\nkind: card\n---\n# A\n\n```json\n{}\n```\n")
    _, modules = loaded(["enrich", "a.ymj", "--no-embed", "--dry-run"], home=corpus)
    assert not modules & (HEAVY - {"sqlite3", "asyncio", "ssl"})


def test_agree_loads_nothing_heavy():
    status, modules = loaded(["agree", "--phrase", "no such phrase"])
    assert status == 2
    assert not modules & HEAVY
