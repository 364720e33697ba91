"""`GET /mdh/schema/…`: the JSON Schema of what a program answers, which its action names (H11)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.dialects.table import MARKDOWNLANG
from prosa.render.json import dump
from prosa.web.answer import PRIVATE, PUBLIC, Answer, Receive, Scope, Send, answer, send_answer
from prosa.web.run.actions import SCHEMA, output_schema
from prosa.web.run.admission import document_below, require_method
from prosa.web.run.problem import Refused

if TYPE_CHECKING:
    from prosa.web.context import Web

SCHEMA_TYPE = "application/schema+json"


async def show_schema(scope: Scope, receive: Receive, send: Send, web: Web, methods: Sequence[str]) -> int:
    """Return the endpoint. Return the status that was sent."""
    del receive
    try:
        require_method(scope, *methods)
        found = await asyncio.to_thread(_schema, scope, web)
    except Refused as refused:
        found = refused.answer()
    return await send_answer(scope, send, found)


def _schema(scope: Scope, web: Web) -> Answer:
    view = document_below(scope, web, SCHEMA).view
    model = view.reading.model_of(MARKDOWNLANG) if view.reading is not None else None
    if model is None:
        raise Refused(404, "The document is no program.")
    cache = PRIVATE if web.closed else PUBLIC
    return answer(f"{dump(output_schema(model))}\n", SCHEMA_TYPE, cache=cache)
