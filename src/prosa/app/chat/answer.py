"""A conversation answered: every turn a run on the one loop, with its tools, limits, events and summary (X15).

In: a `Conversation` that `chat.prepare` made. Out: the replies as the model wrote them; what is written into a file is
for the caller to escape (`prosa.dialects.prapti.escape`). Participants answer one after the other, each hearing those
before; several replies to one message are asked for at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from prosa.app.chat.prepare import Conversation, require_something
from prosa.app.options import DEFAULT_MODEL, Environment, Once, Options
from prosa.app.run.load import limits_in
from prosa.app.run.service import Chosen, choose_provider
from prosa.app.run.world import new_tally, run_program
from prosa.runtime.errors import AnswerCut, RunError, first_error
from prosa.runtime.events import AttemptFailed, Listener, ModelAsked, TextArrived, ignore, tell

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.runtime.events import Event
    from prosa.runtime.lower.prapti import Turn
    from prosa.runtime.messages import Message, ModelReply, ModelRequest
    from prosa.runtime.ports import OnText, Provider
    from prosa.runtime.program import Program
    from prosa.runtime.summary import Summary


@dataclass(frozen=True, slots=True)
class Spot:
    """Whose text arrives: the turn by its place, the number of the reply (from 1), and the participant's name."""

    turn: int
    number: int
    name: str | None


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply. ``name`` is the participant who gave it; ``number`` counts the replies to one message from 1, and is
    None where there is only one. ``tools`` is the record of the tools that were called, as Markdown, or empty."""

    text: str
    name: str | None
    number: int | None
    summary: Summary
    tools: str = ""


OnPiece: TypeAlias = Callable[[Spot, str], None]
OnCut: TypeAlias = "Callable[[Spot, str, Summary], None]"
"""Hears each piece of a reply as it streams."""

OnAgain: TypeAlias = Callable[[Spot], None]
"""Hears that what has come of a reply so far is void: its text begins anew."""


async def answer(
    conversation: Conversation,
    choices: Options,
    around: Environment,
    *,
    on_text: OnPiece | None = None,
    on_again: OnAgain | None = None,
    on_reply: Callable[[Reply], None] | None = None,
    on_cut: OnCut | None = None,
    listener: Listener = ignore,
    course: list[Callable[[str | None], Summary]] | None = None,
    provider: Provider | None = None,
) -> list[Reply]:
    """The replies of all turns in order. ``on_reply`` hears of each as soon as it is whole, ``on_cut`` the whole text
    of one that was cut off at the length limit of the model, which then ends the turn (`AnswerCut`).

    ``provider`` takes the place of the model service, whatever flags and chat name, and is not closed.

    ``course`` collects the summary of every run that began, as a function of why it failed. Raises `RunError`: when
    there is nothing to answer, and when a run fails; replies that came before were handed over.
    """
    require_something(conversation)
    if conversation.tools.programs:
        from prosa.adapters.files.agreement_store import check_agreement

        check_agreement(around.environ)
    async with AsyncExitStack() as stack:
        hears = _Hears(on_text, on_again, on_reply or _nobody, on_cut, listener, course if course is not None else [])
        services = _Services(choices, replace(around, notice=Once(around.notice)), stack, provider)
        answering = _Answering(conversation, choices, around, hears, services)
        replies: list[Reply] = []
        for at, turn in enumerate(conversation.turns):
            replies += await answering.turn(at, _having_heard(turn, replies))
        return replies


def _nobody(reply: Reply) -> None:
    del reply


def _having_heard(turn: Turn, replies: list[Reply]) -> Turn:
    """The turn with what other participants said since: to it they are users."""
    from prosa.dialects.prapti.names import wire_names
    from prosa.runtime.messages import Message

    names = wire_names(reply.name for reply in replies if reply.name)
    said = (Message("user", each.text, name=names[each.name] if each.name else None) for each in replies if each.text)
    return replace(turn, messages=(*turn.messages, *said)) if turn.mode == "chat" else turn


@dataclass(frozen=True, slots=True)
class _Hears:
    """Who is told what."""

    text: OnPiece | None
    again: OnAgain | None
    reply: Callable[[Reply], None]
    cut: OnCut | None
    listener: Listener
    course: list[Callable[[str | None], Summary]]


@dataclass(frozen=True, slots=True)
class _Answering:
    """One conversation being answered."""

    conversation: Conversation
    choices: Options
    around: Environment
    hears: _Hears
    services: _Services
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def turn(self, at: int, turn: Turn) -> list[Reply]:
        """All replies of a turn; when one fails the others are ended, and the first error is raised."""
        if turn.n == 1:
            return [await self._reply(turn, Spot(at, 1, turn.name))]
        spots = [Spot(at, number, turn.name) for number in range(1, turn.n + 1)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._reply(turn, spot)) for spot in spots]
        except BaseExceptionGroup as errors:
            raise first_error(errors) from errors
        return [task.result() for task in tasks]

    async def _reply(self, turn: Turn, spot: Spot) -> Reply:
        from prosa.runtime.program import with_model

        row = self._row(turn)
        program = self._program(turn, row)
        chosen = await self.services.of(row, turn.mode)
        program = with_model(program, chosen.model_name) if chosen.model_name else program
        tally = new_tally(program, self.around.settings)
        course, place = self.hears.course, len(self.hears.course)
        course.append(tally.summary)
        heard = _Heard(chosen.provider, program.name)
        try:
            ran = await run_program(
                program,
                {},
                replace(self.choices, stream=turn.stream and self.hears.text is not None),
                self.around,
                listener=tell(_Streaming(self.hears, spot), self.hears.listener),
                provider=heard,
                tally=tally,
                numbers=self.numbers,
            )
        except AnswerCut as error:
            if self.hears.cut is not None:
                self.hears.cut(spot, error.content, tally.summary(error.message))
            raise
        number = spot.number if turn.n > 1 else None
        reply = Reply(ran.output, turn.name, number, ran.summary, _record(heard.messages))
        course[place] = lambda why: ran.summary  # noqa: ARG005 - it went well, whatever becomes of the others
        self.hears.reply(reply)
        return reply

    def _row(self, turn: Turn) -> ProviderRow | None:
        """The provider that flag or chat names. Raises `RunError` for one nobody knows."""
        from prosa.adapters.providers.table import provider_names, provider_row
        from prosa.diagnostics.nearest import nearest

        name, own = self.choices.provider or turn.provider, self.around.settings.providers
        row = provider_row(name, own) if name else None
        if name and row is None and not self._answers_all and self.choices.base_url is None:
            names = provider_names(own)
            near = nearest(name, names)
            hint = f"did you mean {near}?" if near else f"known are {', '.join(names)}"
            raise RunError(f"there is no provider `{name[:64]}`", hint=hint)
        return row

    @property
    def _answers_all(self) -> bool:
        """Whether one provider answers everybody, whatever the chat names."""
        return self.services.own is not None or self.choices.script is not None or self.choices.is_local

    def _program(self, turn: Turn, row: ProviderRow | None) -> Program:
        """The run of a turn: its conversation, and the tools that were granted."""
        from prosa.adapters.providers.table import mapped
        from prosa.runtime.limits import Limits
        from prosa.runtime.messages import Message
        from prosa.runtime.program import Program
        from prosa.template import Template

        conversation, tools = self.conversation, self.conversation.tools
        api = "chat" if turn.mode == "completion" else self.choices.api or self.around.settings.api or "chat"
        chat = turn.mode == "chat"
        return Program(
            name=turn.name or conversation.path.stem or "chat",
            description="",
            template=Template(""),
            input_schema=True,
            output_schema=True,
            model_name=self._model_name(turn, row),
            limits=replace(Limits(), **(limits_in(self.around.settings) | limits_in(self.choices))),
            imports=tools.programs if chat else (),
            servers=tools.servers if chat else (),
            sites=tools.sites if chat else (),
            python=tools.python and chat,
            file=conversation.path.name,
            folder=str(conversation.path.parent),
            form="text",
            conversation=turn.messages if chat else (Message("user", turn.prompt),),
            parameters=mapped(turn.parameters, row, "responses" if api == "responses" else "chat").sent,
        )

    def _model_name(self, turn: Turn, row: ProviderRow | None) -> str:
        """The model: the user's flag, the chat, the settings; another provider than the usual one has none of these."""
        choices, settings = self.choices, self.around.settings
        named = choices.model_name or turn.model_name or choices.default_model
        usual = row is None or row.name in ("openai", "local") or self._answers_all
        if not named and not usual and row is not None:
            hint = '`% model = "NAME"` in the chat, or --model NAME'
            raise RunError(f"no model is named for the provider `{row.name}`", hint=hint)
        return named or settings.model_name or DEFAULT_MODEL


