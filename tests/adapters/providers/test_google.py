"""X7, LA4, X24: Google's models over HTTP, against a fake that the types of the service's library judge."""

from __future__ import annotations

import asyncio
import json
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem, retry_after
from prosa.adapters.providers.gemini import FIRST_SHAPE, GeminiAssembly, body, refusal, reply
from prosa.adapters.providers.kinds import is_retryable
from prosa.adapters.providers.native import AnthropicProvider, GoogleProvider
from prosa.adapters.providers.prices import KnownPrices
from prosa.app.options import Environment, Options
from prosa.app.run.routes import with_provider
from prosa.app.run.service import choose_provider, row_of_model, service_words
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import Message, ModelReply, ModelRequest, OutputFormat, ToolCall, ToolSpec, Usage, sequence
from prosa.runtime.ports import ToolResult
from prosa.runtime.prompt import Transcript
from prosa.settings import Settings
from tests.adapters.providers.asking import KEY, SCHEMA, TOOL, camel, request
from tests.depth import examples
from tests.model_server import gemini as fake
from tests.model_server.behaviour import behaviour
from tests.model_server.server import ModelServer

CALLS = [{"name": "add", "arguments": {"a": 1}}, {"name": "add", "arguments": {"a": 2}}]


class Asking:
    """One way to ask the fake: whole, or as a stream."""

    def __init__(self, server: ModelServer, *, stream: bool):
        self.server, self.stream, self.pieces = server, stream, []
        server.key = KEY

    def provider(self, **options: Any) -> GoogleProvider:
        return GoogleProvider(**{"api_key": KEY, "base_url": self.server.google_url, "timeout": 30, **options})

    def ask(self, *requests: ModelRequest, **options: Any) -> ModelReply:
        """Asks one provider, once per request, and gives the last reply."""

        async def asking() -> ModelReply:
            provider = self.provider(**options)
            try:
                replies = [await provider.complete(each, self.on_text) for each in requests or (request(),)]
            finally:
                await provider.aclose()
            return replies[-1]

        return asyncio.run(asking())

    @property
    def on_text(self) -> Any:
        return self.pieces.append if self.stream else None

    def fail(self, *requests: ModelRequest, **options: Any) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            self.ask(*requests, **options)
        assert KEY not in f"{caught.value} {caught.value.hint}"
        return caught.value

    @property
    def formats(self) -> list[str]:
        """How each request asked for JSON."""
        asked = [body.get("generationConfig", {}) for body in self.server.bodies]
        return [
            "schema" if "responseJsonSchema" in each else "json" if "responseMimeType" in each else "prompt"
            for each in asked
        ]


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def way(request: pytest.FixtureRequest, model_server: ModelServer) -> Asking:
    return Asking(model_server, stream=request.param)


@pytest.fixture
def whole(model_server: ModelServer) -> Asking:
    return Asking(model_server, stream=False)


# --- what is asked, and what is said


def test_l11_a_question_goes_out_in_the_services_own_way_and_its_answer_is_read(way):
    way.server.script({"content": {"n": 2}, "model": "models/gemini-2.5-flash"})
    reply = way.ask(request(model_name="gemini-2.5-flash"))
    assert reply == ModelReply(
        '{"n": 2}', usage=Usage(150, 75), model_name="gemini-2.5-flash", service=way.server.google_url
    )
    assert "".join(way.pieces) == (reply.content if way.stream else "")
    sent = way.server.requests[0]
    assert sent.model == "gemini-2.5-flash"
    assert sent.body == {
        "systemInstruction": {"parts": [{"text": "Count."}]},
        "contents": [{"role": "user", "parts": [{"text": "one two"}]}],
        "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
    }


def test_la27_thoughts_are_output_and_cached_tokens_are_input_at_their_own_price(way):
    usage = {"input_tokens": 1000, "output_tokens": 500, "cached_input_tokens": 400, "thought_tokens": 300}
    way.server.script({"content": "{}", "usage": usage})
    counted = way.ask().usage
    assert counted == Usage(1000, 500, 400)
    service = "https://generativelanguage.googleapis.com/v1beta"
    fresh, cached = (KnownPrices().cost("gemini-2.5-flash", each, service) for each in (Usage(1000, 500), counted))
    assert Decimal(0) < cached < fresh


