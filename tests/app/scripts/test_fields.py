"""What each field of a block does to the request, and what the answer must be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.app.options import Environment, Options
from prosa.app.scripts.load import Preparing, ScriptJob, scripts_of
from prosa.runtime.errors import RunError
from prosa.settings import ProviderSettings, Settings
from prosa.source import SourceText
from tests.app.scripts.conftest import NUMBER
from tests.app.scripts.documents import asked, block, document, lines_of, own, run, whole_summary
from tests.cli.programs import configured, events_in, prosa
from tests.model_server.server import ModelServer

# ---- the request ----


def test_m25_m30_m31_m36_the_request_is_what_the_block_says(tmp_path: Path, model_server: ModelServer):
    model_server.script("# Ten")
    parameters = {"max-tokens": 50, "topP": 0.5, "temperature": 0.1, "not-known": {"a-b": [1]}}
    more = {"system-prompt": "Act as a clerk.", "model-name": "small", "parameters": parameters, "stream": True}
    path = document(tmp_path, "Text.\n", block("one", "Sum up.", **more))
    status, at = asked(model_server, path, "--script", "one", "--context", "none")
    assert (status, at.out) == (0, "# Ten\n")
    (body,) = model_server.bodies
    assert body["messages"] == [
        {"role": "system", "content": "Act as a clerk."},
        {"role": "user", "content": "Sum up."},
    ]
    assert body["model"] == "small" and body["stream"] is True
    assert (body["max_tokens"], body["top_p"], body["temperature"], body["not-known"]) == (50, 0.5, 0.1, {"a-b": [1]})
    assert not {"tools", "response_format", "max-tokens", "topP"} & set(body)


def test_ma10_the_responses_interface_has_its_own_names(tmp_path: Path, model_server: ModelServer):
    model_server.script("Done.")
    parameters = {"max-tokens": 50, "reasoning-effort": "low", "verbosity": "low"}
    path = document(tmp_path, block("one", parameters=parameters))
    assert asked(model_server, path, "--all", "--api", "responses")[0] == 0
    (body,) = model_server.bodies
    assert (body["max_output_tokens"], body["reasoning"], body["text"]) == (
        50,
        {"effort": "low"},
        {"verbosity": "low"},
    )


@pytest.mark.parametrize(
    "name", ["model", "messages", "tools", "stream", "response-format", "extra-headers", "base-url", "tool-choice"]
)
def test_m31_x7_a_parameter_never_changes_what_a_request_is(name: str, tmp_path: Path, model_server: ModelServer):
    path = document(tmp_path, block("one", parameters={name: "x"}))
    status, at = asked(model_server, path, "--all", "--format", "jsonl")
    assert status == 1 and model_server.bodies == []
    assert lines_of(at)[0]["error"] == f"the parameter `{name}` is refused"


def test_two_parameters_that_mean_the_same_are_refused(tmp_path: Path):
    path = document(tmp_path, block("one", parameters={"max-tokens": 1, "max_tokens": 2}))
    status, at = run(path, "--all")
    assert status == 1 and "the parameter `max_tokens` repeats another one" in at.err


def test_m29_x16_the_model_of_the_command_line_wins(tmp_path: Path, model_server: ModelServer):
    model_server.default = {"content": "Done."}
    path = document(tmp_path, block("named", **{"model-name": "mine"}), block("none"))
    assert asked(model_server, path, "--all", "--jobs", "1")[0] == 0
    assert asked(model_server, path, "--all", "--model", "ours", "--jobs", "1")[0] == 0
    place = configured(tmp_path, 'default-model = "usual"\n')
    assert asked(model_server, path, "--all", "--jobs", "1", PROSA_CONFIG_DIR=place)[0] == 0
    assert [body["model"] for body in model_server.bodies] == ["mine", "gpt-4o", "ours", "ours", "mine", "usual"]


# ---- the answer ----


def test_m32_m35_ma14b_a_schema_is_validated_with_feedback(tmp_path: Path, model_server: ModelServer):
    model_server.script({"content": "ten"}, {"content": {"n": "ten"}}, {"content": {"n": 10}})
    path = document(tmp_path, block("one", **{"output-schema": NUMBER, "retry-times": 2, "output-format": "text"}))
    status, at = asked(model_server, path, "--all", "--summary")
    assert (status, json.loads(at.out)) == (0, {"n": 10})
    first, second, third = (body["messages"] for body in model_server.bodies)
    assert "JSON Schema" in first[0]["content"] and "last iteration" not in first[0]["content"]
    assert "not valid JSON" in second[0]["content"] and "/n: " in third[0]["content"]
    assert (whole_summary(at.err)["errors"], whole_summary(at.err)["iterations"]) == (2, 3)
    assert model_server.bodies[0]["response_format"]["json_schema"]["schema"]["required"] == ["n"]


@pytest.mark.parametrize(("times", "asks"), [(0, 1), (1, 2), (1000, 10)])
def test_m32_ma14b_corrections_are_counted_and_capped(times: int, asks: int, tmp_path: Path, model_server: ModelServer):
    model_server.default = {"content": "no"}
    path = document(tmp_path, block("one", **{"output-schema": NUMBER, "retry-times": times}))
    status, at = asked(model_server, path, "--all")
    assert (status, at.out) == (1, "")
    assert len(model_server.bodies) == asks
    assert f"one: validation failed: no valid output after {asks} iteration" in at.err


@pytest.mark.parametrize(
    ("wanted", "reply", "result", "wish"),
    [
        ("text", "a *b*\n", "a *b*\n", "Answer in plain text."),
        ("markdown", "# a", "# a\n", "Answer in Markdown."),
        ("json", '{"a": 1}', '{\n  "a": 1\n}\n', "Answer with one JSON value"),
        ("image-url", " https://example.org/a.png ", "https://example.org/a.png\n", "one absolute URL of an image"),
        ("structured", "x: 1", "x: 1\n", "The format that is wanted for the answer: structured"),
        (None, "as it is", "as it is\n", None),
    ],
)
def test_m34_the_format_is_asked_for_and_checked(
    wanted: str | None, reply: str, result: str, wish: str | None, tmp_path: Path, model_server: ModelServer
):
    model_server.script({"content": reply})
    path = document(tmp_path, block("one", **({} if wanted is None else {"output-format": wanted})))
    status, at = asked(model_server, path, "--all")
    assert (status, at.out) == (0, result)
    system = [each["content"] for each in model_server.bodies[0]["messages"] if each["role"] == "system"]
    assert [wish in text for text in system if wish] == ([True] if wish else [])
    assert bool(system) is bool(wish)


def test_m34_an_image_url_is_never_fetched(tmp_path: Path, model_server: ModelServer):
    url = f"{model_server.base_url}/picture.png"
    model_server.script({"content": url})
    path = document(tmp_path, block("one", **{"output-format": "image-url"}))
    assert asked(model_server, path, "--all")[1].out == f"{url}\n"
    assert [request.path for request in model_server.requests] == ["/v1/chat/completions"]
    model_server.script({"content": "file:///etc/passwd"})
    status, at = asked(model_server, path, "--all")
    assert (status, at.out) == (1, "")
    assert "not one absolute http, https or data:image URL" in at.err


def test_ma14_a_schema_is_never_streamed(tmp_path: Path, model_server: ModelServer):
    model_server.script({"content": {"n": 1}})
    path = document(tmp_path, block("one", stream=True, **{"output-schema": NUMBER}))
    assert asked(model_server, path, "--all")[0] == 0
    assert "stream" not in model_server.bodies[0]


def test_m36_a_stream_is_shown_on_a_terminal_and_tells_its_pieces(tmp_path: Path, model_server: ModelServer):
    path = document(tmp_path, block("one", stream=True))
    model_server.script({"content": "A text in several pieces"})
    environ = own(tmp_path, OPENAI_BASE_URL=model_server.base_url)
    status, at = prosa("run", path, "--all", "--events", "jsonl", environ=environ, terminal=True)
    assert (status, at.out) == (0, "A text in several pieces\n")
    pieces = [event["text"] for event in events_in(at.err) if event["event"] == "text-arrived"]
    assert "".join(pieces) == "A text in several pieces" and len(pieces) > 1


def test_a_terminal_is_not_obeyed(tmp_path: Path):
    path = document(tmp_path, block("one"), block("two", stream=True))
    replies = "".join(json.dumps({"content": "red \x1b[31m"}) + "\n" for _ in range(3))
    (tmp_path / "r.jsonl").write_text(replies)
    for name in ("one", "two"):
        argv = ("run", path, "--script", name, "--model", f"scripted:{tmp_path / 'r.jsonl'}")
        assert prosa(*argv, environ=own(tmp_path), terminal=True)[1].out == "red \N{REPLACEMENT CHARACTER}[31m\n"
        assert prosa(*argv, environ=own(tmp_path))[1].out == "red \x1b[31m\n"


# ---- tools ----


def test_x15b_a_script_has_no_tools_unless_the_user_grants_them(tmp_path: Path, model_server: ModelServer):
    path = document(tmp_path, block("one", "Compute."))
    model_server.script("4")
    assert asked(model_server, path, "--all")[0] == 0
    call = {"name": "python", "arguments": {"code": "print(2 + 2)"}, "id": "c1"}
    model_server.script({"tool_calls": [call]}, "It is 4.")
    status, at = asked(model_server, path, "--all", "--tool", "python", "--summary")
    assert (status, at.out) == (0, "It is 4.\n")
    without, first, second = model_server.bodies
    assert "tools" not in without
    assert [tool["function"]["name"] for tool in first["tools"]] == ["python"]
    assert '"stdout": "4\\n"' in second["messages"][-1]["content"]
    assert whole_summary(at.err)["tools_called"] == 1


# ---- the provider ----


def ready(data: dict[str, Any], choices: Options, settings: Settings, environ: dict[str, str]) -> ScriptJob:
    """The job of one block."""
    text = block("one", **data)
    file = scripts_of(Path("a.mda"), SourceText(text, "a.mda"))
    return Preparing(file, choices, Environment(environ, settings)).ready(file.scripts[0])


@pytest.mark.parametrize(
    ("name", "row", "service"),
    [
        ("openai", "openai", "openai at https://api.openai.com/v1, key from OPENAI_API_KEY"),
        ("Anthropic", "anthropic", "anthropic at https://api.anthropic.com/v1, key from ANTHROPIC_API_KEY"),
        ("claude", "anthropic", "anthropic at https://api.anthropic.com/v1, key from ANTHROPIC_API_KEY"),
        ("google", "google", "google at https://generativelanguage.googleapis.com/v1beta, key from GEMINI_API_KEY"),
        ("gemini", "google", "google at https://generativelanguage.googleapis.com/v1beta, key from GEMINI_API_KEY"),
        ("local-llm", "local", "a model server on this machine is used only if you say so: a run would fail"),
        (None, None, "openai at https://api.openai.com/v1, key from OPENAI_API_KEY"),
    ],
)
def test_m28_x7_a_document_picks_a_provider_by_name(name: str | None, row: str | None, service: str):
    environ = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "GEMINI_API_KEY": "sk-g"}
    data = {"model-name": "m"} | ({} if name is None else {"provider": name})
    job = ready(data, Options(), Settings(), environ)
    assert (job.row and job.row.name, job.service) == (row, service)


def test_m28_a_hosted_provider_needs_its_key_and_a_model():
    job = ready({"provider": "anthropic", "model-name": "m"}, Options(), Settings(), {"OPENAI_API_KEY": "sk-o"})
    assert "ANTHROPIC_API_KEY is not set: a run would fail" in job.service
    with pytest.raises(RunError, match="no model is named for the provider `google`"):
        ready({"provider": "google"}, Options(), Settings(default_model="gpt-x"), {})


def test_m28_an_unknown_provider_is_refused_with_the_nearest_name():
    with pytest.raises(RunError, match="there is no provider `antropic`") as caught:
        ready({"provider": "antropic"}, Options(), Settings(), {})
    assert caught.value.hint == "did you mean anthropic?"
    with pytest.raises(RunError) as caught:
        ready({"provider": "https://evil.example"}, Options(), Settings(), {})
    assert caught.value.hint.startswith("known are openai, anthropic, google, local, ")


def test_m28_the_user_names_another_provider_or_another_address():
    own_row = {"Mill": ProviderSettings("https://mill.example/v1", "MILL_KEY")}
    settings = Settings(providers={name.lower(): each for name, each in own_row.items()})
    job = ready({"provider": "mill", "model-name": "m"}, Options(), settings, {"MILL_KEY": "k"})
    assert job.service == "mill at https://mill.example/v1, key from MILL_KEY"
    settings = Settings(providers={"anthropic": ProviderSettings("https://gateway.example/v1")})
    job = ready({"provider": "claude", "model-name": "m"}, Options(), settings, {"ANTHROPIC_API_KEY": "sk-a"})
    assert job.service == "anthropic at https://gateway.example/v1, without a key"
    settings = Settings(providers={"local": ProviderSettings("http://127.0.0.1:9/v1")})
    assert (
        ready({"provider": "local"}, Options(), settings, {}).service == "local at http://127.0.0.1:9/v1, without a key"
    )
    job = ready({"provider": "anthropic"}, Options(provider="openai"), Settings(), {"OPENAI_API_KEY": "sk-o"})
    assert job.row is not None and job.row.name == "openai"


def test_m28_x7_the_key_of_one_provider_never_reaches_another(tmp_path: Path, model_server: ModelServer):
    model_server.default = {"content": "Done."}
    place = configured(tmp_path, f'[providers.mill]\nbase-url = "{model_server.base_url}"\napi-key-env = "MILL_KEY"\n')
    path = document(tmp_path, block("mine", provider="mill", **{"model-name": "m"}), block("default"))
    keys = {"MILL_KEY": "key-of-the-mill", "OPENAI_API_KEY": "key-of-openai"}
    status, at = asked(model_server, path, "--all", "--jobs", "1", "--debug", PROSA_CONFIG_DIR=place, **keys)
    assert status == 0
    sent = [request.headers.get("authorization") for request in model_server.requests]
    assert sent == ["Bearer key-of-the-mill", "Bearer key-of-openai"]
    assert "key-of" not in at.out + at.err


def test_x7_a_project_cannot_add_a_provider(tmp_path: Path, model_server: ModelServer):
    (tmp_path / "prosa.toml").write_text(f'[providers.mill]\nbase-url = "{model_server.base_url}"\n')
    path = document(tmp_path, block("mine", provider="mill", **{"model-name": "m"}))
    status, at = asked(model_server, path, "--all")
    assert (status, model_server.requests) == (1, [])
    assert "a project cannot set `providers.mill.base-url`" in at.err


def test_x7_that_a_key_stays_here_is_said_once(tmp_path: Path, model_server: ModelServer):
    model_server.default = {"content": "Done."}
    path = document(tmp_path, block("a"), block("b"))
    environ = own(tmp_path, OPENAI_API_KEY="key-of-openai")
    status, at = prosa("run", path, "--all", "--base-url", model_server.base_url, environ=environ)
    assert status == 0 and at.err.count("OPENAI_API_KEY is not sent to") == 1
    assert [request.headers.get("authorization") for request in model_server.requests] == [None, None]


def test_ma10_the_plan_shows_what_becomes_of_parameters(tmp_path: Path):
    path = document(tmp_path, block("one", parameters={"max-tokens": 50, "mine": 1}))
    environ = own(tmp_path)
    _, at = prosa("plan", path, environ=environ)
    assert "parameters: max_tokens (written max-tokens) = 50, mine = 1" in at.out
    _, at = prosa("plan", path, "--script", "one", "--format", "json", environ=environ)
    (each,) = json.loads(at.out)["scripts"]
    assert each["parameters"] == {
        "sent": {"max_tokens": 50, "mine": 1},
        "renamed": {"max-tokens": "max_tokens"},
    }
    assert each["messages"] == [{"role": "user", "content": "Do it."}]
    assert each["tools"] == []
