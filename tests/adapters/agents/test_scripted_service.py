"""X16, X36: the scripted service speaks four wires as the services do; their own libraries complete loops of tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors as google_errors
from google.genai import types

from prosa.testing import ScriptedService, ScriptProblem, ServiceRequest

LOOP = [
    {"content": "Let me look.", "tool_calls": [{"name": "weather", "arguments": {"city": "Malmö"}}]},
    {"content": "Sun in Malmö, and no wind at all today."},
]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ASKED = "How is the weather?"


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    with ScriptedService(LOOP) as running:
        yield running


# Each library completes the loop: it is called, it answers, it gets the text.


@pytest.mark.parametrize("streams", [True, False])
def test_anthropic_completes_a_loop(service: ScriptedService, streams: bool):
    client = anthropic.Anthropic(base_url=service.base_url("messages"), api_key=service.key)
    messages: list[Any] = [{"role": "user", "content": ASKED}]
    for _ in range(2):
        asked = {"model": "m", "max_tokens": 100, "messages": messages, "system": "Be brief."}
        tools = [{"name": "weather", "description": "Tells it.", "input_schema": SCHEMA}]
        if streams:
            with client.messages.stream(**asked, tools=tools) as stream:
                reply = stream.get_final_message()
        else:
            reply = client.messages.create(**asked, tools=tools)
        messages.append({"role": "assistant", "content": [each.to_dict() for each in reply.content]})
        uses = [each for each in reply.content if each.type == "tool_use"]
        assert reply.stop_reason == ("tool_use" if uses else "end_turn")
        results = [{"type": "tool_result", "tool_use_id": each.id, "content": "18 °C"} for each in uses]
        assert [each.input for each in uses] == ([{"city": "Malmö"}] if uses else [])
        messages.append({"role": "user", "content": results})
    assert reply.content[0].text == LOOP[1]["content"]
    seen = service.requests[1]
    assert (seen.wire, seen.system, seen.streams, seen.text) == ("messages", "Be brief.", streams, "18 °C")
    assert [turn.role for turn in seen.turns] == ["user", "assistant", "user"]
    assert seen.turns[1].calls[0].name == "weather" and seen.tools[0].parameters == ("city",)
    assert reply.usage.input_tokens == seen.tokens and reply.usage.output_tokens == 10


@pytest.mark.parametrize("streams", [True, False])
def test_chat_completions_complete_a_loop(service: ScriptedService, streams: bool):
    client = openai.OpenAI(base_url=service.base_url("chat"), api_key=service.key)
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]
    for _ in range(2):
        asked = {"model": "m", "messages": messages, "tools": [tool]}
        if streams:
            with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
                reply = stream.get_final_completion()
        else:
            reply = client.chat.completions.create(**asked)
        message = reply.choices[0].message
        assert reply.choices[0].finish_reason == ("tool_calls" if message.tool_calls else "stop")
        messages.append(message.to_dict(exclude_none=True) if not streams else _plain(message))
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "18 °C"} for call in message.tool_calls or ()]
    assert message.content == LOOP[1]["content"]
    seen = service.requests[1]
    assert seen.system == "Be brief." and seen.text == "18 °C"
    assert reply.usage.prompt_tokens == seen.tokens and reply.usage.total_tokens == seen.tokens + 10


def _plain(message: Any) -> dict[str, Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in message.tool_calls or ()
    ]
    return {"role": "assistant", "content": message.content} | ({"tool_calls": calls} if calls else {})


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("streams", [True, False])
def test_responses_complete_a_loop(service: ScriptedService, streams: bool, stored: bool):
    client = openai.OpenAI(base_url=service.base_url("responses"), api_key=service.key)
    tool = {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}
    items: list[Any] = [{"role": "user", "content": ASKED}]
    previous = None
    for _ in range(2):
        asked: dict[str, Any] = {"model": "m", "input": items, "tools": [tool], "instructions": "Be brief."}
        asked |= {"previous_response_id": previous} if previous else {"store": stored}
        if streams:
            with client.responses.stream(**asked) as stream:
                reply = stream.get_final_response()
        else:
            reply = client.responses.create(**asked)
        calls = [each for each in reply.output if each.type == "function_call"]
        assert [json.loads(each.arguments) for each in calls] == ([{"city": "Malmö"}] if calls else [])
        results = [{"type": "function_call_output", "call_id": each.call_id, "output": "18 °C"} for each in calls]
        if stored:
            previous, items = reply.id, results
        else:
            said = [each.to_dict(exclude_none=True) for each in reply.output]
            items += [{k: v for k, v in each.items() if k != "parsed_arguments"} for each in said] + results
    assert reply.output_text == LOOP[1]["content"]
    seen = service.requests[1]
    assert seen.system == "Be brief." and seen.text == "18 °C" and len(seen.turns) == 3
    assert reply.usage.input_tokens == seen.tokens


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-3-pro"])
@pytest.mark.parametrize("streams", [True, False])
def test_google_completes_a_loop(service: ScriptedService, streams: bool, model: str):
    client = genai.Client(api_key=service.key, http_options={"base_url": service.base_url("gemini")})
    function = {"name": "weather", "description": "Tells it.", "parameters_json_schema": SCHEMA}
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        tools=[types.Tool(function_declarations=[types.FunctionDeclaration(**function)])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=ASKED)])]
    for _ in range(2):
        asked: dict[str, Any] = {"model": model, "contents": contents, "config": config}
        if streams:
            pieces = list(client.models.generate_content_stream(**asked))
        else:
            pieces = [client.models.generate_content(**asked)]
        parts = [part for piece in pieces for part in piece.candidates[0].content.parts]
        contents.append(types.Content(role="model", parts=parts))
        calls = [part.function_call for part in parts if part.function_call]
        assert [each.args for each in calls] == ([{"city": "Malmö"}] if calls else [])
        answers = [types.FunctionResponse(id=each.id, name=each.name, response={"it": "18 °C"}) for each in calls]
        contents.append(types.Content(role="user", parts=[types.Part(function_response=each) for each in answers]))
    assert "".join(part.text for part in parts) == LOOP[1]["content"]
    seen = service.requests[1]
    assert seen.system == "Be brief." and "18 °C" in seen.text and seen.model == model
    assert pieces[-1].usage_metadata.prompt_token_count == seen.tokens


# Malformed requests get the service's error, in its words and its form.

USER = {"role": "user", "content": "hi"}
USE = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
TOOL = {"name": "f", "input_schema": {"type": "object"}}
TEXT_MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
SEARCHED = {"type": "search_result", "content": ["x"], "source": "s", "title": "t"}
WRONG_MESSAGES = [
    ({"max_tokens": None}, "max_tokens: Input should be a valid integer"),
    ({"max_tokens": ...}, "max_tokens: Field required"),
    ({"max_tokens": 0}, "greater than or equal to 1"),
    ({"messages": []}, "at least one message"),
    ({"messages": [{"role": "system", "content": "x"}]}, "first message must use the 'user' role"),
    ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role: Input should be 'user', 'assistant'"),
    ({"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    ({"messages": [{**USER, "name": "x"}]}, "messages.0.name: Extra inputs are not permitted"),
    ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages.0.content.0.text.text: Field required"),
    ({"messages": [{"role": "user", "content": [{"type": "txt"}]}]}, "Input tag 'txt' found using 'type'"),
    ({"messages": [{"role": "user", "content": " "}]}, "non-whitespace text"),
    ({"messages": [USER, {"role": "assistant", "content": "a"}]}, "must end with a user message"),
    ({"messages": [{"role": "user", "content": [RESULT]}], "tools": [TOOL]}, "unexpected `tool_use_id`"),
    ({"messages": [USER, {"role": "assistant", "content": [USE]}, USER], "tools": [TOOL]}, "without `tool_result`"),
    ({"messages": [USER, {"role": "assistant", "content": [USE]}], "tools": [TOOL]}, "without `tool_result`"),
    ({"messages": [{"role": "user", "content": [USE]}], "tools": [TOOL]}, "can only be in `assistant` messages"),
    (
        {"messages": [USER, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT]}]},
        "must define `tools`",
    ),
    (
        {"messages": [USER, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT] * 2}]},
        "single result",
    ),
    ({"tools": [{"name": "f"}]}, "tools.0.custom.input_schema: Field required"),
    ({"tools": [{"name": "f g", "input_schema": {"type": "object"}}]}, "should match pattern"),
    ({"tools": [{"name": "f", "input_schema": {}}]}, "input_schema.type"),
    ({"tools": [TOOL, TOOL]}, "Tool names must be unique"),
    ({"tool_choice": {"type": "auto"}}, "only be specified while providing `tools`"),
    ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "g"}}, "Tool 'g' not found"),
    ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "greater than or equal to 1024"),
    ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "greater than `thinking.budget_tokens`"),
    ({"messages": [{"role": "user", "content": [TEXT_MARKED] * 5}]}, "A maximum of 4 blocks"),
    ({"stream_options": {}}, "stream_options: Extra inputs are not permitted"),
    ({"context_management": {}}, "context_management: Extra inputs are not permitted"),
    ({"temperature": 1.5}, "temperature: range: 0..1"),
    ({"stream": "yes"}, "stream: Input should be a valid boolean"),
    ({"messages": [{"role": "user", "content": [{"type": ["text"]}]}]}, "Input tag '['text']' found using 'type'"),
    ({"tools": [{"type": "web_search_20250305", "name": []}]}, "tools.0.name: Input should be a valid string"),
    ({"tools": [{"type": "bash_20250124", "name": "f", "input_schema": 1}]}, "tools.0.input_schema: Input should be"),
]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SAID = {"role": "assistant", "tool_calls": [CALL]}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def strict(**schema: Any) -> dict[str, Any]:
    parameters = {"type": "object", **schema}
    return {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": True}}


WRONG_CHAT = [
    ({"messages": ...}, "Missing required parameter: 'messages'."),
    ({"model": ...}, "Missing required parameter: 'model'."),
    ({"messages": []}, "empty array"),
    ({"messages": "hi"}, "Invalid type for 'messages': expected an array, but got a string"),
    ({"messages": [{"role": "human", "content": "x"}]}, "Invalid value: 'human'. Supported values are"),
    ({"messages": [{"role": "user"}]}, "Missing required parameter: 'messages[0].content'."),
    ({"messages": [USER, {"role": "tool", "tool_call_id": "c", "content": "x"}]}, "preceeding message"),
    ({"messages": [USER, SAID, USER]}, "did not have response messages: c"),
    ({"messages": [USER, SAID]}, "did not have response messages: c"),
    ({"messages": [USER, {"role": "assistant"}]}, "expected a string, got null"),
    ({"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": []}]}, "empty array"),
    ({"stream_options": {"include_usage": True}}, "only allowed when 'stream' is enabled"),
    ({"max_tokens": 5, "max_completion_tokens": 5}, "at the same time"),
    ({"max_tokens": 0}, "Expected a value >= 1, but got 0 instead"),
    ({"instructions": "x"}, "Unrecognized request argument supplied: instructions"),
    ({"tools": []}, "empty array"),
    ({"tool_choice": "auto"}, "only allowed when 'tools' are specified"),
    ({"tools": [{"type": "function", "name": "f"}]}, "Missing required parameter: 'tools[0].function'."),
    ({"tools": [{"type": "function", "function": {"name": "f g"}}]}, "does not match pattern"),
    ({"tools": [{"type": "function", "function": {"name": "f" * 65}}]}, "maximum length 64"),
    ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "string"}}}]}, "got 'type: "),
    (
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": True}}]},
        "'additionalProperties' is required to be supplied",
    ),
    ({"tools": [FUNCTION], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "no function named 'g'"),
    ({"response_format": {"type": "json_schema"}}, "Missing required parameter: 'response_format.json_schema.name'"),
    ({"temperature": 3}, "out of range"),
    ({"messages": [{"role": ["user"], "content": "x"}]}, "Invalid value: '['user']'. Supported values are"),
    ({"tools": [FUNCTION], "tool_choice": {"type": "function", "function": "f"}}, "no function named 'None'"),
    ({"tools": [strict(properties=["a"])]}, "'additionalProperties' is required to be supplied"),
    ({"tools": [strict(additionalProperties=False, required=1)]}, "'required' is required to be supplied"),
    ({"tools": [strict(additionalProperties=False, required=[{}])]}, "'required' is required to be supplied"),
]
OUT = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
WRONG_RESPONSES = [
    ({"model": ...}, "Missing required parameter: 'model'."),
    ({"input": ...}, "must be provided"),
    ({"messages": []}, "Unknown parameter: 'messages'."),
    ({"input": [{"type": "mesage"}]}, "Invalid value: 'mesage'"),
    ({"input": [{"role": "tool", "content": "x"}]}, "Invalid value: 'tool'"),
    ({"input": [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}]}, "Supported values are: 'input_"),
    ({"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "Invalid value: 'text'"),
    ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "No tool call found"),
    ({"input": [USER, OUT]}, "No tool output found for function call c."),
    ({"previous_response_id": "resp_9"}, "Previous response with id 'resp_9' not found."),
    ({"tools": [FUNCTION]}, "Missing required parameter: 'tools[0].name'."),
    ({"max_output_tokens": 1}, ">= 16"),
    ({"stream_options": {}}, "only allowed when 'stream'"),
    ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "Missing required parameter: 'text.format.schema'."),
]
PART = {"parts": [{"text": "hi"}]}
CALLED = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
WRONG_GEMINI = [
    ({"contents": ...}, "contents is not specified"),
    ({"contents": [], "tools": []}, "contents is not specified"),
    ({"contents": [{"role": "assistant", **PART}]}, "valid role: user, model"),
    ({"contents": [{"role": "user", "parts": []}]}, "parts must not be empty"),
    ({"contents": [{"role": "user", "parts": [{}]}]}, "must have one initialized field"),
    ({"contents": [{"role": "user", "parts": [{"text": "x", "inlineData": {}}]}]}, "oneof field 'data' is already set"),
    ({"contents": [{"role": "user", "text": "x"}]}, "Unknown name \"text\" at 'contents[0]': Cannot find field."),
    ({"messages": []}, 'Unknown name "messages": Cannot find field.'),
    ({"generationConfig": {"topP": "x"}}, "Invalid value at 'generation_config.top_p' (TYPE_DOUBLE), \"x\""),
    ({"contents": [PART, {"role": "model", **PART}]}, "multiturn requests end with a user role"),
    ({"contents": [PART, CALLED, PART]}, "number of function response parts is equal"),
    ({"contents": [CALLED, PART]}, "function call turn comes immediately after a user turn"),
    ({"contents": [{"parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}, "comes immediately after a"),
    (
        {"contents": [PART, CALLED, {"parts": [{"functionResponse": {"name": "g", "response": {}}}]}]},
        "does not match function call 'f'",
    ),
    ({"tools": [{"functionDeclarations": [{"name": "1 f"}]}]}, "Invalid function name"),
    ({"tools": [{"functionDeclarations": [{"name": "f"}, {"name": "f"}]}]}, "Duplicate function declaration"),
    ({"generationConfig": {"responseSchema": {}}}, "only allowed when mime_type"),
    ({"contents": [PART, {"role": "model", "parts": [{"functionCall": None}]}]}, "must have one initialized field"),
]
WELL: dict[str, tuple[str, dict[str, Any]]] = {
    "messages": ("/v1/messages", {"model": "m", "max_tokens": 10, "messages": [USER]}),
    "chat": ("/v1/chat/completions", {"model": "m", "messages": [USER]}),
    "responses": ("/v1/responses", {"model": "m", "input": "hi"}),
    "gemini": ("/v1beta/models/m:generateContent", {"contents": [PART]}),
}
KEYS = {"messages": "x-api-key", "gemini": "x-goog-api-key"}


def post(service: ScriptedService, wire: str, more: dict[str, Any], **headers: str) -> httpx2.Response:
    path, body = WELL[wire]
    body = {name: value for name, value in {**body, **more}.items() if value is not ...}
    sent = {KEYS.get(wire, "authorization"): ("" if wire in KEYS else "Bearer ") + str(service.key)}
    version = {"anthropic-version": "2023-06-01"} if wire == "messages" else {}
    return httpx2.post(f"http://127.0.0.1:{service.port}{path}", json=body, headers={**version, **sent, **headers})


@pytest.mark.parametrize(
    ("wire", "wrongs"),
    [("messages", WRONG_MESSAGES), ("chat", WRONG_CHAT), ("responses", WRONG_RESPONSES), ("gemini", WRONG_GEMINI)],
)
def test_what_is_malformed_gets_the_error_of_the_service(wire: str, wrongs: list[tuple[dict[str, Any], str]]):
    with ScriptedService(lambda _: "ok") as service:
        assert post(service, wire, {}).status_code == 200
        for more, words in wrongs:
            answer = post(service, wire, more)
            assert answer.status_code in (400, 404), (more, answer.text)
            error = answer.json()["error"]
            assert words in error["message"], (more, error)
            kind = {"messages": "type", "gemini": "status"}.get(wire, "type")
            assert error[kind] in ("invalid_request_error", "INVALID_ARGUMENT")
            assert service.requests[-1].refused == error["message"]


@pytest.mark.parametrize(
    ("wire", "more"),
    [
        ("messages", {"messages": [{"role": "user", "content": [SEARCHED]}]}),
        ("messages", {"tools": [{"type": "computer_20250124", "input_schema": {}}]}),
        ("chat", {"tools": [strict(additionalProperties=False, anyOf=1, **{"$defs": []})]}),
        ("gemini", {"contents": [{"parts": [{"text": "hi", "functionCall": None, "functionResponse": None}]}]}),
        ("gemini", {"tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": ["x"]}]}]}),
    ],
)
def test_null_is_absent_and_what_is_not_looked_into_may_be_anything(wire: str, more: dict[str, Any]):
    with ScriptedService(lambda request: str([tool.parameters for tool in request.tools])) as service:
        answer = post(service, wire, more)
        assert answer.status_code == 200, answer.text


def test_the_libraries_raise_what_the_services_make_them_raise():
    with ScriptedService([], models=["m"]) as service:
        claude = anthropic.Anthropic(base_url=service.base_url("messages"), api_key="wrong", max_retries=0)
        with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
            claude.messages.create(model="m", max_tokens=1, messages=[USER])
        client = openai.OpenAI(base_url=service.base_url("chat"), api_key=service.key, max_retries=0)
        with pytest.raises(openai.NotFoundError, match="The model `x` does not exist") as missing:
            client.chat.completions.create(model="x", messages=[USER])
        assert missing.value.code == "model_not_found"
        with pytest.raises(openai.BadRequestError, match="no reply left") as spent:
            client.chat.completions.create(model="m", messages=[USER])
        assert "wrong" not in str(service.requests[0].headers) and spent.value.type == "invalid_request_error"
        google = genai.Client(api_key="wrong", http_options={"base_url": service.base_url("gemini")})
        with pytest.raises(google_errors.ClientError, match="API key not valid") as invalid:
            google.models.generate_content(model="m", contents="hi")
        assert invalid.value.code == 400 and invalid.value.status == "INVALID_ARGUMENT"


def test_errors_of_the_script_come_with_their_status_and_wait():
    """X16: without a kind and a status it is a server in trouble."""
    script = [{"error": {"message": "slow", "status": 429, "retry_after": 2}}, {"error": "down"}, {"content": "ok"}]
    with ScriptedService(script) as service:
        answers = [post(service, wire, {}) for wire in ("messages", "gemini", "chat")]
    assert [each.status_code for each in answers] == [429, 500, 200]
    assert answers[0].headers["retry-after"] == "2" and answers[0].json()["error"]["type"] == "rate_limit_error"
    assert answers[1].json()["error"] == {"code": 500, "message": "down", "status": "INTERNAL"}


def test_counts_models_and_unknown_paths_are_answered(service: ScriptedService):
    claude = anthropic.Anthropic(base_url=service.base_url("messages"), api_key=service.key)
    count = claude.messages.count_tokens(model="m", messages=[USER], system="Be brief.")
    assert count.input_tokens == -(-len(json.dumps([USER], separators=(",", ":")) + '"Be brief."') // 4)
    google = genai.Client(api_key=service.key, http_options={"base_url": service.base_url("gemini")})
    assert google.models.count_tokens(model="m", contents="hi").total_tokens > 0
    client = openai.OpenAI(base_url=service.base_url("chat"), api_key=service.key)
    assert client.responses.input_tokens.count(model="m", input="hi").input_tokens > 0
    assert [each.id for each in client.models.list()] == [each.id for each in claude.models.list()]
    assert google.models.get(model="scripted-model").name == "models/scripted-model"
    assert client.models.retrieve("x").id == "x"
    url = f"http://127.0.0.1:{service.port}"
    assert httpx2.get(f"{url}/").status_code == 404
    assert httpx2.get(f"{url}/v1/messages").status_code == 405
    assert (
        httpx2.post(f"{url}/v1/chat/completions", content=b"{", headers={"authorization": "Bearer scripted-key"})
        .json()["error"]["message"]
        .startswith("We could not parse the JSON body")
    )


def test_a_body_that_is_too_large_is_refused(service: ScriptedService):
    answer = post(service, "messages", {"messages": [{"role": "user", "content": "x" * (33 * 1024 * 1024)}]})
    assert answer.status_code == 413 and answer.json()["error"]["type"] == "request_too_large"


# Scripts.


def test_the_service_is_an_asynchronous_context_manager_and_listens_on_loopback_alone():
    async def ask() -> str:
        async with ScriptedService([{"content": {"team": "housing"}}]) as service:
            client = openai.AsyncOpenAI(base_url=service.base_url("chat"), api_key=service.key)
            assert service._socket is not None and service._socket.getsockname()[0] == "127.0.0.1"
            reply = await client.chat.completions.create(model="m", messages=[USER])
            return str(reply.choices[0].message.content)

    assert asyncio.run(ask()) == '{"team":"housing"}'
    with pytest.raises(RuntimeError, match="does not run"):
        _ = ScriptedService([]).port


def test_a_function_answers_by_what_is_asked():
    def reply(request: ServiceRequest) -> Any:
        if request.text == "boom":
            raise ValueError("no")
        return {"content": f"{request.wire}: {request.text}", "usage": {"input_tokens": 7, "output_tokens": 3}}

    with ScriptedService(reply) as service:
        said = post(service, "chat", {}).json()
        assert said["choices"][0]["message"]["content"] == "chat: hi" and said["usage"]["total_tokens"] == 10
        assert post(service, "responses", {}).json()["output"][0]["content"][0]["text"] == "responses: hi"
        answer = post(service, "responses", {"input": "boom"})
        assert answer.status_code == 500 and "raised ValueError: no" in answer.json()["error"]["message"]


def test_a_script_is_a_file_of_the_form_that_scripted_models_have(tmp_path: Path):
    """X16: the same lines; a mistake is named with its place."""
    (tmp_path / "script.jsonl").write_text('{"content": "one"}\n\n{"load": "tides", "content": "two"}\n')
    with ScriptedService(tmp_path / "script.jsonl") as service:
        assert post(service, "gemini", {}).json()["candidates"][0]["content"]["parts"] == [{"text": "one"}]
    for line, words in [
        ('{"say": "x"}', "unknown key `say`"),
        ('{"write": "x"}', "`write` maps paths to contents"),
        ('{"load": 1}', "`load` is a text"),
        ('{"load": "x", "error": "y"}', "unknown key `error` beside `load`"),
        ('{"content": "x", "program": "p"}', "a service does not see"),
        ("{", "expected one JSON object per line"),
    ]:
        (tmp_path / "script.jsonl").write_text(f"\n{line}\n")
        with pytest.raises(ScriptProblem, match=r"script\.jsonl:2: ") as problem:
            ScriptedService(str(tmp_path / "script.jsonl"))
        assert words in str(problem.value)