def test_x7_parameters_pass_under_the_names_of_the_service_and_none_adds_to_the_request(whole):
    parameters = {
        "temperature": 0.5,
        "max-tokens": 50,
        "stop": "END",
        "reasoning_effort": "low",
        "tools": [{"googleSearch": {}}],
        "system_instruction": "x",
        "cached_content": "c",
        "contents": [],
        "http_options": {"base_url": "http://elsewhere.example"},
        "toolConfig": {},
        "parallel_tool_calls": False,
        "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    }
    whole.server.script("a")
    whole.ask(request(output=None, parameters=parameters, model_name="gemini-2.5-pro"))
    assert camel(whole.server.bodies[0]) == {
        "systemInstruction": {"parts": [{"text": "Count."}]},
        "contents": [{"role": "user", "parts": [{"text": "one two"}]}],
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "generationConfig": {
            "temperature": 0.5,
            "maxOutputTokens": 50,
            "stopSequences": ["END"],
            "thinkingConfig": {"thinkingBudget": 1024},
        },
    }


@pytest.mark.parametrize(
    "model, sent", [("gemini-2.5-pro", {"thinkingBudget": 24576}), ("gemini-3-pro-preview", {"thinkingLevel": "HIGH"})]
)
def test_ma10_a_reasoning_effort_is_said_as_the_model_knows_it(whole, model, sent):
    whole.server.script("a")
    whole.ask(request(output=None, model_name=model, parameters={"reasoning_effort": "high"}))
    assert camel(whole.server.bodies[0]["generationConfig"]) == {"thinkingConfig": sent}


def test_ma10_a_parameter_nobody_knows_is_for_the_service_to_judge(whole):
    error = whole.fail(request(output=None, parameters={"frobnicate": 3}))
    assert (error.kind, error.retryable) == ("bad-request", False)
    assert 'Unknown name "frobnicate"' in error.message


def test_x7_a_parameter_of_the_wrong_kind_is_refused_by_name_before_anything_is_sent(whole):
    error = whole.fail(request(output=None, parameters={"top_p": "much"}))
    assert "the parameter `topP` cannot be sent" in error.message
    assert whole.server.requests == []


def test_x26_a_bound_on_the_answer_is_sent_and_given_up_where_the_model_writes_less(whole):
    whole.server.refuses = {"large"}
    whole.server.script("a", "b", "c")
    whole.ask(request(output=None, max_output=500), request(output=None, max_output=5000, parameters={"maxTokens": 9}))
    sent = [each.get("generationConfig", {}).get("maxOutputTokens") for each in whole.server.bodies]
    assert sent == [500, 5000, None]


# --- tools


def conversation(reply: ModelReply, *results: str) -> tuple[Message, ...]:
    made = Transcript().with_tool_calls(reply, [ToolResult(each) for each in results])
    return (Message("system", "Count."), Message("user", "add"), *made.messages)


def test_x24_parallel_calls_are_answered_together_with_the_signature_and_the_ids_that_came(way):
    way.server.script({"content": "First", "tool_calls": CALLS}, "done")
    asked = request(model_name="gemini-3-pro-preview", tools=(TOOL,), output=None)
    reply = way.ask(asked)
    assert [(call.id, call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [
        ("add-1", "add", {"a": 1}),
        ("add-2", "add", {"a": 2}),
    ]
    assert (reply.finish, reply.content) == ("tool_calls", "First")
    again = request(
        model_name="gemini-3-pro-preview", tools=(TOOL,), output=None, messages=conversation(reply, "3", "4")
    )
    assert way.ask(again).content == "done"
    said, results = way.server.bodies[-1]["contents"][1:]
    calls = [part for part in said["parts"] if "functionCall" in part]
    assert calls[0]["thoughtSignature"] == fake.signature(calls[0]["functionCall"])
    assert results == {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": f"add-{at}", "name": "add", "response": {"output": text}}}
            for at, text in ((1, "3"), (2, "4"))
        ],
    }
    assert camel(way.server.bodies[-1]["tools"]) == [
        {
            "functionDeclarations": [
                {"name": "add", "description": "Adds two numbers.", "parametersJsonSchema": TOOL.parameters}
            ]
        }
    ]


def test_x24_calls_that_another_model_made_are_marked_only_where_the_model_wants_a_signature(whole):
    reply = ModelReply("", (ToolCall("c1", "add", '{"a": 1}'), ToolCall("c2", "add", "{")), opaque='{"anthropic": []}')
    asked = request(tools=(TOOL,), output=None, messages=conversation(reply, "3", "4"))
    whole.server.refuses = {"unsigned"}
    whole.server.script("one", "two")
    assert whole.ask(asked, asked).content == "two"
    signatures = [
        [part.get("thoughtSignature") for part in body["contents"][1]["parts"]] for body in whole.server.bodies
    ]
    assert signatures == [[None, None], [fake.SKIP, None], [fake.SKIP, None]]


def test_x24_a_tool_whose_name_begins_with_a_digit_is_offered_and_called(whole):
    tool = ToolSpec("2fa-check", "Checks.", {"type": "object", "properties": {}})
    whole.server.script({"tool_calls": [{"name": "_.2fa-check"}]})
    reply = whole.ask(request(tools=(tool,), output=None))
    assert [call.name for call in reply.tool_calls] == ["2fa-check"]
    whole.server.script("done")
    assert whole.ask(request(tools=(tool,), output=None, messages=conversation(reply, "ok"))).content == "done"


# --- the ladder


def test_la4_output_steps_down_to_what_the_model_takes_and_that_is_remembered(way):
    way.server.refuses = {"json_schema"}
    way.server.script("{}", "{}")
    way.ask(request(), request())
    assert way.formats == ["schema", "json", "json"]


def test_la4_the_last_step_is_the_prompt_alone(way):
    way.server.refuses = {"json_schema", "json_object"}
    way.server.script("{}", "{}")
    way.ask(request(), request())
    assert way.formats == ["schema", "json", "prompt", "prompt"]


def test_la4_a_model_that_takes_no_schema_beside_tools_still_gets_one_where_none_are_offered(way):
    way.server.refuses = {"tools-and-json"}
    way.server.script("{}", "{}", "{}")
    way.ask(request(tools=(TOOL,)), request(tools=(TOOL,)), request())
    assert way.formats == ["schema", "prompt", "prompt", "schema"]
    assert ["tools" in body for body in way.server.bodies] == [True, True, True, False]


def test_x24_a_model_without_a_system_role_is_told_in_the_first_message(way):
    way.server.refuses = {"system"}
    way.server.script("{}", "{}")
    way.ask(request(), request())
    said = [body["contents"][0]["parts"][0]["text"] for body in way.server.bodies]
    assert said == ["one two", "Count.\n\none two", "Count.\n\none two"]


# --- how replies end


@pytest.mark.parametrize(
    "finish, read",
    [("length", "length"), ("content_filter", "filter"), ("RECITATION", "filter"), ("SPII", "filter")],
)
def test_l10_the_end_of_a_reply_is_understood(way, finish, read):
    way.server.script({"content": "half", "finish": finish})
    assert way.ask(request(output=None)).finish == read


def test_l10_a_blocked_answer_and_a_blocked_prompt_say_why(way):
    way.server.script({"content": "no", "refusal": "HARM_CATEGORY_HARASSMENT"})
    blocked = way.ask(request(output=None))
    assert (blocked.finish, blocked.refusal) == ("filter", "the answer was blocked: SAFETY (HARM_CATEGORY_HARASSMENT)")
    way.server.script({"finish": "blocked"})
    prompt = way.ask(request(output=None))
    assert (prompt.finish, prompt.refusal, prompt.content) == ("filter", "the prompt was blocked: SAFETY", "")


@pytest.mark.parametrize("finish", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER"])
def test_la7_a_reply_that_the_model_could_not_write_is_asked_for_again(way, finish):
    way.server.script({"content": None, "finish": finish})
    error = way.fail(request(output=None))
    assert (error.kind, error.retryable) == ("malformed", True)
    assert len(way.server.requests) == 1


def test_la7_an_end_that_is_not_known_yet_ends_a_reply_that_is_there(way, recwarn):
    way.server.script({"raw": json.dumps({"candidates": [_said("done") | {"finishReason": "BECAUSE"}]})})
    assert Asking(way.server, stream=False).ask(request(output=None)).content == "done"
    assert [each for each in recwarn if "BECAUSE" in str(each.message)] == []


def _said(text: str) -> dict[str, Any]:
    return {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}}


def test_pa17_a_last_message_of_the_assistant_is_not_taken_for_the_beginning_of_the_answer(way):
    way.server.checks = False
    way.server.script("I count: two")
    error = way.fail(request(output=None, messages=(Message("user", "Count."), Message("assistant", "I count:"))))
    assert (error.kind, way.pieces) == ("bad-request", [])
    assert "no turn to give" in error.message


# --- what goes wrong


@pytest.mark.parametrize(
    "status, kind, retryable",
    [(403, "auth", False), (404, "bad-request", False), (500, "server", True), (503, "server", True)],
)
def test_la7_every_status_says_whether_another_attempt_makes_sense_and_none_is_made(way, status, kind, retryable):
    way.server.script({"status": status, "message": f"no luck with {KEY}"})
    error = way.fail()
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)
    assert "no luck with ***" in error.message
    assert len(way.server.requests) == 1


def test_x7_a_wrong_key_is_a_wrong_key_and_is_not_shown(way):
    error = way.fail(api_key="another-key-0987654321")
    assert (error.kind, error.status, error.retryable) == ("auth", 401, False)
    assert "another-key" not in f"{error} {error.hint}"


def limit(delay: str | None, quota: str) -> str:
    details: list[dict[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]}
    ]
    if delay is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    said = {"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED", "details": details}
    return json.dumps({"error": said})


