"""Which key and which model name reach which service, for both command lines (X7, X16, X17, L35, L36)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from prosa.cli.markdownlang import main as markdownlang
from tests.cli.desk import desk
from tests.cli.programs import asked, configured, look_at, nested, program, prosa, summary_in, user
from tests.model_server.server import ModelServer

KEY = "sk-of-the-first-service"
OTHER = "sk-of-the-second-service"


@pytest.fixture
def second() -> Iterator[ModelServer]:
    """A second service with an origin of its own."""
    with ModelServer(default={"content": {"words": 2}}) as server:
        yield server


def keys(server: ModelServer) -> list[str | None]:
    """The keys that came, request by request."""
    return [request.headers.get("authorization") for request in server.requests]


# ---- keys ----


def test_x7_l36_the_key_of_the_environment_goes_to_the_base_url_of_the_environment(
    count: Path, model_server: ModelServer
):
    model_server.key = KEY
    model_server.script({"content": {"words": 2}})
    status, at = asked(model_server, count, "--debug", "--events", "jsonl", "--summary", OPENAI_API_KEY=f"{KEY}\n")
    assert status == 0
    assert keys(model_server) == [f"Bearer {KEY}"]
    assert KEY not in at.err + at.out


def test_x7_a_base_url_by_flag_does_not_get_the_key_of_another(
    count: Path, tmp_path: Path, model_server: ModelServer, second: ModelServer
):
    environ = user(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=model_server.base_url)
    status, at = prosa("run", count, "--base-url", second.base_url, environ=environ)
    assert status == 0
    assert keys(second) == [None]
    assert f"note: OPENAI_API_KEY is not sent to {second.base_url}" in at.err
    assert (
        prosa("run", count, "--base-url", second.base_url, "--api-key-env", "OPENAI_API_KEY", environ=environ)[0] == 0
    )
    assert keys(second) == [None, f"Bearer {KEY}"]
    assert keys(model_server) == []


def test_x7_a_named_variable_holds_the_key_for_the_base_url(count: Path, tmp_path: Path, second: ModelServer):
    environ = user(tmp_path, OPENAI_API_KEY=KEY, OTHER_KEY=OTHER)
    argv = ["--base-url", second.base_url, "--api-key-env", "OTHER_KEY"]
    assert prosa("run", count, *argv, environ=environ)[0] == 0
    assert keys(second) == [f"Bearer {OTHER}"]


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("by", ["flag", "environment", "settings"])
def test_x7_the_users_settings_name_the_key_of_an_endpoint(
    by: str, slash: str, count: Path, tmp_path: Path, second: ModelServer
):
    endpoints = f'[endpoints."{second.base_url}{slash}"]\napi-key-env = "OTHER_KEY"\n'
    base_url = f'base-url = "{second.base_url}/"\n' if by == "settings" else ""
    environ = user(
        tmp_path,
        OPENAI_API_KEY=KEY,
        OTHER_KEY=OTHER,
        OPENAI_BASE_URL=f"{second.base_url}/" if by == "environment" else "",
        PROSA_CONFIG_DIR=configured(tmp_path, base_url + endpoints),
    )
    argv = ["--base-url", f"{second.base_url}/"] if by == "flag" else []
    status, at = prosa("run", count, *argv, environ=environ)
    assert (status, at.err) == (0, "")
    assert keys(second) == [f"Bearer {OTHER}"]


def test_x7_a_base_url_of_the_settings_does_not_get_the_key_of_the_environment(
    count: Path, tmp_path: Path, second: ModelServer
):
    place = configured(tmp_path, f'base-url = "{second.base_url}"\n')
    status, at = prosa("run", count, environ=user(tmp_path, OPENAI_API_KEY=KEY, PROSA_CONFIG_DIR=place))
    assert status == 0
    assert keys(second) == [None]
    assert "OPENAI_API_KEY is not sent" in at.err


@pytest.mark.parametrize("variable", ["", "   "])
def test_x7_a_named_variable_that_is_empty_is_an_error(variable: str, count: Path, tmp_path: Path, second: ModelServer):
    environ = user(tmp_path, OPENAI_API_KEY=KEY, EMPTY=variable)
    status, at = prosa("run", count, "--base-url", second.base_url, "--api-key-env", "EMPTY", environ=environ)
    assert status == 1
    assert "error: the variable EMPTY is not set" in at.err
    assert second.requests == []


def test_x7_a_key_that_cannot_travel_is_refused_without_showing_it(count: Path, model_server: ModelServer):
    status, at = asked(model_server, count, OPENAI_API_KEY="sk-two\nlines")
    assert status == 1
    assert "OPENAI_API_KEY holds characters no key has" in at.err
    assert "sk-two" not in at.err


def test_x7_a_refused_key_is_not_repeated(count: Path, model_server: ModelServer):
    """The fake service repeats the wrong key in its answer, as real ones do."""
    model_server.key = OTHER
    status, at = asked(model_server, count, "--summary", "--debug", OPENAI_API_KEY=KEY)
    assert status == 1
    assert "refused the key (status 401)" in at.err
    assert KEY not in at.err


def test_x7_a_proxy_key_of_the_environment_reaches_no_other_service(
    count: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    model_server.script({"content": {"words": 2}})
    assert asked(model_server, count)[0] == 0
    (request,) = model_server.requests
    assert "authorization" not in request.headers
    assert "sk-admin" not in str(request.headers) and "org-mine" not in str(request.headers)


# ---- the command line of the specification ----


def test_l35_markdownlang_sends_its_key_to_its_base_url(count: Path, tmp_path: Path, second: ModelServer):
    argv = ["-program", str(count), "-base-url", second.base_url]
    at = desk("", user(tmp_path, OPENAI_API_KEY=KEY))
    assert markdownlang(argv, at.console) == 0
    assert (json.loads(at.out), at.err) == ({"words": 2}, "")
    assert markdownlang(argv, desk("", user(tmp_path)).console) == 0
    assert markdownlang([*argv, "-api-key", OTHER], desk("", user(tmp_path, OPENAI_API_KEY=KEY)).console) == 0
    assert keys(second) == [f"Bearer {KEY}", None, f"Bearer {OTHER}"]


def test_l36_markdownlang_reads_both_variables(count: Path, tmp_path: Path, second: ModelServer):
    environ = user(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=second.base_url)
    assert markdownlang(["-program", str(count)], desk("", environ).console) == 0
    assert keys(second) == [f"Bearer {KEY}"]


@pytest.mark.parametrize(("model", "used"), [("", "mine"), ("model: own\n", "own")])
def test_la16_x16_markdownlang_model_is_the_default(
    model: str, used: str, tmp_path: Path, second: ModelServer, capsys: pytest.CaptureFixture[str]
):
    path = program(tmp_path, more=model)
    at = desk("", user(tmp_path, OPENAI_BASE_URL=second.base_url))
    assert markdownlang(["-program", str(path), "-model", "mine", "-summary"], at.console) == 0
    assert [body["model"] for body in second.bodies] == [used]
    assert summary_in(at.err)["model"] == used


def test_la16_x16_prosa_run_model_overrides_the_program_and_its_imports(tmp_path: Path, model_server: ModelServer):
    path, _ = nested(tmp_path)
    program(tmp_path, name="inner", more="model: own\n")
    call = {"name": "inner", "arguments": {}}
    model_server.script({"tool_calls": [call]}, {"content": {"words": 1}}, {"content": {"words": 2}})
    assert asked(model_server, path, "--model", "chosen")[0] == 0
    assert [body["model"] for body in model_server.bodies] == ["chosen"] * 3


@pytest.mark.parametrize("name", ["local", "local:small"])
def test_x17_a_local_server_is_not_looked_for_where_an_address_is_given(
    count: Path, tmp_path: Path, model_server: ModelServer, name: str
):
    """X17. Neither flag is passed over in silence."""
    flags = ("--model", name, "--base-url", model_server.base_url)
    status, at = prosa("run", count, *flags, environ=user(tmp_path))
    assert (status, at.out, model_server.requests) == (1, "", [])
    assert f"`--model {name}` looks for a model server itself" in at.err
    assert "`--base-url URL --model NAME`" in at.err


def test_x17_a_local_server_is_used_when_it_is_asked_for(
    count: Path, tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
):
    ports = {"Ollama": 1, "vLLM": model_server.port}
    look_at(monkeypatch, **ports)
    model_server.models = ["tiny:latest", "small"]
    model_server.default = {"content": {"words": 2}}
    environ = user(tmp_path, OPENAI_API_KEY=KEY)
    for name, used in (("local", "tiny:latest"), ("local:small", "small"), ("local:tiny", "tiny:latest")):
        status, at = prosa("run", count, "--model", name, "--summary", environ=environ)
        assert status == 0
        assert model_server.bodies[-1]["model"] == used
        summary = summary_in(at.err)
        assert (summary["model"], summary["tokens"]["cost"] is None) == (used, True)
    assert set(keys(model_server)) == {None}
