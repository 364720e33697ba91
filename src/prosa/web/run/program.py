"""`POST /mdh/run/…`: a program as an action (H12, H19), and `GET /mdh/schema/…`: the schema of its answer (H11).

A program runs as `prosa run` would run it, with imports inside the site only (X5). Its own MCP servers and sites are
reached only where the user allowed that too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.app.run.load import ready_program
from prosa.app.runs import Job
from prosa.app.site.published import unpublished
from prosa.asgi import Receive, Scope, Send
from prosa.data import Value
from prosa.dialects.table import MARKDOWNLANG
from prosa.render.json import dump
from prosa.runtime.accept import accept_input
from prosa.runtime.errors import RunError
from prosa.runtime.messages import Meter
from prosa.source import FileProblem
from prosa.web.answer import NEVER, PRIVATE, PUBLIC, Answer, answer, send_answer
from prosa.web.run.admission import (
    csrf_of,
    document_below,
    json_body,
    read_body,
    require_intent,
    require_method,
    require_reader,
    require_runner,
)
from prosa.web.run.problem import GONE, ClientGone, Refused, problem, refusal, taken
from prosa.web.run.result import waited
from prosa.web.run.runner import RUN, SCHEMA, idempotency_key, keep_when_done, output_schema

if TYPE_CHECKING:
    from prosa.runtime.program import Program
    from prosa.web.context import Web
    from prosa.web.run.runner import Runner


async def run_program_action(scope: Scope, receive: Receive, send: Send, web: Web, methods: Sequence[str]) -> int:
    """Return the endpoint. Return the status that was sent; 499 where the client did not wait."""
    try:
        response = await _answered(scope, receive, web, methods)
    except Refused as refused:
        response = refused.answer()
    except ClientGone:
        return GONE
    return await send_answer(scope, send, response)


async def _answered(scope: Scope, receive: Receive, web: Web, methods: Sequence[str]) -> Answer:
    runner = require_runner(web)
    require_method(scope, *methods)
    require_intent(web, require_reader(scope, web), csrf_of(scope))
    document = await asyncio.to_thread(document_below, scope, web, RUN)
    if document.view.dialect != "markdownlang":
        raise Refused(404, "The document is not a program.")
    key, body = idempotency_key(scope), await read_body(scope, receive)
    input_value = json_body(scope, body)
    if key and (known := runner.kept.begin(document.path, key, body)) is not None:
        return known
    try:
        task = await _begun(runner, web, document.path, input_value)
    except BaseException:
        if key:
            runner.kept.forget(document.path, key)
        raise
    if key:
        keep_when_done(runner, document.path, key, task)
    return await waited(task, receive, stays=bool(key))


async def _begun(runner: Runner, web: Web, path: str, input_value: Value) -> asyncio.Task[Answer]:
    try:
        program, data = await asyncio.to_thread(_accepted, runner, web, path, input_value)
        return runner.begin(_outcome(runner, program, data))
    except (RunError, FileProblem) as error:
        raise refusal(error, runner.root) from None


def _accepted(runner: Runner, web: Web, path: str, input_value: Value) -> tuple[Program, Value]:
    """Return the program, and its input with the defaults of its schema. All refusals happen here, before any model
    call. Raises `Refused`, `RunError`, `FileProblem`."""
    program = ready_program(runner.root / path, runner.options, runner.environment, within=runner.root)
    _require_published(program, web)
    return program, accept_input(program, input_value)


def _require_published(program: Program, web: Web) -> None:
    """Refuse imports that are not published: a caller could extract their content (X23)."""
    for name in unpublished(web.site, program):
        raise Refused(403, f"The program imports `{name}`, which is not published here.")


async def _outcome(runner: Runner, program: Program, data: Value) -> Answer:
    """Run it; what goes wrong is an answer too."""
    meter = Meter()
    try:
        output = await runner.run(Job(program.name, program, data), meter)
    except Exception as error:
        refused = refusal(error, runner.root)
        runner.tell(program.name, refused, error)
        return problem(refused.status, refused.detail, headers=(*refused.headers, *taken(meter)), wrong=refused.wrong)
    return answer(f"{dump(output)}\n", "application/json", cache=NEVER, headers=taken(meter))


SCHEMA_TYPE = "application/schema+json"


async def show_schema(scope: Scope, receive: Receive, send: Send, web: Web, methods: Sequence[str]) -> int:
    """Return the endpoint. Return the status that was sent."""
    del receive
    try:
        require_method(scope, *methods)
        response = await asyncio.to_thread(_schema, scope, web)
    except Refused as refused:
        response = refused.answer()
    return await send_answer(scope, send, response)


def _schema(scope: Scope, web: Web) -> Answer:
    view = document_below(scope, web, SCHEMA).view
    model = view.reading.model_of(MARKDOWNLANG) if view.reading is not None else None
    if model is None:
        raise Refused(404, "The document is not a program.")
    cache = PRIVATE if web.closed else PUBLIC
    return answer(f"{dump(output_schema(model))}\n", SCHEMA_TYPE, cache=cache)