def test_la7_a_limit_says_how_long_to_wait_and_one_per_day_is_not_waited_for(way):
    way.server.script(
        {"status": 429, "raw": limit("37.5s", "RequestsPerMinutePerProject")},
        {"status": 429, "raw": limit("37s", "GenerateRequestsPerDayPerProject")},
    )
    minute, day = way.fail(), way.fail()
    assert (minute.kind, minute.retryable, minute.retry_after) == ("rate-limit", True, 37.5)
    assert (day.kind, day.retryable) == ("rate-limit", False)
    assert len(way.server.requests) == 2


@settings(max_examples=examples(60))
@given(
    st.one_of(
        st.text(),
        st.recursive(
            st.none() | st.text() | st.integers(),
            lambda each: (
                st.lists(each, max_size=3)
                | st.dictionaries(st.sampled_from(["error", "details", "retryDelay", "message"]), each, max_size=3)
            ),
        ).map(json.dumps),
    )
)
def test_la7_any_body_of_a_refusal_is_understood(raw):
    problem = refusal(StatusProblem(429, {}, raw))
    assert problem.status == 429
    assert retry_after(problem.headers) is None or retry_after(problem.headers) >= 0
    assert isinstance(is_retryable(429, problem.code, problem.headers.get("x-should-retry")), bool)


