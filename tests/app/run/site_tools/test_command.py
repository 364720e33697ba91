"""`prosa run` with sites: its flags, what is asked on a terminal, what it refuses (X7, X8, HA19)."""

from __future__ import annotations

import json
import os
import pty
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.cli.console import Console
from prosa.cli.run.interaction import confirming
from prosa.testing import ScriptedProvider
from tests.app.run.site_tools.runs import DONE, calls, text_of
from tests.app.run.site_tools.site import Site
from tests.cli.desk import desk
from tests.cli.programs import prosa as command
from tests.cli.programs import user

BOOK = calls(("mdh__berths_book", {"body": {"name": "Ada"}}))


def ran(
    folder: Path, *argv: str, sites: tuple[str, ...] = (), replies: tuple[Any, ...] = (BOOK, DONE), **more: Any
) -> Any:
    """Runs a program with these sites and replies."""
    (folder / "ask.md").write_text(text_of(*sites, more="python: {timeout: 1}\n"), encoding="utf-8")
    script = folder / "replies.jsonl"
    script.write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
    environ = user(folder, **more.pop("environ", {}))
    return command("run", folder / "ask.md", "--model", f"scripted:{script}", *argv, environ=environ, **more)


def test_x15c_a_site_on_the_command_line_is_one_of_the_run(site: Site, tmp_path: Path):
    status, at = ran(tmp_path, "--site", site.url, "--allow-actions", "--summary")
    assert (status, at.out) == (0, "{}\n"), at.err
    assert len(site.of("/api/berths")) == 1
    assert json.loads(at.err[at.err.index("{") :])["tools_called"] == 1


def test_ha19a_without_a_flag_nothing_is_changed(site: Site, tmp_path: Path):
    status, _ = ran(tmp_path, "--allow-private", sites=(site.url,))
    assert status == 0 and site.of("/api/berths") == []


@pytest.mark.parametrize(("typed", "sent"), [("y\n", 1), ("\n", 0), ("", 0)])
def test_ha19a_a_person_is_asked_on_a_terminal(site: Site, tmp_path: Path, typed: str, sent: int):
    status, at = ran(tmp_path, "--site", site.url, typed=typed, terminal=True)
    assert status == 0 and len(site.of("/api/berths")) == sent
    assert f"The model wants to send:\nPOST {site.url}/api/berths" in at.err and "Send it? [y/N]" in at.err


def test_x8_a_loopback_site_of_a_program_is_refused_with_the_way_on(site: Site, tmp_path: Path):
    status, at = ran(tmp_path, sites=(site.url,))
    assert status == 1 and "a private or loopback address" in at.err and "add --allow-private" in at.err
    assert site.asked == []


def test_x8_a_token_comes_by_the_name_of_its_variable(site: Site, tmp_path: Path):
    crew = calls(("mdh__crew_list", {}))
    flags = ("--site", f"{site.url}/ferries", "--site-token", f"{site.url}=HARBOUR", "--events", "jsonl", "--debug")
    status, at = ran(tmp_path, *flags, replies=(crew, DONE), environ={"HARBOUR": "t0ps3cret"})
    assert status == 0 and site.of("/api/crew")[0].headers["authorization"] == "Bearer t0ps3cret"
    assert "t0ps3cret" not in at.out + at.err


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--site-token", "https://a.example=to-ken"), "a variable and not the token"),
        (("--site-token", "A=B"), "must be a URL"),
        (("--site-token", "https://a.example/x=B"), "an origin without a path"),
        (("--site-token", "http://a.example=B"), "plain http"),
    ],
)
def test_wrong_flags_are_told_in_a_sentence(tmp_path: Path, flags: tuple[str, ...], why: str):
    status, at = ran(tmp_path, *flags)
    assert status == 2 and why in " ".join(at.err.split())


def test_a_site_that_is_no_url_is_refused(tmp_path: Path):
    status, at = ran(tmp_path, "--site", "ferries.example")
    assert status in (1, 2) and "--site ferries.example: must be a URL" in at.err


def test_scripts_of_a_document_have_no_sites(tmp_path: Path):
    path = tmp_path / "a.mda"
    path.write_text("---\ntitle: A\n---\nText.\n")
    status, at = command("run", path, "--allow-actions", environ=user(tmp_path))
    assert status == 2 and "--allow-actions applies to the sites of a program" in at.err


def test_a_terminal_is_read_only_when_there_is_a_line():
    """Nothing holds up the run while a person thinks: the question waits beside it."""
    import asyncio

    leader, follower = pty.openpty()
    with os.fdopen(follower, encoding="utf-8") as stdin:
        at = desk(terminal=True)
        console = Console(stdin, at.console.stdout, at.console.stderr, {}, interactive=True)

        async def asked() -> tuple[bool, bool]:
            first = asyncio.ensure_future(confirming(console, console.err)("POST /x"))
            for _ in range(5):
                await asyncio.sleep(0)
            waited = not first.done()
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            os.write(leader, b"yes\n")
            return waited, await confirming(console, console.err)("POST /x")

        assert asyncio.run(asked()) == (True, True)
    os.close(leader)


def test_the_same_from_python(site: Site, tmp_path: Path):
    path = tmp_path / "ask.md"
    path.write_text(text_of(more="python: {timeout: 1}\n"), encoding="utf-8")
    rights = prosa.SiteRights(named=(site.url,), allow_actions=True)
    found = prosa.run(path, provider=ScriptedProvider([BOOK, DONE]), sites=rights, environ=user(tmp_path))
    assert found.output == {} and len(site.of("/api/berths")) == 1
