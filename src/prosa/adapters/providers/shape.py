"""A request in the shape that a service takes: user messages joined, no system role, one tool call at a time (X24).

In: a request as every service should take it, and a form. Out: the same request for one that refused a part of it.
What is said stays the same, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from prosa.adapters.providers.ladder import Form
from prosa.runtime.messages import Message, ModelRequest
from prosa.runtime.sequence import join_neighbours, joined

ONE_CALL = "parallel_tool_calls"


def shaped(request: ModelRequest, form: Form) -> ModelRequest:
    """The request in the shape of the form."""
    messages: Sequence[Message] = request.messages
    parameters = request.parameters
    if not form.system_role:
        messages = _without_system(messages)
    if form.joined_users:
        messages = join_neighbours(messages, "user")
    if form.calls != "several":
        messages = tuple(_one_call_each(messages))
        if request.tools:
            parameters = {name: value for name, value in parameters.items() if name != ONE_CALL}
            parameters |= {ONE_CALL: False} if form.calls == "one" else {}
    if messages is request.messages and parameters is request.parameters:
        return request
    return replace(request, messages=tuple(messages), parameters=parameters)


def _without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """System messages as the beginning of the first user message."""
    system = [replace(each, role="user", name=None) for each in messages if each.role == "system"]
    rest = [each for each in messages if each.role != "system"]
    at = next((at for at, each in enumerate(rest) if each.role == "user"), None)
    if not system or at is None:
        return (*system, *rest)
    return (*rest[:at], joined([*system, rest[at]]), *rest[at + 1 :])


def _one_call_each(messages: Sequence[Message]) -> Iterator[Message]:
    """Several calls of one reply as several replies, each with its own result. Replies may repeat the ids of others."""
    waiting: list[Message] = []
    for each in messages:
        if len(each.tool_calls) > 1:
            first, *rest = each.tool_calls
            yield replace(each, tool_calls=(first,))
            waiting = [replace(each, content="", tool_calls=(call,)) for call in rest]
            continue
        yield each
        if each.role == "tool" and waiting:
            yield waiting.pop(0)
