"""X24: what a service refuses of the messages is given up for it, and remembered for that model."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.adapters.providers.completion import shaped
from prosa.adapters.providers.request_shape import RequestShape
from prosa.runtime.messages import Message, ToolCall
from tests.adapters.providers.asking import TOOL, Way, only, request
from tests.depth import examples
from tests.model_server.server import ModelServer

SYSTEM = Message("system", "Count.")
TWO_USERS = (SYSTEM, Message("user", "one", name="ada"), Message("user", "two"))
CALLS = (ToolCall("a1", "add", "{}"), ToolCall("b2", "add", '{"a": 2}'))
SEVERAL = (
    SYSTEM,
    Message("user", "Add."),
    Message("assistant", "Adding.", CALLS),
    Message("tool", "1", tool_call_id="a1"),
    Message("tool", "2", tool_call_id="b2"),
)


def sent(server: ModelServer) -> list[list[tuple[Any, Any]]]:
    """Role and text of every message, request by request."""
    return [[_said(item) for item in body.get("messages") or body["input"]] for body in server.bodies]


def _said(item: dict[str, Any]) -> tuple[Any, Any]:
    content = item.get("content", item.get("output"))
    return item.get("role") or item["type"], content[0]["text"] if isinstance(content, list) else content


@only("chat", "responses")
def test_x24_two_user_messages_are_joined_where_they_are_refused(way: Way) -> None:
    way.server.refuses = {"two-users"}
    way.server.default = {"content": {"n": 2}}
    way.ask(request(messages=TWO_USERS), request(messages=TWO_USERS), request(messages=TWO_USERS, model_name="m-2"))
    users = [[text for role, text in each if role == "user"] for each in sent(way.server)]
    assert users == [["one", "two"], ["ada:\none\n\ntwo"], ["ada:\none\n\ntwo"], ["one", "two"], ["ada:\none\n\ntwo"]]


@only("chat", "responses")
def test_x24_a_refused_system_role_goes_into_the_first_user_message(way: Way) -> None:
    way.server.refuses = {"system", "two-users"}
    way.server.default = {"content": {"n": 2}}
    way.ask(request(), request(messages=TWO_USERS))
    assert sent(way.server)[1] == [("user", "Count.\n\none two")]
    assert sent(way.server)[-1] == [("user", "Count.\n\nada:\none\n\ntwo")]
    assert "instructions" not in way.server.bodies[-1]


@only("chat", "responses")
@pytest.mark.parametrize("also", [set(), {"parallel_tool_calls"}])
def test_x24_several_tool_calls_at_once_become_one_at_a_time(way: Way, also: set[str]) -> None:
    way.server.refuses = {"several-calls", *also}
    way.server.default = {"content": {"n": 2}}
    way.ask(request(messages=SEVERAL, tools=(TOOL,)), request(tools=(TOOL,)))
    roles = [role for role, _ in sent(way.server)[-2]]
    assert roles[-4:] in (
        ["assistant", "tool", "assistant", "tool"],
        ["function_call", "function_call_output", "function_call", "function_call_output"],
    )
    wanted = None if also else False
    assert [body.get("parallel_tool_calls") for body in way.server.bodies[-2:]] == [wanted, wanted]
    assert len(way.server.bodies) == 3 + len(also)


@only("chat", "responses")
def test_x24_everything_that_can_be_refused_at_once(way: Way) -> None:
    way.server.refuses = {"several-calls", "two-users", "system", "json_schema", "json_object"}
    way.server.default = {"content": {"n": 2}}
    more = (Message("assistant", "Three."), Message("user", "No."), Message("user", "Again."))
    way.ask(*[request(messages=(*SEVERAL, *more), tools=(TOOL,))] * 2)
    first, second = way.server.bodies[-2:]
    assert first == second
    assert len(way.server.bodies) == 7


@pytest.mark.parametrize(
    "message",
    [
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "After the optional system message, conversation roles must alternate user and assistant roles",
        'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_x24_words_for_two_users(model_server: ModelServer, message: str, status: int) -> None:
    """X24: servers report what a chat template raises with different statuses."""
    model_server.script({"status": status, "message": message}, {"content": {"n": 1}})
    Way(model_server, "chat", False, []).ask(request(messages=TWO_USERS))
    assert [len(each) for each in sent(model_server)] == [3, 2]


@pytest.mark.parametrize(
    "message",
    [
        "System role not supported",
        "Only user and assistant roles are supported!",
        "Developer instruction is not enabled",
    ],
)
def test_x24_words_for_the_system_role(model_server: ModelServer, message: str) -> None:
    model_server.script({"status": 400, "message": message}, {"content": {"n": 1}})
    Way(model_server, "chat", False, []).ask()
    assert [len(each) for each in sent(model_server)] == [2, 1]


@pytest.mark.parametrize(
    "entry",
    [
        {"status": 400, "message": "roles must alternate"},
        {"status": 500, "message": "CUDA out of memory"},
        {"status": 503, "message": "the system is in maintenance"},
        {"status": 400, "message": "only single tool-calls"},
    ],
)
def test_x24_a_refusal_of_what_was_not_sent_changes_nothing(way: Way, entry: dict[str, Any]) -> None:
    way.server.script(entry)
    assert way.fail(request(output=None)).status == entry["status"]
    assert len(way.server.bodies) == 1


ASSISTANT_LAST = (Message("user", "Hi."), Message("assistant", "Hello."))


@pytest.mark.parametrize(
    "entry",
    [
        {"content": "Hello."},
        {"content": "Hello. And more"},
        {"status": 400, "message": "Expected last role User or Tool for serving but got assistant"},
        {"status": 400, "message": "This model does not support assistant message prefill."},
    ],
)
def test_pa17_a_service_that_takes_a_last_assistant_message_as_a_prefill(way: Way, entry: dict[str, Any]) -> None:
    """PA17: there is a sentence, and nothing of the repeated text is handed over."""
    way.server.checks = False
    way.server.script(entry)
    error = way.fail(request(messages=ASSISTANT_LAST, output=None))
    assert "beginning of its own answer" in error.message and "message of the user" in error.hint
    assert (way.pieces, error.retryable) == ([], False)


@only("chat", "responses")
def test_pa17_a_service_that_gives_another_turn_is_heard(way: Way) -> None:
    way.server.checks = False
    way.server.script("More.")
    assert way.ask(request(messages=ASSISTANT_LAST, output=None)).content == "More."
    assert way.pieces == (["More."] if way.stream else [])


STEPS = st.lists(st.sampled_from(["user", "calls", "answer"]), max_size=8)
FORMS = st.builds(
    RequestShape,
    joined_users=st.booleans(),
    system_role=st.booleans(),
    calls=st.sampled_from(["several", "one", "apart"]),
)


@given(STEPS, FORMS, st.integers(1, 3))
@settings(max_examples=examples(200), deadline=None)
def test_x24_every_shape_says_the_same(steps: list[str], form: RequestShape, count: int) -> None:
    """X24: whatever is given up, the order stays right, no text and no call is lost, and nothing is there twice."""
    messages = [SYSTEM, Message("user", "begin")]
    for at, step in enumerate(steps):
        if step == "user":
            messages.append(Message("user", f"u{at}", name="ada"))
        elif step == "answer":
            messages += [Message("assistant", f"a{at}"), Message("user", f"r{at}")]
        else:
            calls = tuple(ToolCall(f"c{each}", "add", "{}") for each in range(count))
            messages.append(Message("assistant", f"t{at}", calls))
            messages += [Message("tool", f"{at}-{call.id}", tool_call_id=call.id) for call in calls]
    made = shaped(replace(request(tools=(TOOL,)), messages=tuple(messages)), form)
    roles = [each.role for each in made.messages]
    assert ("assistant", "assistant") not in pairwise(roles) and "system" not in roles[1:]
    assert form.system_role or "system" not in roles
    assert not form.joined_users or ("user", "user") not in pairwise(roles)
    assert form.calls == "several" or all(len(each.tool_calls) < 2 for each in made.messages)
    text = "\n".join(each.content for each in made.messages)
    assert all(text.count(each.content) >= 1 for each in messages)
    results = [each.content for each in made.messages if each.role == "tool"]
    assert results == [each.content for each in messages if each.role == "tool"]
    assert sum(len(each.tool_calls) for each in made.messages) == sum(len(each.tool_calls) for each in messages)


def test_x24_a_new_provider_asks_as_everybody_should(model_server: ModelServer) -> None:
    model_server.refuses = {"two-users"}
    model_server.default = "ok"
    way = Way(model_server, "chat", False, [])
    for _ in range(2):
        asyncio.run(_ask(way))
    assert [len(each) for each in sent(model_server)] == [3, 2, 3, 2]


async def _ask(way: Way) -> None:
    provider = way.provider()
    await provider.complete(request(messages=TWO_USERS, output=None))
    await provider.aclose()
