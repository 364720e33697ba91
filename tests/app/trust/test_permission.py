"""X7: one gate starts everything that documents name, and it knows who named it."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import prosa as library
from prosa.adapters.mcp import McpServers
from prosa.app.options import Environment, Options
from prosa.app.permission import PermittedServers
from prosa.app.trust import accept_agreement
from prosa.cli.commands import COMMANDS
from prosa.runtime.errors import NotTrusted
from prosa.runtime.ports import Origin, ServerConfig
from prosa.settings import Settings
from tests.app.trust.places import GRADES, REPLIES, REPLY, everything, program, server, skill
from tests.cli.desk import Desk
from tests.cli.programs import ROOT, prosa, script, user
from tests.mcp_server.folder import served
from tests.web.run.site import site


class Folder:
    """A user in a folder full of canaries."""

    def __init__(self, tmp_path: Path) -> None:
        self.canary = tmp_path / "started.txt"
        self.root = everything(tmp_path / "repository", self.canary)
        self.environ = user(tmp_path, PROSA_CONFIG_DIR=str(tmp_path / "config"))
        self.model = script(tmp_path, *REPLIES)

    def run(self, *argv: Any, typed: str = "") -> tuple[int, Desk]:
        return prosa(*argv, environ=self.environ, typed=typed)

    def asks(self, *argv: Any) -> tuple[int, Desk]:
        return self.run(*argv, "--model", self.model)

    @property
    def started(self) -> bool:
        found = self.canary.exists()
        self.canary.unlink(missing_ok=True)
        return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    """The folder, which is where commands are given."""
    made = Folder(tmp_path)
    monkeypatch.chdir(made.root)
    yield made
    assert not made.started, "something that was not permitted started a server"


# ---- T1: three ways in which a test document started what it named ----


def refused(at: Desk, document: str) -> None:
    """What a refusal says: the document and line, the server, both ways to allow it."""
    assert f"{document}:" in at.err and "the MCP server 'canary' (sh -c" in at.err and "was not started" in at.err
    assert f"prosa trust {document}" in at.err and "--allow-servers" in at.err


def test_x7_a_grader_beside_a_skill_starts_nothing(folder: Folder):
    status, at = folder.asks("test", "inner")
    assert (status, at.out) == (1, "")
    refused(at, "inner/g.md")


def test_x7_a_program_of_a_test_document_in_the_folder_starts_nothing(folder: Folder):
    for path in folder.root.iterdir():
        if path.name not in ("evil.md", "evil.test.md", ".git"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    status, at = folder.asks("test")
    assert (status, at.out) == (1, "")
    refused(at, "evil.md")


def test_x7_a_grader_outside_of_a_skill_starts_nothing(folder: Folder):
    status, at = folder.asks("test", "apart")
    assert (status, at.out) == (1, "")
    refused(at, "apart/../grader.md")


# ---- the matrix: every command, and every place that names something ----

RUNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("test", "."), "evil.md"),
    (("test", "evil.test.md"), "evil.md"),
    (("test", "outer.test.md"), "evil.md"),
    (("test", "graded.test.md"), "grader.md"),
    (("test", "evil.test.md", "--against", "plain.md"), "evil.md"),
    (("test", "evil.test.md", "--against", "HEAD"), "evil.md"),
    (("test", "evil.test.md", "--repeat", "2", "--no-cache"), "evil.md"),
    (("test", "evil.test.md", "--record", "tapes"), "evil.md"),
    (("test", "evil.test.md", "--update"), "evil.md"),
    (("run", "reaching.md"), "far.md"),
    (("batch", "reaching.md", "--rows", "rows.jsonl", "--yes"), "far.md"),
    (("chat", "asks.md", "--trusted"), "evil.md"),
)
"""Runs, and the document whose server they refuse."""

HARMLESS: tuple[tuple[str, ...], ...] = (
    ("check", "."),
    ("check", "--strict", "."),
    ("fmt", "--check", "."),
    ("show", "evil.md", "page.mda", "tools.md"),
    ("plan", "evil.md"),
    ("plan", "reaching.md"),
    ("plan", "page.mda"),
    ("run", "evil.md", "--dry-run"),
    ("render", "evil.md"),
    ("run", "evil.md", "--help"),
    ("convert", "evil.md", "--to", "dotprompt"),
    ("explain", "evil.md"),
    ("index", "."),
    ("search", "answer"),
    ("links", "outer.md"),
    ("path", "outer.md", "evil.md"),
    ("impact", "evil.md"),
    ("graph", "."),
    ("stats", "."),
    ("query", "SELECT 1"),
    ("build", ".", "../site"),
    ("probe", "."),
    ("init", "."),
    ("new", "test", "evil"),
    ("trust", "--list"),
    ("models",),
    ("doctor",),
    ("runs",),
    ("agents",),
    ("mail",),
    ("rename", "plain.md", "other.md", "--dry-run"),
    ("enrich", ".", "--dry-run"),
    ("complete", "--", "prosa", "run", ""),
    ("run", "plain.md"),
    ("run", "nested/plain.md"),
    ("run", "page.mda", "--all"),
    ("run", "page.mda", "--auto"),
    ("chat", "tools.md"),
    ("chat", "asks.md"),
    ("batch", "plain.md", "--rows", "rows.jsonl", "--yes"),
    ("batch", "evil.md", "--rows", "rows.jsonl", "--plan"),
    ("run", "evil.md", "--replay", "tapes"),
    ("test", "evil.test.md", "--replay", "tapes"),
    ("improve", "evil.test.md"),
    ("test", "--failed", "graded.test.md", "--case", "none of them"),
    ("worker", "--until-empty"),
)
"""What starts nothing, whatever becomes of it."""

ASKING = ("run", "chat", "batch", "test")
ELSEWHERE = {"lsp", "mcp", "report", "serve", "view", "visit", "call", "agree", "login", "logout", "completion", "demo"}
"""Commands that name no document of the folder, and the doors, which have tests of their own."""


def committed(root: Path) -> None:
    name = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*name, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize(("argv", "document"), RUNS, ids=lambda each: " ".join(each) if isinstance(each, tuple) else "")
def test_x7_no_run_starts_what_a_document_names(argv: tuple[str, ...], document: str, folder: Folder):
    if "HEAD" in argv:
        committed(folder.root)
    status, at = folder.asks(*argv)
    assert status == 1, at.err
    found = next(line for line in at.err.splitlines() if "was not started" in line)
    assert document in found and "'canary'" in found
    assert "prosa trust" in at.err and "--allow-servers" in at.err


@pytest.mark.parametrize("argv", HARMLESS, ids=" ".join)
def test_x7_nothing_else_starts_anything(argv: tuple[str, ...], folder: Folder):
    asks = argv[0] in ASKING and not {"--help", "--replay", "--dry-run"} & set(argv)
    status, at = folder.asks(*argv) if asks else folder.run(*argv)
    assert status in (0, 1, 2), at.err
    assert "internal error" not in at.err


@pytest.mark.parametrize("argv", [("reaching.md",), ("reaching.md", "--format", "json")], ids=" ".join)
def test_x7_a_plan_says_what_the_run_would_do(argv: tuple[str, ...], folder: Folder):
    """X7: where a run ends before it begins, a plan announces no server; with the permission it does."""
    status, at = folder.run("plan", *argv)
    assert status == 0 and "would end before it starts" in at.out and "far.md was not named by you" in at.out
    assert "starts the MCP server" not in at.out
    assert ("--allow-servers" in at.err) is ("json" not in argv)  # a notice, which JSON leaves out (X43)
    status, at = folder.run("plan", *argv, "--allow-servers")
    assert status == 0 and "would end before it starts" not in at.out and "starts the MCP server canary" in at.out
    status, at = folder.run("plan", "evil.md")
    assert status == 0 and "starts the MCP server canary" in at.out


def test_x7_every_command_stands_in_the_matrix():
    known = {argv[0] for argv, _ in RUNS} | {argv[0] for argv in HARMLESS} | ELSEWHERE
    assert {each.name for each in COMMANDS} <= known


def test_x7_a_folder_that_is_published_starts_nothing(folder: Folder):
    """X7, X30: over the web and over MCP, with runs allowed."""

    async def web() -> None:
        with site(folder.root, REPLY) as at:
            for path in ("evil", "outer"):
                reply = await at.run(path=f"/mdh/run/{path}", given={})
                assert reply.status == 403 and "--allow-servers" in reply.json["detail"], reply.text
                assert str(folder.root) not in reply.text

    accept_agreement({"HOME": str(folder.root.parent)}, 0)

    async def agents() -> None:
        async with served(folder.root, globs=("*",), options=Options(model=folder.model)) as client:
            for name in ("evil", "outer"):
                result = await client.call_tool(name, {})
                assert result.is_error and "was not started" in result.content[0].text
                assert str(folder.root) not in result.content[0].text

    asyncio.run(web())
    asyncio.run(agents())


# ---- what may start ----


def test_x7_a_program_that_is_named_starts_its_own_servers_and_those_of_its_imports(folder: Folder):
    for argv in (("run", "evil.md"), ("batch", "evil.md", "--rows", "rows.jsonl", "--yes"), ("run", "outer.md")):
        assert folder.asks(*argv)[0] == 1
        assert folder.started, argv
    assert folder.asks("chat", "tools.md", "--tool", "evil.md")[0] == 1 and folder.started


def test_x7_trust_in_the_document_lets_it_start_until_it_changes(folder: Folder):
    assert folder.run("trust", "evil.md")[0] == 0
    assert folder.asks("test", "evil.test.md")[0] == 1 and folder.started
    assert folder.asks("test", "outer.test.md")[0] == 1 and folder.started
    evil = folder.root / "evil.md"
    evil.write_text(evil.read_text() + "More.\n")
    status, at = folder.asks("test", "evil.test.md")
    assert status == 1 and "was changed since you trusted it" in at.err


def test_x7_trust_in_what_names_a_program_is_no_trust_in_the_program(folder: Folder):
    for path in ("evil.test.md", "asks.md"):
        assert folder.run("trust", path)[0] == 0
    for argv in (("test", "evil.test.md"), ("chat", "asks.md")):
        status, at = folder.asks(*argv)
        assert status == 1 and "was not started" in at.err


def test_x7_a_chat_that_is_trusted_starts_its_own_server(folder: Folder):
    tools = folder.root / "tools.md"
    tools.write_text(tools.read_text().replace("% plugins.load canary\n", "").replace(', "evil.md"', ""))
    assert folder.run("trust", "tools.md")[0] == 0
    assert folder.asks("chat", "tools.md")[0] == 1 and folder.started


@pytest.mark.parametrize(("argv", "document"), RUNS, ids=lambda each: " ".join(each) if isinstance(each, tuple) else "")
def test_x7_the_flag_allows_it_for_this_call(argv: tuple[str, ...], document: str, folder: Folder):
    if "HEAD" in argv:
        committed(folder.root)
    _, at = folder.asks(*argv, "--allow-servers")
    assert folder.started, at.err
    assert "was not started" not in at.err


def test_x7_python_has_the_same_keyword(folder: Folder):
    options: dict[str, Any] = {"environ": folder.environ}
    with pytest.raises(NotTrusted, match="was not started"):
        library.run_tests("evil.test.md", models=folder.model, **options)
    report = library.run_tests("evil.test.md", models=folder.model, allow_servers=True, **options)
    assert not report.ok and folder.started
    with pytest.raises(NotTrusted):
        library.run("reaching.md", model=folder.model, **options)
    with pytest.raises(library.ToolServerError):
        library.run("reaching.md", model=folder.model, allow_servers=True, **options)
    assert folder.started


# ---- the port itself ----


@pytest.mark.parametrize(
    "origin", [None, Origin(), Origin("document", "evil.md", "0" * 64), Origin("document", "gone")]
)
def test_x7_the_port_starts_nothing_of_an_unknown_origin(origin: Origin | None, folder: Folder):
    config = ServerConfig("canary", command="sh", args=("-c", f"echo started >> {folder.canary}"))
    config = (
        config if origin is None else ServerConfig("canary", command=config.command, args=config.args, origin=origin)
    )
    around = Environment(folder.environ, Settings())
    port = PermittedServers(lambda: McpServers(environ=folder.environ), Options(), around)

    async def connect() -> None:
        async with port.connect([config], cwd="."):
            pass

    with pytest.raises(NotTrusted, match="was not started"):
        asyncio.run(connect())


def test_x7_servers_are_made_in_one_place_alone():
    """X7: what starts servers is built behind the permission, and nowhere else."""
    source = ROOT / "src" / "prosa"
    made = [path for path in source.rglob("*.py") if "McpServers(" in path.read_text() and "adapters" not in path.parts]
    assert [path.relative_to(source).as_posix() for path in made] == ["app/run/world.py"]
    text = made[0].read_text()
    assert text.count("McpServers(") == 1 and text.count("(servers(program, environment))") == 1
    assert text.count("PermittedServers(partial(servers,") == 1 and "PermittedServers(lambda: kept" in text


def test_x7_a_hostile_document_cannot_forge_the_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X7: what is refused is shown on one line, and the command that allows it is one word for each document."""
    root = tmp_path / "r"
    (root / ".git").mkdir(parents=True)
    bad = program(root / "a; touch pwn.md", more=server(tmp_path / "started.txt"), output=GRADES)
    bad.write_text(bad.read_text().replace("sh, args", '"sh\\x1b[2J\\n", args'))
    skill(root / "sk", "../a; touch pwn.md")
    monkeypatch.chdir(root)
    model = script(tmp_path, *REPLIES)
    status, at = prosa("test", "sk", "--model", model, environ=user(tmp_path))
    assert status == 1 and "\x1b" not in at.err
    assert "prosa trust 'a; touch pwn.md'" in at.err or "prosa trust 'sk/../a; touch pwn.md'" in at.err
    assert json.dumps(at.err)