@dataclass(frozen=True, slots=True)
class _Streaming:
    """Hands text over as it arrives, and says when it begins anew: after a failed attempt, and when a tool was called
    in between, for what was said before the call is no part of the reply."""

    hears: _Hears
    spot: Spot

    def __call__(self, event: Event, /) -> None:
        if event.scope.depth:
            return
        if isinstance(event, TextArrived) and self.hears.text is not None:
            self.hears.text(self.spot, event.text)
        elif self.hears.again is not None and _begins_anew(event):
            self.hears.again(self.spot)


def _begins_anew(event: Event) -> bool:
    return isinstance(event, AttemptFailed) or (isinstance(event, ModelAsked) and event.iteration > 1)


@dataclass(slots=True)
class _Heard:
    """A provider that remembers what was sent last, for the record of tools, and that no run closes."""

    provider: Provider
    program: str
    messages: tuple[Message, ...] = ()

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Asks."""
        if request.program == self.program:
            self.messages = request.messages
        return await self.provider.complete(request, on_text)

    async def aclose(self) -> None:
        """Nothing: whoever opened the provider closes it."""


def _record(messages: tuple[Message, ...]) -> str:
    from prosa.runtime.tool_record import tool_record

    return tool_record(messages)


@dataclass(slots=True)
class _Services:
    """The providers of a conversation, each opened at its first use."""

    choices: Options
    around: Environment
    stack: AsyncExitStack
    own: Provider | None = None
    known: dict[tuple[str, str], Chosen] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, row: ProviderRow | None, mode: str) -> Chosen:
        """Who answers. Raises `ProviderError`."""
        if self.own is not None:
            return Chosen(self.own)
        choices = replace(self.choices, completion=mode == "completion")
        key = ("", "") if choices.script is not None else (row.name if row else "", mode)
        async with self.lock:
            if key not in self.known:
                chosen = await choose_provider(choices, self.around, row)
                self.stack.push_async_callback(chosen.provider.aclose)
                self.known[key] = chosen
            return self.known[key]
