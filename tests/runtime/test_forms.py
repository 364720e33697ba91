"""Programs whose output is no JSON, conversations, parameters, and how many answers may be rejected."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from prosa.records.plan import first_messages, plan
from prosa.runtime.errors import AnswerCut, OutputRefused, RunError
from prosa.runtime.events import Noticed
from prosa.runtime.messages import Message
from prosa.runtime.output import is_image_url
from prosa.runtime.parameters import refused_parameters
from prosa.runtime.program import Program
from prosa.template import Template
from tests.runtime.worlds import FakeSandbox, call, load, run

TEXT = Program("talk", "", Template("Say {{ .what }}."), True, True, "gpt-4o", python=False, form="text")
CHAT = replace(TEXT, conversation=(Message("system", "Be brief."), Message("user", "Hi", name="ada")))


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("reply", ["# A heading\n", "", '{"a": 1}', "```json\n{}\n```"])
def test_m34_text_and_markdown_are_the_reply_as_it_is(form: Any, reply: str):
    ran = run(replace(TEXT, form=form), {"what": "hello"}, [{"content": reply}])
    assert ran.output == reply
    (request,) = ran.requests
    assert request.messages == (Message("user", "Say hello."),)
    assert (request.output, request.tools, request.parameters) == (None, (), {})


HALF = {"content": "half a sen", "finish": "length"}


def test_la28_text_that_was_cut_off_is_a_failure():
    ran = run(TEXT, {}, [HALF])
    assert isinstance(ran.error, AnswerCut)
    assert (ran.error.content, ran.error.message) == (
        "half a sen",
        "the answer was cut off at the length limit of the model",
    )
    assert "--allow-cut" in ran.error.hint
    assert (ran.summary.success, ran.summary.cut) == (False, False)


def test_la28_text_that_was_cut_off_is_taken_where_the_user_allows_it_and_says_so():
    ran = run(TEXT, {}, [HALF], allow_cut=True)
    assert (ran.output, ran.summary.cut, ran.summary.as_dict()["cut"]) == ("half a sen", True, True)
    (notice,) = (event for event in ran.events if isinstance(event, Noticed))
    assert notice.message == "talk: the answer was cut off at the length limit of the model, and is accepted as it is"
    assert ran.events[-1].cut


def test_la28_a_url_that_was_cut_off_is_asked_for_again():
    cut, whole = {"content": "https://example.org/a.p", "finish": "length"}, {"content": "https://example.org/a.png"}
    ran = run(replace(TEXT, form="image-url"), {}, [cut, whole])
    assert (ran.output, len(ran.requests)) == ("https://example.org/a.png", 2)


@pytest.mark.parametrize(
    ("content", "asked"), [("1", 2), ("true", 2), ('{"a": 1}', 1), ("[1, 2]", 1), ('{"a": 1', 2), ('"x"', 1)]
)
def test_la28_json_that_was_cut_off_counts_only_where_its_end_is_there(content: str, asked: int):
    program = replace(TEXT, form="json", output_schema=True)
    ran = run(program, {}, [{"content": content, "finish": "length"}, {"content": "[]"}])
    assert (ran.error, len(ran.requests)) == (None, asked)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("https://example.org/a.png", True),
        ("http://[::1]:8080/a?b=c#d", True),
        ("data:image/png;base64,iVBORw0KGgo=", True),
        ("data:image/svg+xml,%3Csvg/%3E", True),
        ("data:text/html,hello", False),
        ("javascript:alert(1)", False),
        ("ftp://example.org/a.png", False),
        ("//example.org/a.png", False),
        ("https://", False),
        ("https://a b", False),
        ("https://example.org/\n", False),
        ('https://example.org/"onload', False),
        ("https://example.org:99999/", False),
        ("https://[", False),
        ("", False),
        ("https://example.org/" + "a" * 9000, False),
    ],
)
def test_m34_what_counts_as_the_url_of_an_image(text: str, is_one: bool):
    assert is_image_url(text) is is_one


def test_m34_an_image_url_is_checked_and_never_fetched():
    picture = replace(TEXT, form="image-url", rejections=1)
    ran = run(picture, {}, [{"content": "Here you are: <img>"}, {"content": " https://example.org/a.png\n"}])
    assert ran.output == "https://example.org/a.png"
    first, second = ran.requests
    assert first.messages[0] == Message("system", "Answer with one absolute URL of an image and with nothing else.")
    assert "not one absolute http" in second.messages[0].content
    assert second.messages[-2] == Message("assistant", "Here you are: <img>")
    assert second.messages[-1].role == "user" and "not one absolute http" in second.messages[-1].content


def test_x15b_a_conversation_is_sent_as_it_is():
    ran = run(CHAT, {}, [{"content": "Hello!"}])
    assert ran.output == "Hello!"
    assert ran.requests[0].messages == CHAT.conversation
    assert first_messages(CHAT, {}) == CHAT.conversation


def test_x15b_a_conversation_with_tools_runs_on_the_same_loop(tmp_path):
    chat = replace(CHAT, python=True, limits=replace(CHAT.limits, iterations=2))
    code = {"code": "print(1)"}
    replies = [{"content": "", "tool_calls": [call("python", code)]}, {"content": "One."}]
    ran = run(chat, {}, replies, sandbox=FakeSandbox())
    assert ran.output == "One."
    last = ran.requests[1].messages
    assert [message.role for message in last] == ["system", "user", "assistant", "tool"]
    assert last[0].content.startswith("Be brief.\n\nThis is the last iteration")
    assert ran.requests[1].tools == ()


def test_x24_la8_feedback_on_a_conversation_comes_in_front_and_last():
    chat = replace(CHAT, form="json", output_schema={"type": "integer"})
    ran = run(chat, {}, [{"content": "many"}, {"content": {"value": 3}}])
    assert ran.output == 3
    first, second = (request.messages for request in ran.requests)
    assert first[1] == second[1] == CHAT.conversation[1]
    assert first[0].content.startswith("Be brief.\n\nAnswer with one JSON value")
    assert "JSON Schema" in first[0].content and "not accepted" not in first[0].content
    assert [message.role for message in second] == ["system", "user", "assistant", "user"]
    assert "not accepted" in second[0].content and "not accepted" in second[-1].content


def test_a_tool_call_where_there_are_no_tools_any_more_is_answered_in_the_words_of_the_form():
    chat = replace(CHAT, limits=replace(CHAT.limits, iterations=1))
    ran = run(chat, {}, [{"tool_calls": [call("python", {})]}])
    assert "no tools are available any more; answer with the text" in ran.error.message


@pytest.mark.parametrize(("allowed", "asked"), [(0, 1), (2, 3), (None, 10), (50, 10)])
def test_m32_answers_that_may_be_rejected_are_counted(allowed: int | None, asked: int, tmp_path):
    ran = run(replace(load(tmp_path), rejections=allowed), {}, [{"content": "no"}] * 20)
    assert isinstance(ran.error, OutputRefused)
    assert len(ran.requests) == asked
    assert ("retry-times" in ran.error.hint) is (asked < 10)


def test_m31_parameters_go_into_every_request(tmp_path):
    given = {"temperature": 0.5, "of_tomorrow": {"deep": [1]}}
    ran = run(replace(load(tmp_path), parameters=given), {}, [{"content": "no"}, {"content": {"n": 1}}])
    assert [request.parameters for request in ran.requests] == [given, given]


@pytest.mark.parametrize(
    "name",
    [
        "model",
        "messages",
        "tools",
        "tool-choice",
        "toolChoice",
        "stream",
        "response-format",
        "response_format",
        "extra-headers",
        "headers",
        "base-url",
        "callback-urls",
        "api-key",
        "input",
        "instructions",
        "endpoint",
    ],
)
def test_m31_x7_no_parameter_changes_what_a_request_is(name: str):
    ran = run(replace(TEXT, parameters={name: "x"}), {}, [{"content": "never asked"}])
    assert isinstance(ran.error, RunError)
    assert ran.error.message == f"the parameter `{name}` is refused" and ran.error.hint
    assert ran.requests == []


def test_parameters_that_shape_an_answer_are_allowed():
    allowed = {"temperature": 1, "max-tokens": 5, "seed": 7, "n": 1, "text": {"verbosity": "low"}, "user": "me"}
    assert refused_parameters(allowed) == {}
    assert set(refused_parameters({"n": 2, "text": {"format": {}}})) == {"n", "text"}
    assert len(refused_parameters({f"p{number}": 1 for number in range(100)})) == 1


def test_m30_instructions_stand_before_the_description(tmp_path):
    program = replace(load(tmp_path), instructions="Act as a clerk.")
    system = first_messages(program, {"text": "x"})[0].content
    assert system.startswith("Act as a clerk.\n\nGives a number.\n\nAnswer with one JSON value")


def test_a_plan_of_text_has_no_schema():
    planned = plan(TEXT, {"what": "hi"}, has_input=True, service="nobody").as_dict()
    assert planned["messages"] == [{"role": "user", "content": "Say hi."}]
    sent = {"schema": {}, "strict": False, "wrapped": False, "lowered": [], "form": "text"}
    assert planned["response_format"] == sent
    assert planned["tools"] == []