@pytest.mark.parametrize(
    "fault", ["html200", "not_json", "json_list", "empty_choices", "truncated", "reset", "close", "error200"]
)
def test_la7_an_exchange_that_breaks_is_one_attempt_and_an_error_of_ours(way, fault):
    way.server.script({"content": "one two three four five six", "fault": fault})
    error = way.fail(request(output=None))
    assert error.kind in {"malformed", "network", "server"}
    assert len(way.server.requests) == 1


def test_la7_a_service_that_is_not_there_is_said_to_be_absent():
    with ModelServer() as server:
        url = server.google_url
    error = Asking(server, stream=False).fail(base_url=url)
    assert (error.kind, error.retryable, error.is_absent) == ("network", True, True)


def test_la7_a_silent_service_is_left_after_the_time_that_a_question_may_take(way):
    way.server.script({"content": "late", "fault": "hang"})
    error = way.fail(timeout=0.3)
    assert (error.kind, error.retryable) == ("timeout", True)


def test_x9_a_question_that_is_cancelled_ends_and_the_next_one_is_answered(way):
    way.server.script({"content": "late", "fault": "hang"}, "soon")

    async def asking() -> ModelReply:
        provider = way.provider()
        first = asyncio.create_task(provider.complete(request(output=None), way.on_text))
        while not way.server.requests and not first.done():
            await asyncio.sleep(0.01)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        reply = await provider.complete(request(output=None), way.on_text)
        await provider.aclose()
        await provider.aclose()
        return reply

    assert asyncio.run(asking()).content == "soon"


