"""The arguments of `serve` about what runs, and a real server."""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pytest
import uvicorn

from prosa.cli.parser import Parser, WrongUse
from prosa.cli.serve import add_running_options, runner_of, token_of
from prosa.runtime.errors import PriceUnknown
from tests.app.scripts.documents import block
from tests.cli.desk import Desk, desk
from tests.cli.programs import prosa, script, user
from tests.web.run.site import BEARER, FORM, HOST, JSON, TOKEN, Site, Slow, answered_by, greeting, site


def parsed(at: Desk, *argv: str) -> argparse.Namespace:
    """The arguments as `serve` has them; those about the site are its own."""
    parser = Parser(console=at.console, prog="prosa serve", description="")
    add_running_options(parser)
    parser.add_argument("--base-url")
    parser.add_argument("--max-size", default="10MB")
    return parser.parse_args(argv)


def person(folder: Path, **environ: str) -> Desk:
    """A desk of somebody whose settings are in ``folder``."""
    return desk(environ=user(folder, PROSA_CONFIG_DIR=str(folder / "config"), **environ))


def test_x6_nothing_runs_unless_it_is_asked_for(tmp_path: Path) -> None:
    at = person(tmp_path)
    assert runner_of(parsed(at), at.console, tmp_path) is None
    assert at.err == ""


@pytest.mark.parametrize(
    "argv",
    [
        ["--allow-servers"],
        ["--model", "gpt-4o"],
        ["--model-url", "http://127.0.0.1:1/v1"],
        ["--model-api", "chat"],
        ["--api-key-env", "KEY"],
        ["--concurrency", "1"],
        ["--runs-per-minute", "1"],
        ["--max-cost", "1"],
        ["--max-output-tokens", "9"],
        ["--timeout", "1"],
    ],
    ids=lambda each: each[0],
)
def test_x7_flags_about_runs_need_the_permission(tmp_path: Path, argv: list[str]) -> None:
    at = person(tmp_path)
    with pytest.raises(WrongUse) as wrong:
        runner_of(parsed(at, *argv), at.console, tmp_path)
    assert argv[0] in wrong.value.message and "--allow-run" in wrong.value.hint


def test_x9_the_bounds_are_those_of_the_user(tmp_path: Path) -> None:
    """X7, X9. Every flag has its effect, and the owner is told who answers."""
    at = person(tmp_path, KEY="sk-secret")
    model = script(tmp_path)
    flags = ["--allow-run", "--model", model, "--concurrency", "3", "--runs-per-minute", "4", "--budget", "2.50"]
    more = ["--timeout", "9s", "--base-url", "https://site.example/docs/", "--allow-servers"]
    runner = runner_of(parsed(at, *flags, *more), at.console, tmp_path)
    assert runner is not None
    assert (runner.gate.at_once, runner.gate.per_minute, runner.budget.ledger.cap) == (3, 4, Decimal("2.50"))
    assert (runner.options.wall_clock, runner.prefix, runner.options.allow_servers) == (9, "/docs", True)
    assert (runner.options.root, runner.budget.explicit) == (tmp_path, True)
    assert "runs are allowed" in at.err and "replies.jsonl" in at.err and "sk-secret" not in at.err


def test_x9_there_are_bounds_where_nothing_is_said(tmp_path: Path) -> None:
    at = person(tmp_path)
    runner = runner_of(parsed(at, "--allow-run", "--model", "gpt-4o"), at.console, tmp_path)
    assert runner is not None
    assert (runner.gate.at_once, runner.gate.per_minute, runner.budget.ledger.cap) == (2, 30, 5)
    assert (runner.environment.settings.wall_clock, runner.options.allow_servers, runner.budget.explicit) == (
        120,
        False,
        False,
    )


def test_l41_the_owner_is_told_what_keeps_programs_from_running(tmp_path: Path) -> None:
    at = person(tmp_path, MARKDOWNLANG_AGREE="")
    assert runner_of(parsed(at, "--allow-run"), at.console, tmp_path) is not None
    assert "programs do not run yet" in at.err


def test_x26_a_cap_of_the_user_needs_the_price_of_the_model(tmp_path: Path) -> None:
    """X26. Refused at the start, not with the first request; the default counts what has a known price."""
    at = person(tmp_path)
    flags = ["--allow-run", "--model", "nobody-knows", "--model-url", "http://127.0.0.1:9/v1"]
    for name in ("--max-cost", "--budget"):
        with pytest.raises(PriceUnknown, match="nobody-knows"):
            runner_of(parsed(at, *flags, name, "2"), at.console, tmp_path)
    runner = runner_of(parsed(at, *flags), at.console, tmp_path)
    assert runner is not None and not runner.budget.explicit


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "Infinity", "much", "1e9"])
def test_x9_a_budget_is_an_amount(tmp_path: Path, amount: str) -> None:
    at = person(tmp_path)
    with pytest.raises(WrongUse, match="US dollars"):
        parsed(at, "--allow-run", f"--budget={amount}")


def test_h12_a_new_token_is_printed_once(tmp_path: Path) -> None:
    at, other = person(tmp_path), person(tmp_path)
    token = token_of(parsed(at), at.console)
    assert at.err == f"token: {token}\n" and len(token) >= 32
    assert token_of(parsed(other), other.console) != token


