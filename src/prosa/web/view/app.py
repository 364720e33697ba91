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

from prosa.app.journal.history import moment, one
from prosa.app.options import say_nothing
from prosa.app.view.listing import PricesOf, listed, one_listed
from prosa.app.view.watch import StoreWatch
from prosa.records.listing import CONDITIONS, RECORD_KINDS, RecordFilter, RecordKind, RecordList
from prosa.records.run import StorePlace
from prosa.regex import regex
from prosa.render.page.model import Frame
from prosa.render.page.records import FIELDS, FOLDERS, Lines, lines_of, record_page, records_page
from prosa.render.plain import safe
from prosa.render.runs import run_tree
from prosa.runtime.errors import RunError, StoreProblem
from prosa.web.answer import Answer, Receive, Scope, Send, send_answer
from prosa.web.application import HttpApp, reader_or_refusal, refused, token_required
from prosa.web.assets import page_asset
from prosa.web.context import Reader, Sessions
from prosa.web.limits import Guard, Refusal
from prosa.web.run import sign_in as signing
from prosa.web.run.result import html_page
from prosa.web.run.runner import Attempts
from prosa.web.view.live import Broadcast

SIGN_IN, SIGN_OUT, ASSETS = "/mdh/sign-in", "/mdh/sign-out", "/mdh/assets/"
LIVE = "/live"

MAX_FIELDS = 16
"""Parameters of an address; ours are fewer."""

_ID = regex(r"[0-9A-Za-z._-]{1,80}")


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
            methods = ("GET", "HEAD", "POST")
            return await signing.sign_in(asked.scope, asked.receive, asked.send, self.view, methods)
        if path == SIGN_OUT:
            return await signing.sign_out(asked.scope, asked.receive, asked.send, self.view, ("POST",))
        if asked.scope["method"] not in ("GET", "HEAD"):
            return await self._refuse(
                asked, Refusal(405, "Method not allowed", "This page is read.", (("allow", "GET, HEAD"),))
            )
        if path.startswith(ASSETS):
            return await self._send(asked, page_asset(path.removeprefix(ASSETS)))
        if (over := self.guard.too_many(asked.scope)) is not None:
            return await self._refuse(asked, over)
        if path == LIVE:
            return await self._changes(asked)
        try:
            found = await asyncio.to_thread(self._page, asked, path)
        except StoreProblem as problem:
            return await self._refuse(asked, Refusal(503, "The store cannot be read", _words(problem)))
        return await self._send(asked, found)

    def _page(self, asked: Asked, path: str) -> Answer | None:
        """Return the page at a path; None where there is none. Raises `StoreProblem`."""
        if path == "/":
            return self._list(asked)
        _, folder, name = (*path.split("/", 2), "", "")[:3]
        kind = next((each for each, part in FOLDERS.items() if part == folder), None)
        return self._record(asked, kind, name) if kind is not None and _ID.fullmatch(name) else None

    def _list(self, asked: Asked) -> Answer:
        chosen, problem = filter_of(asked.query)
        found = listed(self.view.place, chosen, self.view.prices) if not problem else RecordList()
        lines = lines_of(found, self.view.prefix)
        frame = self.view.frame(asked.reader)
        page = records_page(frame, str(self.view.place), found, lines, asked.query, problem)
        return html_page(page, 400 if problem else 200)

    def _record(self, asked: Asked, kind: RecordKind, name: str) -> Answer | None:
        line = one_listed(self.view.place, kind, name, self.view.prices)
        if line is None:
            return None
        told = (
            "\n\n".join(run_tree(each.run, each.calls) for each in one(self.view.place, name)) if kind == "run" else ""
        )
        lines = lines_of(RecordList((line,)), self.view.prefix)
        return html_page(record_page(self.view.frame(asked.reader), line, lines, told))

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

    async def _send(self, asked: Asked, found: Answer | None) -> int:
        if found is None:
            return await self._refuse(asked, Refusal(404, "Not found", "The store has no such record."))
        return await send_answer(asked.scope, asked.send, found)

    async def _refuse(self, asked: Asked, refusal: Refusal) -> int:
        query = asked.scope["query_string"].decode("latin-1")
        back = f"{asked.scope['raw_path'].decode('latin-1')}{'?' if query else ''}{query}"
        found = refused(self.view, asked.scope, asked.reader, refusal, back)
        return await send_answer(asked.scope, asked.send, found)


def _words(problem: RunError) -> str:
    return safe("; ".join(filter(None, (problem.message, problem.hint))))


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
    found_kind = next((each for each in RECORD_KINDS if each == kind), None)
    condition = next((each for each in CONDITIONS if each == state), None)
    if kind and found_kind is None:
        return RecordFilter(), f"There is no kind {kind[:40]!r}: it is {', '.join(RECORD_KINDS)}."
    if state and condition is None:
        return RecordFilter(), f"There is no state {state[:40]!r}: it is {', '.join(CONDITIONS)}."
    try:
        moved = moment(since, datetime.now(UTC)) if since else ""
    except (ValueError, OverflowError):
        return RecordFilter(), f"{since[:40]!r} is no moment: an age such as 7d or 12h, or a date such as 2026-03-01."
    started, _, name = before.partition("~")
    below = (started, name) if started and name else None
    return RecordFilter(found_kind, condition, program, moved, text, below), ""
