"""The tools of a mailbox, and the tickets of background calls (L47, LA33).

In: a model's calls. Out: results for it; all message content is data in them. The sender of a message is always the
running program, whatever the model claims, and an undeclared address is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict, cast

from msgspec import Struct, field

from prosa.corpus.where import WhereError, parse_where
from prosa.data import Value
from prosa.runtime.digest import as_json, stamp
from prosa.runtime.limits import Limits
from prosa.runtime.mail import (
    USUAL_FOUND,
    USUAL_RECEIVED,
    Delivery,
    Letter,
    Mail,
    MailRefused,
    MessageFilter,
    Wanted,
    mail_specs,
    ticket_spec,
)
from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import SteadyTool, Tool, ToolResult
from prosa.runtime.program import Mailbox, Program


def mail_tools(program: Program, tickets: Tickets) -> list[Tool]:
    """Return the tools of the mailbox of a program; none where it has none."""
    box, mail = program.mailbox, tickets.mail
    if box is None:
        return []
    send, receive, query = mail_specs(program)
    return [
        SendTool(send, program, box, mail),
        ReceiveTool(receive, box, mail, tickets, program.limits),
        QueryTool(query, box, mail, program.limits),
    ]


class Tickets(Struct):
    """The calls of one program that it does not wait for. They run in ``group``, a few at a time."""

    program: Program
    mail: Mail
    group: asyncio.TaskGroup
    open: dict[str, str] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _slots: asyncio.Semaphore | None = None

    def begin(self, path: str, name: str, run: Callable[[], Coroutine[None, None, ToolResult]]) -> None:
        """Start the call at a path of the program ``name``; its output is delivered to the mailbox."""
        self._slots = self._slots or asyncio.Semaphore(self.program.limits.concurrency)
        self.open[path] = name
        self.group.create_task(self._run(path, name, run, self._slots))

    async def _run(
        self, path: str, name: str, run: Callable[[], Coroutine[None, None, ToolResult]], slots: asyncio.Semaphore
    ) -> None:
        async with slots:
            result = await run()
        box = self.program.mailbox
        assert box is not None
        await self.mail.deliver(Delivery(box.name, name, path, result.content, failed=result.is_error))
        del self.open[path]
        self.changed.set()

    def awaited(self, sender: str | None) -> bool:
        """Return whether a call is open whose output would be received."""
        return bool(self.open) if sender is None else sender in self.open.values()


if TYPE_CHECKING:  # arguments as they satisfy the schemas of `mail`
    _Wait = TypedDict("_Wait", {"max": float, "from": str, "wait": float}, total=False)

    class _Query(TypedDict, total=False):
        sender: str
        after: str
        before: str
        text: str
        where: str
        limit: float


class SendTool(SteadyTool, frozen=True):
    """Sends a message. A call that is made again sends nothing again: a message is known by run and path."""

    spec: ToolSpec
    program: Program
    box: Mailbox
    mail: Mail
    kind: ClassVar[Literal["mail"]] = "mail"

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Return the id of the message; a refusal is a result."""
        to = arguments.get("to")
        letter = Letter(
            program=self.program.name,
            mailbox=self.box.name,
            payload=as_json(arguments["payload"]),
            path=path,
            to=None if to is None else str(to).removeprefix("./"),
            reply_to=cast("str | None", arguments.get("reply_to")),  # by its schema
            allowed=self.program.addresses,
            answers=self.box.sends is None,
        )
        try:
            sent = await self.mail.send(letter)
        except MailRefused as error:
            return _refused(error.message)
        return ToolResult(as_json({"id": sent.id}))


class ReceiveTool(SteadyTool, frozen=True):
    """Delivers messages to this run, which count as handled when it succeeds. Repeating the same call returns
    the same messages."""

    spec: ToolSpec
    box: Mailbox
    mail: Mail
    tickets: Tickets
    limits: Limits
    kind: ClassVar[Literal["mail"]] = "mail"

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Return the messages as a JSON list."""
        options = cast("_Wait", arguments)
        wanted = Wanted(
            box=self.box.name,
            path=path,
            most=int(options.get("max", USUAL_RECEIVED)),
            room=self.limits.tool_result,
            sender=options.get("from"),
            expires=self.box.expires,
            wait=options.get("wait"),
        )
        records = await self.mail.receive(wanted, self.tickets)
        return ToolResult(as_json([record.for_model() for record in records]))


class QueryTool(SteadyTool, frozen=True):
    """Searches the own mailbox without receiving anything."""

    spec: ToolSpec
    box: Mailbox
    mail: Mail
    limits: Limits
    kind: ClassVar[Literal["mail"]] = "mail"

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Return the messages as a JSON list, as many of the last ones as fit; an invalid query is an error result."""
        del path
        query = cast("_Query", arguments)
        try:
            chosen = MessageFilter(
                mailbox=self.box.name,
                sender=query.get("sender"),
                after=_moment("after", query.get("after")),
                before=_moment("before", query.get("before")),
                text=query.get("text"),
                where=parse_where(query["where"], bare=True) if "where" in query else None,
                limit=int(query.get("limit", USUAL_FOUND)),
            )
        except (ValueError, WhereError) as error:
            return _refused(str(error))
        messages = [record.for_query() for record in await self.mail.query(chosen)]
        return ToolResult(_fitting(messages, self.limits.tool_result))


class TicketTool(SteadyTool, frozen=True):
    """An import that is not waited for: ``tool`` runs it."""

    tool: Tool
    tickets: Tickets
    name: str
    kind: ClassVar[Literal["program"]] = "program"

    @property
    def spec(self) -> ToolSpec:
        """That of the import, with what becomes of its output."""
        return ticket_spec(self.tool.spec)

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Return the ticket, which is the path of the call: the same when the run is resumed or replayed."""
        self.tickets.begin(path, self.name, lambda: self._run(arguments, path))
        return ToolResult(as_json({"ticket": path}))

    async def _run(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        return await self.tool.call(arguments, path)


def _moment(name: str, text: str | None) -> str | None:
    """Return a time in the form of records; one without a zone is UTC. Raises ValueError."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return stamp(moment if moment.tzinfo else datetime.fromisoformat(f"{moment.isoformat()}+00:00"))
    except (ValueError, OverflowError):
        raise ValueError(f"{name}: {text[:40]!r} is not a time such as 2026-03-01T12:00:00Z") from None


def _fitting(messages: Sequence[dict[str, Value]], room: int) -> str:
    """Return as many of the last items of a list as fit, as JSON."""
    texts, size = list[str](), 2
    for item in reversed(messages):
        text = as_json(item)
        size += len(text.encode("utf-8", "surrogatepass")) + 1
        if texts and size > room:
            break
        texts.append(text)
    return f"[{','.join(reversed(texts))}]"


def _refused(reason: str) -> ToolResult:
    return ToolResult(f"error: {reason}", is_error=True)