# --- what the library must not do


def test_x7_the_environment_of_the_library_chooses_neither_key_nor_address(whole, monkeypatch, caplog):
    for name, value in {
        "GOOGLE_API_KEY": "google-key",
        "GEMINI_API_KEY": "gemini-key",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
        "GOOGLE_GENAI_API_VERSION": "v9",
        "GOOGLE_GENAI_CLIENT_MODE": "replay",
        "GOOGLE_CLOUD_PROJECT": "p",
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, value)
    whole.server.script("a")
    whole.ask(request(output=None))
    assert whole.server.requests[0].headers["x-goog-api-key"] == KEY
    whole.server.key = None
    whole.server.script("a")
    whole.ask(request(output=None), api_key=None)
    assert "x-goog-api-key" not in whole.server.requests[-1].headers
    assert caplog.text == ""


def test_lw13_the_service_hears_nothing_about_this_machine(way):
    way.server.script("a")
    way.ask(request(output=None))
    headers = way.server.requests[0].headers
    assert headers["user-agent"].startswith("prosa/")
    assert set(headers) == {
        *("host", "accept", "accept-encoding", "content-type", "content-length"),
        *("user-agent", "x-goog-api-key"),
    }


def test_x7_no_redirect_is_followed(way):
    way.server.script({"status": 307, "headers": {"location": "http://127.0.0.1:9/v1beta"}})
    error = way.fail()
    assert error.status == 307
    assert "not followed" in error.message


# --- every conversation

TEXTS = st.sampled_from(["", "a", "two\nlines", "\ud800", '{"a": 1}'])
NAMES = st.sampled_from([None, "ada"])
SAID = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), TEXTS, name=NAMES)
CALLED = st.lists(st.sampled_from(["{}", '{"a": [1, null]}', "", "[1]", "nonsense"]), min_size=1, max_size=3)
STEPS = st.lists(st.one_of(CALLED, st.text(max_size=5)), max_size=5)


@settings(max_examples=examples(60))
@given(st.lists(SAID, max_size=4), STEPS, st.booleans(), st.booleans())
def test_x24_every_conversation_of_a_run_is_one_that_the_service_takes(said, steps, signed, own):
    transcript = Transcript()
    for at, step in enumerate(steps):
        if isinstance(step, str):
            transcript = transcript.with_rejected(step, "again")
            continue
        calls = tuple(ToolCall(f"c{at}-{number}", "add", each) for number, each in enumerate(step))
        made = [{"functionCall": {"name": "add", "args": {}}} for _ in calls]
        made[0]["thoughtSignature"] = fake.signature(made[0]["functionCall"])
        reply = ModelReply("", calls, opaque=json.dumps({"google": made}) if own else "")
        transcript = transcript.with_tool_calls(reply, [ToolResult("r")] * len(calls))
    messages = sequence((*said, Message("user", "go"), *transcript.messages))
    output = OutputFormat("output", SCHEMA, strict=False)
    made = body(ModelRequest("m", messages, (TOOL,), output), replace(FIRST_SHAPE, signed=signed), False)
    assert made["generationConfig"]["responseJsonSchema"] == SCHEMA
    assert fake.refusal(made, {"unsigned"} if signed else set(), "m") is None


