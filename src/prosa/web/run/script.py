"""`POST /mdh/scripts/…`: an interactive ai-script of a document, run for a reader who has signed in (M37–M39, MA12).

In: a form or JSON with `script`, `text` and `csrf`. Out: the result as events, as JSON or as a page, according to
`Accept`. It is not written to a document. A script that is not interactive cannot be run from here (MA15), and gets no
tools (X15).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.scripts.choose import ScriptNotRun, selection
from prosa.app.scripts.load import load_scripts
from prosa.asgi import Receive, Scope, Send
from prosa.data import Value
from prosa.dialects.magi.choosing import Choice, takes_text
from prosa.render.page.bodies import is_interactive
from prosa.render.page.model import Crumb, in_query
from prosa.runtime.errors import RunError
from prosa.runtime.events import ignore
from prosa.runtime.messages import Meter
from prosa.site.negotiate import choose
from prosa.source import FileProblem
from prosa.source.url import quoted_path
from prosa.web.answer import Answer, header_of, send_answer
from prosa.web.event_stream import EVENTS
from prosa.web.run.admission import (
    below,
    csrf_of,
    document_below,
    form_fields,
    read_body,
    require_intent,
    require_method,
    require_reader,
    require_runner,
)
from prosa.web.run.problem import GONE, ClientGone, Refused, refusal, taken
from prosa.web.run.result import Live, Result, said, streamed, waited

if TYPE_CHECKING:
    from prosa.app.scripts.load import ScriptFile, ScriptJob
    from prosa.dialects.magi import Script
    from prosa.runtime.events import Listener
    from prosa.web.context import Web
    from prosa.web.locate import Document
    from prosa.web.run.runner import Runner

SCRIPTS = "/mdh/scripts"
MAX_TEXT = 100_000
"""Characters that a reader may enter; an input box holds far less."""

_KINDS = {"error": 422, "environment": 422, "text": 400}
"""The status for a script that cannot run, by what keeps it."""


class _Asked(Struct, frozen=True):
    """A script that is ready, of a document that is published."""

    runner: Runner
    document: Document
    job: ScriptJob

    @property
    def label(self) -> str:
        """The text of its button."""
        return self.job.script.fields.text("interactive-label") or self.job.script.address


async def run_script(scope: Scope, receive: Receive, send: Send, web: Web, methods: Sequence[str]) -> int:
    """Return the endpoint. Return the status that was sent; 499 where the client did not wait."""
    events = _wants_events(header_of(scope, b"accept"))
    try:
        asked = await _asked(scope, receive, web, methods)
        if events:
            return await _as_events(receive, send, asked)
        answer = await _as_whole(scope, receive, web, asked)
    except Refused as refused:
        answer = _refused(scope, web, refused, events=events)
    except ClientGone:
        return GONE
    return await send_answer(scope, send, answer)


async def _asked(scope: Scope, receive: Receive, web: Web, methods: Sequence[str]) -> _Asked:
    runner = require_runner(web)
    require_method(scope, *methods)
    reader = require_reader(scope, web)
    fields = form_fields(scope, await read_body(scope, receive))
    require_intent(web, reader, csrf_of(scope) or fields.get("csrf", ""))
    return await asyncio.to_thread(_prepared, scope, web, runner, fields)


def _prepared(scope: Scope, web: Web, runner: Runner, fields: dict[str, str]) -> _Asked:
    """Return the script made ready. Reads files. Raises `Refused`."""
    document = document_below(scope, web, SCRIPTS)
    if document.view.dialect != "magi":
        raise Refused(404, "The document has no scripts.")
    try:
        file = load_scripts(
            runner.root / document.path, runner.options, runner.environment.settings, within=runner.root
        )
        script = _interactive(file, fields.get("script", ""))
        return _Asked(runner, document, _job(file, script, runner, _text(script, fields)))
    except (RunError, FileProblem) as error:
        raise refusal(error, runner.root) from None


def _interactive(file: ScriptFile, address: str) -> Script:
    """Return the script at an address. One that is not interactive is as good as absent: its reader never saw it
    (M42)."""
    for script in file.scripts:
        if script.address == address and is_interactive(script):
            return script
    raise Refused(404, "The document has no such script for its readers.")


def _text(script: Script, fields: dict[str, str]) -> str | None:
    """Return what the reader entered, for a script that takes a text. Raises `Refused`."""
    if not takes_text(script):
        return None
    text = fields.get("text", "")
    if not text.strip() or len(text) > MAX_TEXT:
        raise Refused(400, f"`text` must be what was entered: from 1 to {MAX_TEXT:,} characters.")
    return text


def _job(file: ScriptFile, script: Script, runner: Runner, text: str | None) -> ScriptJob:
    """Return the one job. Raises `Refused` and `RunError`."""
    chosen = selection(file, Choice(ids=(script.address,), text=text), runner.options, runner.environment)
    try:
        chosen.require_named()
    except ScriptNotRun as error:
        why = f"The script cannot run: {error.why}".replace(f"{runner.root}/", "")
        raise Refused(_KINDS.get(error.kind, 422), why) from None
    return chosen.preparing.ready(script, text)


async def _ran(asked: _Asked, listener: Listener | None = None) -> Result:
    """Run it. Raises `Refused` for any failure."""
    job, runner, meter = asked.job, asked.runner, Meter()
    since = time.monotonic()
    speaks = listener is not None and job.form in ("text", "markdown")
    try:
        output = await runner.run(replace(job, stream=speaks), meter, listener or ignore)
    except Exception as error:
        refused = refusal(error, runner.root)
        runner.tell(job.program.name, refused, error)
        raise Refused(refused.status, refused.detail, headers=(*refused.headers, *taken(meter))) from None
    return Result(job.script.address, output, job.form, time.monotonic() - since, meter)


def _begun(asked: _Asked, listener: Listener | None = None) -> asyncio.Task[Result]:
    try:
        return asked.runner.begin(_ran(asked, listener))
    except RunError as error:
        raise refusal(error, asked.runner.root) from None


async def _as_events(receive: Receive, send: Send, asked: _Asked) -> int:
    live = Live()
    task = _begun(asked, live)

    def last() -> tuple[str, dict[str, Value]]:
        error = task.exception() if not task.cancelled() else Refused(503, "The server is being stopped.")
        if error is None:
            return "done", task.result().event
        return "failed", {"message": error.detail if isinstance(error, Refused) else "The run failed."}

    return await streamed(receive, send, task, live, last)


async def _as_whole(scope: Scope, receive: Receive, web: Web, asked: _Asked) -> Answer:
    result = await waited(_begun(asked), receive)
    if choose(header_of(scope, b"accept")) != "html":
        return result.json()
    view = asked.document.view
    return result.page(web.frame(web.sessions.reader(scope)), asked.label, Crumb(view.title, view.url))


def _refused(scope: Scope, web: Web, refused: Refused, *, events: bool) -> Answer:
    """Return a problem, or a page for a browser; it leads one who has not signed in to where that is done."""
    if events or choose(header_of(scope, b"accept")) != "html":
        return refused.answer()
    node = below(scope, web, SCRIPTS) or "/"
    rows = [Crumb("Back to the page", _encoded(node))]
    if refused.status == 401:
        rows.insert(0, Crumb("Sign in", f"/mdh/sign-in?back={in_query(web.prefix + _encoded(node))}"))
    frame = web.frame(web.sessions.reader(scope))
    return said(frame, refused.status, refused.title, refused.detail, tuple(rows), headers=refused.headers)


def _encoded(path: str) -> str:

    return quoted_path(path)


def _wants_events(accept: str) -> bool:
    """Return whether a client requests events explicitly."""
    return any(
        kind.strip().lower() == EVENTS and "q=0" not in more.replace(" ", "").split(";")
        for kind, _, more in (item.partition(";") for item in accept[:4096].split(","))
    )
