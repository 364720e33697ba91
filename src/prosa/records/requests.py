"""The requests of a run as its journal keeps them: each as what it adds to the one before it.

In: requests, or the calls of a journal. Out: what is kept of a request, and requests that are whole again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec import convert

from prosa.data import Value
from prosa.records.run import CallRecord
from prosa.runtime.digest import Encodable
from prosa.runtime.messages import Message, ModelRequest


def request_content(request: ModelRequest, after: str, before: ModelRequest | None) -> dict[str, Encodable]:
    """Return a request as the journal keeps it: the messages that follow those of the request at the path ``after``;
    tools, output and parameters where they changed."""
    messages: tuple[Message, ...] = request.messages
    content: dict[str, Encodable] = {"after": None, "messages": messages}
    if before is not None and messages[: len(before.messages)] == before.messages:
        content = {"after": after, "messages": messages[len(before.messages) :]}
    for name in ("tools", "output", "parameters"):
        value = getattr(request, name)
        if before is None or getattr(before, name) != value:
            content[name] = value
    return content


def requests_of(calls: Iterable[CallRecord]) -> Iterator[tuple[str, ModelRequest]]:
    """Yield the requests that a journal kept, whole, by their paths."""
    known: dict[str, dict[str, Value]] = {}
    sent: dict[str, list[Value]] = {}
    for call in calls:
        if call.kind != "model" or call.request is None:
            continue
        scope = call.path.rpartition("/")[0]
        before, content = known.get(scope, {}), json.loads(call.request)
        if content.pop("after") is not None:
            content["messages"] = [*sent.get(scope, ()), *content["messages"]]
        sent[scope] = content["messages"]
        known[scope] = {**before, **content, "model_name": call.name, "program": call.program}
        yield call.path, convert(known[scope], ModelRequest)
