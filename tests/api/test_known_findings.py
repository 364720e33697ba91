"""Doors agree about a baseline and a revision: the command line, Python, agents and the editor (X30)."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.cli.main import main
from prosa.source import FileProblem
from tests.api.test_doors import checked, in_python
from tests.cli.desk import desk
from tests.lsp.conftest import environ
from tests.lsp.editor import inside
from tests.mcp_server.folder import served

__all__ = ["environ"]
BASELINE = "prosa-baseline.json"
BEFORE = {
    "a.md": "# A\n\nSee [x](x.md).\n\nSee [y](y.md) and [y](y.md).\n",
    "b.md": "# B\n\nSee [z](z.md).\n",
    "old.md": "# Old\n\nSee [one](one.md) and [two](two.md).\n",
    "same.md": "# Same\n\nSee [s](s.md).\n",
}
AFTER = {
    "a.md": "# A\n\nFirst.\n\nSee [x](x.md).\n\nSee [y](y.md) and [y](y.md), [y](y.md).\n",
    "b.md": "# B\n\nSee [z](z.md).\n\nSee [new](new.md).\n",
    "renamed.md": BEFORE["old.md"],
    "fresh.md": "# Fresh\n\nSee [f](f.md).\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a baseline and a commit, edited since then."""
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "prosa.toml").write_text("")
    for name, text in BEFORE.items():
        (folder / name).write_text(text)
    assert main(["check", "--no-cache", "--write-baseline"], desk(environ={"HOME": str(tmp_path)}).console) == 0
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for argv in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", *argv], check=True)
    (folder / "old.md").unlink()
    for name, text in AFTER.items():
        (folder / name).write_text(text)
    return folder


OPTIONS: list[dict[str, str]] = [
    {"baseline": BASELINE},
    {"changed_since": "HEAD"},
    {"baseline": BASELINE, "changed_since": "HEAD"},
]


def flags(options: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value))


def asked(folder: Path, options: Mapping[str, Any], **arguments: str) -> Any:
    """What an agent is told by `check`."""

    async def run() -> Any:
        async with served(folder, **options) as client:
            return await client.call_tool("check", arguments)

    return asyncio.run(run())


def at_agents(folder: Path, options: Mapping[str, str], **arguments: str) -> Any:
    around = {**options, **({"baseline": folder / BASELINE} if "baseline" in options else {})}
    found = asked(folder, around, **arguments)
    assert not found.is_error, found.content[0].text
    return found.structured_content


def lines(found: Any) -> list[tuple[str, int]]:
    return [(each["path"], each["line"]) for each in found]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_x30_python_leaves_out_what_the_command_line_leaves_out(folder: Path, options: dict[str, str]):
    def both(*paths: str) -> Any:
        at = desk(environ={"HOME": str(folder.parent)})
        main(["check", "--no-cache", "--format", "json", *flags(options), *paths], at.console)
        found = json.loads(at.out)["diagnostics"]
        assert in_python(list(paths), **options) == found
        return found

    told = lines(both("."))
    assert ("same.md", 3) not in told and ("fresh.md", 3) in told and ("b.md", 5) in told
    assert (("b.md", 3) in told, ("renamed.md", 3) in told) == ("baseline" not in options,) * 2
    assert lines(both("b.md")) == [each for each in told if each[0] == "b.md"]


@pytest.mark.parametrize("options", OPTIONS[1:], ids=str)
def test_x30_agents_are_told_of_changed_documents_what_the_command_line_says(folder: Path, options: dict[str, str]):
    at = desk(environ={"HOME": str(folder.parent)})
    main(["check", "--no-cache", "--format", "json", *flags(options)], at.console)
    found = at_agents(folder, options)
    assert lines(found["diagnostics"]) == lines(json.loads(at.out)["diagnostics"])
    assert sorted(found["documents"]) == sorted(AFTER)


def test_x30_agents_and_editors_are_told_of_a_document_what_the_command_line_says(
    folder: Path, environ: Mapping[str, str]
):
    with inside(environ) as editor:
        editor.initialize(folder, options={"baseline": BASELINE})
        for name in (*AFTER, "same.md"):
            at = desk(environ={"HOME": str(folder.parent)})
            main(["check", "--no-cache", "--format", "json", "--baseline", BASELINE, name], at.console)
            wanted = [each["line"] for each in json.loads(at.out)["diagnostics"]]
            found = at_agents(folder, {"baseline": BASELINE}, document=name)["diagnostics"]
            assert [each["line"] for each in found] == wanted
            uri = editor.open(folder / name)
            while [each["range"]["start"]["line"] + 1 for each in editor.diagnostics(uri)] != wanted:
                pass  # the corpus is being read


def test_an_editor_takes_in_a_baseline_that_is_written_and_says_what_is_wrong_with_one(
    folder: Path, environ: Mapping[str, str]
):
    text = (folder / BASELINE).read_text()
    (folder / BASELINE).write_text("{")
    with inside(environ) as editor:
        editor.initialize(folder, options={"baseline": BASELINE})
        uri = editor.open(folder / "same.md")
        while [each["code"] for each in editor.diagnostics(uri)] != ["unresolved-link"]:
            pass
        said = editor.told("window/showMessage")["message"]
        assert BASELINE in said and said.endswith("; all findings are shown")
        (folder / BASELINE).write_text(text)
        changed = {"uri": (folder / BASELINE).as_uri(), "type": 2}
        editor.notify("workspace/didChangeWatchedFiles", {"changes": [changed]})
        editor.change(uri, f"{BEFORE['same.md']}\nSee [n](n.md).\n")
        while [each["range"]["start"]["line"] for each in editor.diagnostics(uri)] != [4]:
            pass


def test_x30_what_cannot_be_used_is_refused_at_every_door(folder: Path):
    with pytest.raises(ValueError, match="there is no revision 'gone' in the repository"):
        prosa.check(".", changed_since="gone")
    with pytest.raises(FileProblem, match=r"gone\.json"):
        prosa.check(".", baseline="gone.json")
    for flag, value in (("--changed-since", "gone"), ("--baseline", "gone.json")):
        for command in ("check", "mcp"):
            at = desk(environ={"HOME": str(folder.parent)})
            assert main([command, flag, value], at.console) == 2 and "gone" in at.err
    told = asked(folder, {"changed_since": "gone"}).content[0].text
    assert told == "nothing can be compared with the revision 'gone'"
    told = asked(folder, {"baseline": folder.parent / "gone.json"}, document="b.md").content[0].text
    assert told.startswith("gone.json: ") and str(folder.parent) not in told
    assert asked(folder, {"baseline": folder / BASELINE}).content[0].text == "give one of `document` and `text`"


def test_x23_an_agent_is_told_of_published_documents_alone(folder: Path):
    (folder / "secret.mda").write_text("---\nclassification: confidential\n---\nSee [canary](canary.md).\n")
    found = at_agents(folder, {"changed_since": "HEAD"})
    assert "secret.mda" not in found["documents"] and "canary" not in json.dumps(found)
    assert checked(["secret.mda"], folder.parent) != []
