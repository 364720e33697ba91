"""`prosa doctor`: it sees what is broken, says what to do, shows no secret and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from prosa.cli.main import main
from prosa.dialects.markdownlang.agreement import PHRASES
from tests.cli.desk import desk

SECRET = "sk-do-not-show-this"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "prosa.toml").touch()
    (tmp_path / "config").mkdir()
    monkeypatch.chdir(project)
    return tmp_path


def doctor(home: Path, *argv: str, **environ: str) -> tuple[int, dict[str, tuple[str, str]], str]:
    """Exit status, the checks by name, and everything that was printed."""
    known = {"HOME": str(home), "PROSA_CONFIG_DIR": str(home / "config"), "PROSA_CACHE_DIR": str(home / "cache")}
    at = desk(environ=known | environ)
    status = main(["doctor", "--format", "json", *argv], at.console)
    told = json.loads(at.out)
    assert told["healthy"] is (status == 0)
    text = desk(environ=known | environ)
    assert main(["doctor", *argv], text.console) == status
    checks = {each["name"]: (each["state"], each["message"]) for each in told["checks"]}
    return status, checks, at.out + text.out


def files(home: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in home.rglob("*")}


def test_a_new_installation_is_healthy_and_nothing_is_made(home: Path):
    before = files(home)
    status, checks, said = doctor(home)
    assert status == 0 and files(home) == before
    said_of_it = (
        "no key and no base URL: openai at https://api.openai.com/v1, OPENAI_API_KEY is not set: a run would fail"
    )
    assert checks["model"] == ("warning", said_of_it)
    assert checks["agreement"][0] == "note" and "prosa agree" in said
    assert "not made yet" in checks["cache"][1] and "none yet" in checks["index"][1]


def test_la29_the_variable_that_accepts_the_agreement_is_seen(home: Path):
    """LA29: a run passes with a phrase in it, so the agreement is not missing."""
    _, checks, _ = doctor(home, MARKDOWNLANG_AGREE=PHRASES[3])
    assert checks["agreement"] == ("ok", "accepted by MARKDOWNLANG_AGREE, as long as it is set")
    _, checks, _ = doctor(home, MARKDOWNLANG_AGREE="yes")
    assert checks["agreement"][0] == "warning" and "holds none of the 16 phrases" in checks["agreement"][1]


def test_x7_keys_are_named_and_never_shown(home: Path):
    keys = home / "config" / "keys.toml"
    keys.write_text(f'GEMINI_API_KEY = "{SECRET}"\n')
    keys.chmod(0o600)
    url = f"https://user:{SECRET}@models.example/v1"
    _, checks, said = doctor(home, ANTHROPIC_API_KEY=SECRET, OPENAI_BASE_URL=url)
    assert "set: ANTHROPIC_API_KEY" in checks["keys"][1] and "in keys.toml: GEMINI_API_KEY" in checks["keys"][1]
    assert SECRET not in said


def test_settings_with_errors_and_keys_that_others_may_read_are_broken(home: Path):
    (home / "config" / "settings.toml").write_text("model = [\n")
    keys = home / "config" / "keys.toml"
    keys.write_text(f'OPENAI_API_KEY = "{SECRET}"\n')
    keys.chmod(0o644)
    status, checks, said = doctor(home)
    assert status == 1 and SECRET not in said
    assert checks["settings"][0] == "broken" and "settings.toml:2:1" in checks["settings"][1]
    assert checks["keys"][0] == "broken" and "keys.toml" in checks["keys"][1]


def test_x10_a_cache_that_others_may_write_is_broken(home: Path):
    (home / "cache").mkdir()
    (home / "cache").chmod(0o777)
    status, checks, said = doctor(home)
    assert status == 1 and checks["cache"][0] == "broken" and f"rm -r {home / 'cache'}" in said
    (home / "cache").chmod(0o700)
    assert doctor(home)[0] == 0


def test_another_prosa_in_front_is_seen(home: Path):
    other = home / "bin" / "prosa"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    assert doctor(home, PATH=str(other.parent))[1]["command"][0] == "warning"


class _Model(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.seen.append(dict(self.headers))
        self.send_response(401)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    server.seen = []
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_x6_a_service_is_asked_only_with_online_and_gets_no_key(home: Path, service: ThreadingHTTPServer):
    url = f"http://127.0.0.1:{service.server_port}/v1"
    doctor(home, OPENAI_BASE_URL=url, OPENAI_API_KEY=SECRET)
    assert service.seen == []
    _, checks, _ = doctor(home, "--online", OPENAI_BASE_URL=url, OPENAI_API_KEY=SECRET)
    assert checks["service"] == ("ok", f"{url} answers (HTTP 401)")
    assert service.seen and not any(SECRET in str(each) for each in service.seen)
    service.server_close()
    assert doctor(home, "--online", OPENAI_BASE_URL="http://127.0.0.1:9/v1")[1]["service"][0] == "warning"


def test_x7_a_default_model_of_a_service_without_its_key_is_told_with_what_to_set(home: Path):
    place = home / ".config" / "prosa"
    place.mkdir(parents=True, exist_ok=True)
    (place / "settings.toml").write_text('default-model = "anthropic/claude-sonnet-4-5"\n', "utf-8")
    _, checks, said = doctor(home, PROSA_CONFIG_DIR=str(place))
    assert checks["model"][0] == "warning"
    assert "ANTHROPIC_API_KEY is not set" in said
    assert "OPENAI_API_KEY, or" not in said
    assert doctor(home, PROSA_CONFIG_DIR=str(place), ANTHROPIC_API_KEY="sk-a")[1]["model"][0] == "ok"


def test_the_last_line_says_whether_anything_is_broken(home: Path):
    status, checks, said = doctor(home)
    bad = sum(state == "warning" for state, _ in checks.values())
    last = said.rstrip().splitlines()[-1]
    need = "needs" if bad == 1 else "need"
    assert status == 0 and last == f"{bad} of {len(checks)} checks {need} attention; nothing is broken."
    (home / "config" / "settings.toml").write_text("no such = [")
    status, _, said = doctor(home)
    assert status == 1 and said.rstrip().endswith("attention.")