def test_h12_a_token_of_the_user_is_not_printed(tmp_path: Path) -> None:
    at = person(tmp_path, SITE_TOKEN=f" {TOKEN}\n")
    assert token_of(parsed(at, "--token-env", "SITE_TOKEN"), at.console) == TOKEN
    assert at.err == ""


@pytest.mark.parametrize(
    "token", ["", "short", "two words that are long", "tokens-are-in-äscii", "a" * 600, "x" * 20 + "\ny"]
)
def test_h12_a_weak_token_is_refused(tmp_path: Path, token: str) -> None:
    at = person(tmp_path, SITE_TOKEN=token or " ")
    with pytest.raises(WrongUse) as wrong:
        token_of(parsed(at, "--token-env", "SITE_TOKEN"), at.console)
    assert "SITE_TOKEN" in wrong.value.message and (not token or token not in wrong.value.message)


@contextmanager
def served(at: Site) -> Iterator[int]:
    """The site on a socket of this machine; gives the port."""
    made = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(at.app, log_config=None, access_log=False, lifespan="on", ws="none")
    server = uvicorn.Server(config)
    ready = threading.Event()
    startup = server.startup

    async def started(sockets: list[socket.socket] | None = None) -> None:
        await startup(sockets)
        ready.set()

    server.startup = started  # type: ignore[method-assign]
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([made])))
    thread.start()
    try:
        assert ready.wait(120)
        port = made.getsockname()[1]
        at.app.guard.hosts = {HOST, f"127.0.0.1:{port}"}
        yield port
    finally:
        server.should_exit = True
        thread.join(10)
        made.close()


def asked(port: int, method: str, path: str, headers: dict[str, str], body: bytes) -> http.client.HTTPResponse:
    """One request over a socket; the body of the answer can be read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, body, {"host": HOST, **headers})
    return connection.getresponse()


def test_h12_a_real_server_runs_programs_and_streams_scripts(tmp_path: Path) -> None:
    """H12, M36, M37. Sign in with a form, run a program with the token, and a script with the cookie."""
    root = greeting(tmp_path)
    (root / "page.mda").write_text("# Page\n\n" + block("sum", **{"interactive-type": "button"}))
    replies = ({"program": "sum", "content": "Ten\n\napples."}, {"program": "greet", "content": {"greeting": "Hi"}})
    with site(root, *replies) as at, served(at) as port:
        reply = asked(port, "POST", "/mdh/run/greet", {**BEARER, **JSON}, b'{"name": "Ada"}')
        assert (reply.status, json.loads(reply.read())) == (200, {"greeting": "Hi"})
        reply = asked(port, "POST", "/mdh/sign-in", FORM, f"token={TOKEN}&back=/page.mda".encode())
        assert (reply.status, reply.headers["location"]) == (303, "/page.mda")
        cookie = {"cookie": reply.headers["set-cookie"].partition(";")[0]}
        page = asked(port, "GET", "/page.mda", {**cookie, "accept": "text/html"}, b"").read().decode()
        csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
        headers = {**FORM, **cookie, "accept": "text/event-stream", "origin": f"http://{HOST}"}
        reply = asked(port, "POST", "/mdh/scripts/page.mda", headers, f"script=sum&csrf={csrf}".encode())
        lines = reply.read().decode().split("\n\n")
        assert [each.partition("\n")[0] for each in lines] == ["event: text", "event: done", ""]
        assert json.loads(lines[0].partition("data: ")[2]) == {"text": "Ten\n\napples."}
        assert asked(port, "POST", "/mdh/run/greet", JSON, b"{}").status == 401


def test_x9_a_real_client_that_closes_its_connection_ends_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X9. The model is not asked for somebody who has gone."""
    root = greeting(tmp_path)
    (root / "page.mda").write_text("# Page\n\n" + block("sum", **{"interactive-type": "button"}))
    slow = Slow()
    answered_by(monkeypatch, slow)
    with site(root) as at, served(at) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        headers = {"host": HOST, **BEARER, **FORM, "accept": "text/event-stream"}
        connection.request("POST", "/mdh/scripts/page.mda", b"script=sum", headers)
        reply = connection.getresponse()
        assert reply.readline() == b"event: text\n"
        reply.close()
        connection.close()
        assert slow.over.wait(120)


def test_h5_the_client_of_this_package_runs_a_program_of_a_site(tmp_path: Path) -> None:
    """H5, H12, H14, H19. `prosa call` finds the action on the page of the program, sends the token to it, and prints
    the output; without the token it says what is missing."""
    with site(greeting(tmp_path, "tools/greet.md")) as at, served(at) as port:
        page = f"http://127.0.0.1:{port}/tools/greet"
        argv = ("call", page, "tools.greet.run", "name=Ada", "--yes")
        environ = user(tmp_path, SITE_TOKEN=TOKEN)
        status, mine = prosa(*argv, "--token-env", "SITE_TOKEN", environ=environ)
        assert (status, json.loads(mine.out)) == (0, {"greeting": "Hello"}), mine.err
        status, mine = prosa(*argv, environ=environ)
        assert status == 1 and "token" in mine.err and not mine.out
        assert TOKEN not in mine.err
