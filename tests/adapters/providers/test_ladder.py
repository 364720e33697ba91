"""LA4: json_schema → json_object → prompt on a 400 that speaks of the format, remembered per provider and model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prosa.adapters.providers.openai import OpenAIProvider
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import OutputFormat
from tests.adapters.providers.asking import KEY, OUTPUT, SCHEMA, TOOL, Way, only, request
from tests.model_server.server import ModelServer


def formats(server: ModelServer) -> list[str | None]:
    """How the output was asked for, request by request; a tool that must be called stands for any JSON."""
    found = []
    for body in server.bodies:
        wanted: Any = body.get("response_format") or (body.get("text") or body.get("output_config") or {}).get("format")
        forced = (body.get("tool_choice") or {}).get("type") == "tool"
        google = body.get("generationConfig") or {}
        if "responseJsonSchema" in google:
            found.append("json_schema")
            continue
        forced = forced or "responseMimeType" in google
        found.append((wanted or {}).get("type") or ("json_object" if forced else None))
    return found


def test_la4_steps_down_and_remembers(way: Way) -> None:
    """LA4: each refusal is met once; later calls of the same object start where it worked."""
    way.server.refuses = {"json_schema", "json_object"}
    way.server.default = {"content": {"n": 1}}
    way.ask(request(), request(), request(tools=(TOOL,)))
    assert formats(way.server) == ["json_schema", "json_object", None, None, None]
    assert "tools" in way.server.bodies[-1]


def test_la4_one_step_is_enough(way: Way) -> None:
    way.server.refuses = {"json_schema"}
    way.server.default = {"content": {"n": 1}}
    way.ask(request(), request(model_name="m-2"), request())
    assert formats(way.server) == ["json_schema", "json_object", "json_schema", "json_object", "json_object"]


def test_la4_a_new_provider_has_no_memory(way: Way) -> None:
    way.server.refuses = {"json_schema"}
    way.server.default = {"content": {"n": 1}}
    way.ask()
    way.ask()
    assert formats(way.server) == ["json_schema", "json_object", "json_schema", "json_object"]


@only("chat", "responses")
def test_la4_a_refused_schema_says_nothing_about_others(way: Way) -> None:
    """LA4: strict mode refuses one schema; the next program's schema is still asked for."""
    loose = OutputFormat("output", {"type": "object", "properties": {"n": {"type": "integer"}}}, strict=True)
    way.server.default = {"content": {"n": 1}}
    way.ask(request(output=loose), request(output=loose), request(output=OUTPUT))
    assert formats(way.server) == ["json_schema", "json_object", "json_object", "json_schema"]


@only("chat", "responses")
def test_la4_a_schema_that_is_not_strict_is_sent_as_such(way: Way) -> None:
    loose = OutputFormat("output", {"type": "object"}, strict=False)
    way.server.default = {"content": {"n": 1}}
    way.ask(request(output=loose))
    assert formats(way.server) == ["json_schema"]
    assert '"strict":false' in way.server.requests[0].text


@pytest.mark.parametrize(
    "message",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "'response_format.type' must be 'json_object' or 'text'",
        "This model does not support structured outputs",
        "failed to parse grammar",
        "guided_json is off",
        "text.format: unknown variant",
    ],
)
def test_la4_words_of_a_refused_format(model_server: ModelServer, message: str) -> None:
    model_server.script({"status": 400, "message": message}, {"content": {"n": 1}})
    Way(model_server, "chat", False, []).ask()
    assert formats(model_server) == ["json_schema", "json_object"]


@pytest.mark.parametrize(
    "entry",
    [
        {"status": 400, "message": "temperature must be at most 2", "param": "temperature"},
        {"status": 400, "message": "Invalid schema for function 'add': wrong", "param": "tools[0].function.parameters"},
        {"status": 400, "message": "Invalid schema for function 'add'"},
        {"status": 400, "message": "bad", "param": "messages[0].content"},
        {"status": 400, "raw": ""},
        {"status": 422, "message": "response_format is unknown"},
        {"status": 500, "message": "response_format failed"},
    ],
)
def test_la4_other_refusals_do_not_step_down(way: Way, entry: dict[str, Any]) -> None:
    """LA4: only a 400 about the format steps down; everything else is an error after one request."""
    way.server.script(entry)
    assert way.fail().status == entry["status"]
    assert formats(way.server) == ["json_schema"]


def test_la4_nothing_is_remembered_before_it_worked(model_server: ModelServer) -> None:
    """LA4: a refusal whose lower form fails too was about something else."""
    refused = {"status": 400, "message": "the schema of your account"}
    model_server.script(refused, refused, refused, {"content": {"n": 1}})
    way = Way(model_server, "chat", False, [])

    async def asking() -> None:
        provider = way.provider()
        with pytest.raises(ProviderError):
            await provider.complete(request())
        await provider.complete(request())
        await provider.aclose()

    asyncio.run(asking())
    assert formats(model_server) == ["json_schema", "json_object", None, "json_schema"]


def test_la4_without_output_there_is_nothing_to_step_down(way: Way) -> None:
    way.server.script({"status": 400, "message": "response_format"})
    assert way.fail(request(output=None)).kind == "bad-request"
    assert len(way.server.requests) == 1


def test_stream_options_are_left_out_once_refused(model_server: ModelServer) -> None:
    """Usage of a stream is asked for, unless this service refused that; the memory is the ladder's."""
    model_server.refuses = {"stream_options", "json_schema"}
    model_server.default = {"content": {"n": 1}}
    reply = Way(model_server, "chat", True, []).ask(request(), request())
    sent = [("stream_options" in body, (body.get("response_format") or {}).get("type")) for body in model_server.bodies]
    assert sent == [(True, "json_schema"), (True, "json_object"), (False, "json_object"), (False, "json_object")]
    assert reply.usage.total_tokens == 0
    assert SCHEMA["type"] == "object"


def test_a_service_that_passes_over_the_schema_of_responses_is_asked_by_chat(model_server: ModelServer):
    """Once, from the next call on; one that is only wrong, or that refuses the schema in words, goes on as it is."""
    said: list[str] = []
    provider = OpenAIProvider(api_key=KEY, base_url=model_server.base_url, api="responses", notice=said.append)
    for content in ('{"n": "x"}', "The answer is 7.", "The answer is 7.", {"n": 7}):
        model_server.script({"content": content})
        asyncio.run(provider.complete(request()))
    assert [each.kind for each in model_server.requests] == ["responses", "responses", "chat", "chat"]
    (note,) = said
    assert note.startswith(f"note: {model_server.base_url} accepts a schema with --api responses and does")
    assert note.endswith("; --api chat is used from now on")


@pytest.mark.parametrize("options", [{"output": None}, {"tools": (TOOL,)}])
def test_prose_and_tool_calls_are_no_sign_of_it(model_server: ModelServer, options: dict[str, Any]):
    call = {"tool_calls": [{"name": "add", "arguments": {}, "id": "1"}], "content": "Adding."}
    model_server.default = call if "tools" in options else {"content": "Yes."}
    provider = OpenAIProvider(api_key=KEY, base_url=model_server.base_url, api="responses")
    for _ in range(2):
        asyncio.run(provider.complete(request(**options)))
    assert {each.kind for each in model_server.requests} == {"responses"}