@settings(max_examples=examples(40))
@given(
    st.text(max_size=30),
    CALLED.map(lambda each: [{"name": "add", "arguments": {}} for _ in each]) | st.just([]),
    st.integers(1, 9),
)
def test_l10_a_reply_is_the_same_however_it_is_cut(text, calls, piece):
    entry = behaviour({"content": text or "a", "tool_calls": calls, "piece": piece})
    cut = GeminiAssembly()
    said = [cut.feed("", _understood(each.removeprefix(b"data: "))) for each in fake.events(entry, "m")]
    assert cut.finish() == reply(_understood(fake.body(entry, "m")))
    assert "".join(said) == (text or "a")


FIELDS = st.sampled_from(
    [
        *("candidates", "content", "parts", "text", "thought", "functionCall", "name", "args", "finishReason", "error"),
        *(
            "promptFeedback",
            "blockReason",
            "safetyRatings",
            "usageMetadata",
            "promptTokenCount",
            "modelVersion",
            "code",
        ),
    ]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.sampled_from(["STOP", "SAFETY", "x", ""])


@settings(max_examples=examples(200), deadline=None)
@given(
    st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner), max_leaves=12),
    st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner), max_leaves=9),
)
def test_x9_whatever_a_service_sends_is_a_reply_or_a_problem(value, part):
    for data in (
        value,
        {"candidates": [value]},
        {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]},
    ):
        try:
            made: Any = reply(data if isinstance(data, dict) else {"candidates": data})
        except (ExchangeProblem, StatusProblem) as problem:
            made = problem
        assert isinstance(made, ModelReply | ExchangeProblem | StatusProblem)


def _understood(data: bytes) -> Any:
    from google.genai import types

    dump = types.GenerateContentResponse.model_validate_json(data).model_dump_json(by_alias=True, exclude_none=True)
    return json.loads(dump)


# --- how it is chosen


def chosen(environ: dict[str, str], **options: Any) -> Any:
    settings = Settings()
    given = with_provider(Options(**options), settings, environ)
    return asyncio.run(
        choose_provider(given, Environment(environ, settings), row_of_model(given.model, given, settings))
    )


def test_x7_the_prefix_google_asks_googles_own_interface_with_the_users_key_and_address(whole):
    around = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": whole.server.google_url, "GOOGLE_API_KEY": "another"}
    found = chosen(around, model="google/gemini-2.5-flash")
    assert (type(found.provider), found.service) == (GoogleProvider, whole.server.google_url)
    whole.server.script("hello")
    assert asyncio.run(found.provider.complete(request(output=None))).content == "hello"
    assert chosen({"GOOGLE_API_KEY": KEY}, model="gemini/m").service == (
        "https://generativelanguage.googleapis.com/v1beta"
    )


def test_x7_without_a_key_of_its_own_google_is_not_asked():
    with pytest.raises(ProviderError, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set"):
        chosen({"OPENAI_API_KEY": KEY}, model="google/m")


def test_x7_a_service_is_asked_without_its_library(monkeypatch):
    for name in ("google", "google.genai", "anthropic"):
        monkeypatch.setitem(sys.modules, name, None)
    assert type(chosen({"GEMINI_API_KEY": KEY}, model="google/m").provider) is GoogleProvider
    assert type(chosen({"ANTHROPIC_API_KEY": KEY}, model="anthropic/m").provider) is AnthropicProvider
    settings = Settings()
    given = with_provider(Options(model="google/m"), settings, {})
    said = service_words(given, Environment({"GEMINI_API_KEY": KEY}, settings))
    assert said == "google at https://generativelanguage.googleapis.com/v1beta, key from GEMINI_API_KEY"


def test_pa12_a_raw_prompt_is_not_for_google():
    with pytest.raises(ProviderError, match="answers conversations only"):
        chosen({"GEMINI_API_KEY": KEY}, model="google/m", completion=True)
