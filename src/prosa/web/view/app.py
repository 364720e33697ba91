"""`prosa view` as an ASGI application: the list of what a store has, the page of each record, and what changes (X37).

In: the place of a store. Out: `ViewApp`. Every page needs the token, as those of a closed site do, under the same
checks of `Host`, `Origin`, size and rate (X8, X23). The store is only read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias
from urllib.parse import parse_qsl

from msgspec import Struct, field

from prosa.app.journal.history import moment
from prosa.app.options import say_nothing
from prosa.app.view.feedback import save_feedback, test_with_feedback
from prosa.app.view.listing import PricesOf, listed, one_listed
from prosa.app.view.shown import MAX_ROWS, shown_batch, shown_run
from prosa.app.view.watch import StoreWatch
from prosa.asgi import Receive, Scope, Send
from prosa.records.listing import CONDITIONS, RECORD_KINDS, RecordFilter, RecordKind, RecordList
from prosa.records.run import StorePlace
from prosa.records.test import Feedback, Opinion
from prosa.regex import regex
from prosa.render.page.model import Frame, in_query
from prosa.render.page.records import FIELDS, FOLDERS, Lines, lines_of, records_page
from prosa.render.plain import safe
from prosa.render.report.batches import batch_page
from prosa.render.report.frame import viewer_policy
from prosa.render.report.runs import run_page
from prosa.render.report.tests import PER_PAGE, test_pages
from prosa.render.report.viewed import opinion_forms, viewed_page
from prosa.runtime.errors import RunError, StoreProblem
from prosa.web.answer import NEVER, Answer, answer, send_answer
from prosa.web.application import HttpApp, reader_or_refusal, refused, token_required
from prosa.web.assets import page_asset
from prosa.web.context import Attempts, Reader, Sessions
from prosa.web.limits import Guard, Refusal
from prosa.web.run import sign_in as signing
from prosa.web.run.admission import csrf_of, form_fields, read_body, require_intent
from prosa.web.run.problem import GONE, ClientGone, Refused
from prosa.web.run.result import HTML, html_page
from prosa.web.view.live import Broadcast

SIGN_IN, SIGN_OUT, ASSETS = "/mdh/sign-in", "/mdh/sign-out", "/mdh/assets/"
LIVE = "/live"

MAX_FIELDS = 16
"""Parameters of an address; ours are fewer."""

INDEX = "index.html"
"""The first page of a test; further ones have its cases where these are many."""

MAX_FORM = 64 * 1024
"""Bytes of a form with an opinion, the names of a suite and a case included."""

_ID = regex(r"[0-9A-Za-z._-]{1,80}")
_FEEDBACK = regex(r"/tests/([0-9A-Za-z._-]{1,80})/feedback")
_PART = regex(r"cases-[0-9]{1,6}\.html")
_PLACE = regex(r"feedback-[0-9]{1,6}-[0-9]{1,6}")


class View(Struct, frozen=True):
    """One store over HTTP. ``named`` is how the user names its place."""

    place: StorePlace
    sessions: Sessions
    prices: PricesOf
    prefix: str = ""
    attempts: Attempts = field(default_factory=Attempts)

    def frame(self, reader: Reader) -> Frame:
        """Return what all pages share."""
        return Frame("Prosa", self.prefix, signed_in=reader.signed_in, csrf=reader.csrf, of_documents=False)


class Asked(Struct, frozen=True):
    """One request that has passed the guard, its parameters, and who sends it."""

    scope: Scope
    receive: Receive
    send: Send
    reader: Reader
    query: Mapping[str, str]


Handler: TypeAlias = Callable[[Asked, str], Awaitable[int]]


class ViewApp(HttpApp):
    """The application; ``live`` sends what changes."""

    def __init__(self, view: View, guard: Guard, fault: Callable[[str], None] = say_nothing) -> None:
        super().__init__(guard, None, fault)
        self.view = view
        self.live = Broadcast(StoreWatch(view.place))

    async def end(self) -> None:
        """End the looks at the store."""
        await self.live.close()

    async def answered(self, scope: Scope, receive: Receive, send: Send) -> int:
        """Answer one request."""
        reader, locked_out = reader_or_refusal(self.view, scope)
        path: str = scope["raw_path"].decode("latin-1")
        is_open = path == SIGN_IN or path.startswith(ASSETS)
        refusal = self.guard.refusal(scope) or locked_out
        if refusal is None and not (reader.signed_in or is_open):
            refusal = token_required("What a store has is shown to those who know the token.")
        asked = Asked(scope, receive, self.under_way.paced(send), reader, _query(scope))
        if refusal is not None:
            return await self._refuse(asked, refusal)
        return await self._answer(asked, path)

    async def _answer(self, asked: Asked, path: str) -> int:
        if path == SIGN_IN:
            forms = ("GET", "HEAD", "POST")
            return await signing.sign_in(asked.scope, asked.receive, asked.send, self.view, forms)
        if path == SIGN_OUT:
            return await signing.sign_out(asked.scope, asked.receive, asked.send, self.view, ("POST",))
        if asked.scope["method"] == "POST" and (named := _FEEDBACK.fullmatch(path)):
            return await self._save(asked, named[1])
        methods = ("GET",) if path == LIVE else ("GET", "HEAD")
        if asked.scope["method"] not in methods:
            allow = (("allow", ", ".join(methods)),)
            return await self._refuse(asked, Refusal(405, "Method not allowed", "This page is read.", allow))
        if path.startswith(ASSETS):
            return await self._send(asked, page_asset(path.removeprefix(ASSETS)))
        if (over := self.guard.too_many(asked.scope)) is not None:
            return await self._refuse(asked, over)
        if path == LIVE:
            return await self._changes(asked)
        try:
            response = await asyncio.to_thread(self._page, asked, path)
        except StoreProblem as problem:
            return await self._refuse(asked, Refusal(503, "The store cannot be read", _words(problem)))
        except RunError as problem:  # the record is damaged, or was forgotten meanwhile
            return await self._refuse(asked, Refusal(409, "The record cannot be shown", _words(problem)))
        return await self._send(asked, response)

    def _page(self, asked: Asked, path: str) -> Answer | None:
        """Return the page at a path; None where there is none. Raises `StoreProblem`."""
        if path == "/":
            return self._list(asked)
        folder, _, rest = path.removeprefix("/").partition("/")
        name, slash, part = rest.partition("/")
        kind = next((candidate for candidate, known in FOLDERS.items() if known == folder), None)
        if kind is None or not _ID.fullmatch(name) or (slash and kind != "test"):
            return None
        if kind == "test" and not slash:
            return _moved(f"{self.view.prefix}{path}/")
        return self._record(asked, kind, name, part or INDEX)

    def _list(self, asked: Asked) -> Answer:
        chosen, problem = filter_of(asked.query)
        records = listed(self.view.place, chosen, self.view.prices) if not problem else RecordList()
        lines = lines_of(records, self.view.prefix)
        frame = self.view.frame(asked.reader)
        page = records_page(frame, str(self.view.place), records, lines, asked.query, problem)
        return html_page(page, 400 if problem else 200)

    def _record(self, asked: Asked, kind: RecordKind, name: str, part: str) -> Answer | None:
        line = one_listed(self.view.place, kind, name, self.view.prices)
        if line is None:
            return None
        page, troubles = self._report(asked, kind, name, part)
        if not page:
            return None
        lines, frame = lines_of(RecordList((line,)), self.view.prefix), self.view.frame(asked.reader)
        page = viewed_page(page, frame, f"{kind}-{name}", lines, troubles)
        return answer(page, HTML, cache=NEVER, headers=[("content-security-policy", viewer_policy())])

    def _report(self, asked: Asked, kind: RecordKind, name: str, part: str) -> tuple[str, tuple[str, ...]]:
        """Return the report of a record, and what could not be read for it. ``part`` is one page of a test; the text is
        empty where there is none."""
        if kind == "run":
            shown_record = shown_run(self.view.place, name, self.view.prices)
            return run_page(shown_record.run, shown_record.calls), ()
        if kind == "batch":
            batch = shown_batch(self.view.place, name)
            export = f"prosa batch {batch.status.batch.name} --export FILE"
            more = (f"This page is made of {MAX_ROWS:,} rows; {export} writes all.",) if batch.more else ()
            return batch_page(batch.status.batch, batch.status.counts, batch.rows), more
        shown, troubles = test_with_feedback(self.view.place, name)
        form = opinion_forms(f"{self.view.prefix}/tests/{name}/feedback?page={in_query(part)}", asked.reader.csrf)
        return test_pages(shown, form=form, only=part, per_page=PER_PAGE).get(part, ""), troubles

    async def _save(self, asked: Asked, name: str) -> int:
        """Keep the opinion in a form, and lead back to its case."""
        try:
            fields = form_fields(asked.scope, await read_body(asked.scope, asked.receive, MAX_FORM))
            require_intent(self.view, asked.reader, csrf_of(asked.scope) or fields.get("csrf", ""))
            feedback = Feedback(_opinion(fields), " ".join(fields.get("text", "").split()))
            about = (fields.get("suite", ""), fields.get("case", ""))
            await asyncio.to_thread(save_feedback, self.view.place, name, *about, feedback)
        except Refused as refused:
            return await self._refuse(asked, Refusal(refused.status, refused.title, refused.detail, refused.headers))
        except ClientGone:
            return GONE
        except RunError as problem:
            return await self._refuse(asked, Refusal(409, "The opinion is not kept", _words(problem)))
        part, at = asked.query.get("page", ""), fields.get("at", "")
        where = f"{part if _PART.fullmatch(part) else ''}{f'#{at}' if _PLACE.fullmatch(at) else ''}"
        return await self._send(asked, _moved(f"{self.view.prefix}/tests/{name}/{where}"))

    async def _changes(self, asked: Asked) -> int:
        if self.live.is_full:
            wait = (("retry-after", "10"),)
            return await self._refuse(asked, Refusal(503, "Too many", "Too many pages listen for changes.", wait))
        chosen, problem = filter_of(asked.query)
        kind, _, name = asked.query.get("of", "").partition("-")

        def lines() -> Lines:
            if name and kind in RECORD_KINDS:
                one = one_listed(self.view.place, kind, name, self.view.prices)
                return lines_of(RecordList((one,) if one else ()), self.view.prefix)
            return lines_of(listed(self.view.place, chosen, self.view.prices), self.view.prefix)

        if problem:
            return await self._refuse(asked, Refusal(400, "Bad request", problem))
        return await self.live.stream(asked.receive, asked.send, lines, asked.query.get("mark", ""))

    async def _send(self, asked: Asked, response: Answer | None) -> int:
        if response is None:
            return await self._refuse(asked, Refusal(404, "Not found", "The store has no such record."))
        return await send_answer(asked.scope, asked.send, response)

    async def _refuse(self, asked: Asked, refusal: Refusal) -> int:
        query = asked.scope["query_string"].decode("latin-1")
        back = f"{asked.scope['raw_path'].decode('latin-1')}{'?' if query else ''}{query}"
        response = refused(self.view, asked.scope, asked.reader, refusal, back)
        return await send_answer(asked.scope, asked.send, response)


def _moved(where: str) -> Answer:
    return answer("", "text/plain", status=303, cache=NEVER, headers=[("location", where)])


def _words(problem: RunError) -> str:
    return safe("; ".join(filter(None, (problem.message, problem.hint))))


def _opinion(fields: Mapping[str, str]) -> Opinion:
    """Return the opinion in a form. Raises `Refused` for another word."""
    match fields.get("opinion", ""):
        case "":
            return ""
        case "good":
            return "good"
        case "bad":
            return "bad"
        case _:
            raise Refused(400, "An opinion is good, bad, or none.")


def _query(scope: Scope) -> dict[str, str]:
    """Return the parameters of an address; none where it has too many."""
    query: bytes = scope["query_string"]
    try:
        pairs = parse_qsl(query.decode("latin-1"), max_num_fields=MAX_FIELDS)
    except ValueError:
        return {}
    return dict(pairs)


def filter_of(query: Mapping[str, str]) -> tuple[RecordFilter, str]:
    """Return which records the parameters of an address mean, and what is wrong with them."""
    kind, state, program, since, text, before = (query.get(name, "").strip() for name in FIELDS)
    found_kind = next((candidate for candidate in RECORD_KINDS if candidate == kind), None)
    condition = next((candidate for candidate in CONDITIONS if candidate == state), None)
    if kind and found_kind is None:
        return RecordFilter(), f"There is no kind {kind[:40]!r}: it is {', '.join(RECORD_KINDS)}."
    if state and condition is None:
        return RecordFilter(), f"There is no state {state[:40]!r}: it is {', '.join(CONDITIONS)}."
    try:
        moved = moment(since, datetime.now(UTC)) if since else ""
    except (ValueError, OverflowError):
        return (
            RecordFilter(),
            f"{since[:40]!r} is not a moment: an age such as 7d or 12h, or a date such as 2026-03-01.",
        )
    started, _, name = before.partition("~")
    below = (started, name) if started and name else None
    return RecordFilter(found_kind, condition, program, moved, text, below), ""
