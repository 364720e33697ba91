"""`prosa help --format json`: what a program needs to know to call a command."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.commands import COMMANDS
from prosa.cli.described import TYPES
from prosa.cli.effects import EFFECTS
from prosa.cli.examples import EXAMPLES
from prosa.cli.main import main
from tests.cli.desk import desk
from tests.cli.test_startup import HEAVY, loaded

NAMES = [each.name for each in COMMANDS]


def helped(*words: str) -> dict[str, Any]:
    at = desk()
    assert main(("help", *words, "--format", "json"), at.console) == 0
    assert at.err == "" and at.out.count("\n") == 1
    found: dict[str, Any] = json.loads(at.out)
    return found


def test_the_index_has_every_command_and_where_to_go_on():
    index = helped()
    assert [each["name"] for each in index["commands"]] == NAMES
    assert all(list(each) == ["name", "summary", "writes", "network", "costs"] for each in index["commands"])
    assert index["exit"]["2"] == "wrong use"
    assert index["more"] == "prosa help COMMAND --format json"


@pytest.mark.parametrize("words", [("help", "check", "--format=json"), ("check", "--help", "--format", "json")])
def test_it_is_the_same_wherever_help_stands(words: tuple[str, ...]):
    at = desk()
    assert main(words, at.console) == 0
    assert json.loads(at.out) == helped("check")


@pytest.mark.parametrize("name", NAMES)
def test_every_command_describes_itself(name: str):
    found = helped(name)
    keys = ["command", "summary", "arguments", "options", "exit", "writes", "network", "costs", "examples"]
    assert list(found) == keys
    assert found["examples"] == [{"purpose": each.purpose, "line": each.line} for each in EXAMPLES[name]]
    for each in found["options"]:
        assert list(each)[:4] == ["flags", "type", "default", "help"]
        assert each["type"] in {*TYPES.values(), "switch", "choice", "text"}
        assert each["help"] and "%(" not in each["help"]
        assert ("choices" in each) == (each["type"] == "choice")
        if each["type"] == "choice" and each["default"] is not None:
            assert each["default"] in each["choices"]


@pytest.mark.parametrize("name", NAMES)
def test_effects_name_flags_and_arguments_that_exist(name: str):
    found = helped(name)
    known = {flag for each in found["options"] for flag in each["flags"]}
    known |= {each["name"] for each in found["arguments"]}
    for when in EFFECTS[name]:
        assert isinstance(when, bool) or set(when) <= known
    writes = {"--output", "--write", "--record", "--update", "--fix"} & known
    if found["writes"] is not True:
        assert writes <= set(found["writes"] or ())
    if found["costs"]:
        assert found["network"] or name == "mcp"


def test_every_command_has_a_row_and_every_row_a_command():
    assert set(EFFECTS) == set(NAMES)


@pytest.mark.parametrize(
    "line",
    [
        "plan hello.md", "render hello.md", "show a.md --format json", "explain MD020", "check", "fmt --check",
        "fmt --dry-run", "index", "search letters", "links a.md", "links a.md --impact", "graph", "query 'SELECT 1'",
        "trust a.md", "doctor", "models embedded", "agents", "completion bash", "runs", "mail", "new program",
        "init --dry-run", "convert a.md --to skill --dry-run", "rename a.md b.md --dry-run", "check --fix --dry-run",
    ],
)  # fmt: skip
def test_what_claims_not_to_write_leaves_the_folder_as_it_was(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (folder / "a.md").write_text("#  Letters\n\nSee [there](no.md) and letters.   \n")
    (folder / "hello.md").write_text(
        "---\nname: hello\ndescription: says hello\ninput: {type: object}\noutput: {type: object}\n---\nHello.\n"
    )
    monkeypatch.chdir(folder)
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    before = {each: each.read_bytes() for each in folder.rglob("*")}
    at = desk(environ={"HOME": str(home)})
    main(shlex.split(line), at.console)
    assert at.out or at.err
    assert {each: each.read_bytes() for each in folder.rglob("*")} == before


@pytest.mark.parametrize(
    "line", ["new program x", "check --fix", "rename a.md b.md", "graph -o g.json --format json", "init"]
)
def test_what_claims_to_write_writes(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.md").write_text("---\ntitle:   Letters\n---\n#  Letters\n\n-   See [a](a.md).   \n")
    monkeypatch.chdir(tmp_path)
    before = {each: each.is_file() and each.read_bytes() for each in tmp_path.rglob("*")}
    main(line.split(), desk(environ={"HOME": str(tmp_path)}).console)
    assert {each: each.is_file() and each.read_bytes() for each in tmp_path.rglob("*")} != before


def test_what_is_wrong_is_an_error_as_data():
    at = desk()
    assert main(("help", "serch", "--format", "json"), at.console) == 2
    assert json.loads(at.err)["fix"] == "prosa help search --format json"
    assert main(("help", "search", "more", "--format", "json"), at.console) == 2


def test_it_loads_nothing_heavy():
    for argv in (["help", "--format", "json"], ["help", "check", "--format", "json"]):
        status, modules = loaded(argv)
        assert status == 0
        assert not modules & HEAVY
        assert not {
            name for name in modules if name.startswith(("prosa.app.run", "prosa.adapters.providers", "prosa.web"))
        }


def test_a_draft_by_a_model_reaches_it_and_costs() -> None:
    assert EFFECTS["new"].network == EFFECTS["new"].costs == ("--model",)
