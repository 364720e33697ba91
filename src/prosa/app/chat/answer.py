"""A conversation answered: every turn a run on the one loop, with its tools, limits, events and summary (X15).

In: a `Conversation` that `chat.prepare` made. Out: the replies as the model wrote them; what is written into a file is
for the caller to escape (`prosa.dialects.prapti.content`). Participants answer one after the other, each hearing those
before; several replies to one message are asked for at the same time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.providers.table import mapped, provider_row
from prosa.app.chat.prepare import Conversation, require_something
from prosa.app.options import DEFAULT_MODEL, Environment, Options, limits_in
from prosa.app.run.jobs import Driver, Progress, driving
from prosa.app.run.routes import known_row
from prosa.app.run.service import row_of_model
from prosa.app.runs import Job
from prosa.app.runs.engine import JobList, run_source
from prosa.corpus.embedding import looks_classified
from prosa.dialects.prapti.read import wire_names
from prosa.records.tool_record import tool_record
from prosa.runtime.errors import AnswerCut, RunError
from prosa.runtime.events import AttemptFailed, Listener, ModelAsked, TextArrived, ignore
from prosa.runtime.limits import Limits
from prosa.runtime.messages import Message
from prosa.runtime.program import Program
from prosa.template import Template

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.records.summary import Summary
    from prosa.runtime.events import Event
    from prosa.runtime.lower.prapti import Turn
    from prosa.runtime.ports import Provider


class Spot(Struct, frozen=True):
    """Whose text arrives: the turn by its place, the number of the reply (from 1), and the participant's name."""

    turn: int
    number: int
    name: str | None


class Reply(Struct, frozen=True):
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
    options: Options,
    environment: Environment,
    *,
    on_text: OnPiece | None = None,
    on_again: OnAgain | None = None,
    on_reply: Callable[[Reply], None] = lambda _: None,
    on_cut: OnCut | None = None,
    listener: Listener = ignore,
    progress: Progress | None = None,
    provider: Provider | None = None,
) -> list[Reply]:
    """Return the replies of all turns in order. ``on_reply`` hears of each as soon as it is whole, ``on_cut`` the whole
    text of one that was cut off at the length limit of the model, which then ends the turn (`AnswerCut`).

    ``provider`` takes the place of the model service, whatever flags and chat name, and is not closed.

    Raises `RunError`: when there is nothing to answer, and when a run fails; replies that came before were handed over,
    and ``progress`` knows what happened.
    """
    require_something(conversation)
    about = driving(options, environment, listener=listener, progress=progress, provider=provider, closes=False)
    async with about as driver:
        answering = _Answering(conversation, driver, _Hears(on_text, on_again, on_reply, on_cut))
        await answering.require_prices()
        replies: list[Reply] = []
        for at, turn in enumerate(conversation.turns):
            replies += await answering.turn(at, _having_heard(turn, replies))
        return replies


def _having_heard(turn: Turn, replies: list[Reply]) -> Turn:
    """Return the turn with what other participants said since: to it they are users."""
    names = wire_names(reply.name for reply in replies if reply.name)
    messages = (
        Message("user", reply.text, name=names[reply.name] if reply.name else None) for reply in replies if reply.text
    )
    return replace(turn, messages=(*turn.messages, *messages)) if turn.mode == "chat" else turn


class _Hears(Struct, frozen=True):
    """The callbacks for the parts of the replies."""

    text: OnPiece | None
    again: OnAgain | None
    reply: Callable[[Reply], None]
    cut: OnCut | None


class _Answering(Struct, frozen=True):
    """One conversation being answered."""

    conversation: Conversation
    driver: Driver
    hears: _Hears

    @property
    def options(self) -> Options:
        """Return what the user chose."""
        return self.driver.options

    @property
    def environment(self) -> Environment:
        """Return the environment."""
        return self.driver.environment

    async def require_prices(self) -> None:
        """Raise `PriceUnknown` where the budget cannot hold for one of the turns."""
        if self.driver.budget is not None:
            await self.driver.require_prices([self._job(turn, Spot(0, 1, None)) for turn in self.conversation.turns])

    def _job(self, turn: Turn, spot: Spot) -> Job:
        row, raw = self._row(turn), turn.mode == "completion"
        if not self._answers_all:
            row = row_of_model(self._model_name(turn, row), self.options, self.environment.settings, row)
        streams = (turn.stream or self.options.stream) and self.hears.text is not None
        return Job(f"{spot.turn}/{spot.number}", self._program(turn, row), {}, row, streams, raw, spot.number)

    async def turn(self, at: int, turn: Turn) -> list[Reply]:
        """Return all replies of a turn; when one fails the others are ended, and the first error is raised."""
        if turn.n == 1:  # in this task, so that a signal breaks it off at once
            return [await self._reply(turn, Spot(at, 1, turn.name))]
        replies: dict[int, Reply] = {}

        async def reply(spot: Spot) -> None:
            replies[spot.number] = await self._reply(turn, spot)

        spots = (Spot(at, number, turn.name) for number in range(1, turn.n + 1))
        await run_source(JobList(deque(spots), reply), turn.n)
        return [replies[number] for number in sorted(replies)]

    async def _reply(self, turn: Turn, spot: Spot) -> Reply:
        job = self._job(turn, spot)
        try:
            ran = await self.driver.run(job, _Streaming(self.hears, spot))
        except AnswerCut as error:
            if self.hears.cut is not None:
                self.hears.cut(spot, error.content, self.driver.progress.ended[job.name])
            raise
        if ran.unrecorded is not None:
            self.environment.notice(f"error: {ran.unrecorded.message}")
        number = spot.number if turn.n > 1 else None
        answer = cast("str", ran.output)  # the output of a chat is text
        reply = Reply(answer, turn.name, number, ran.summary, tool_record(ran.messages))
        self.hears.reply(reply)
        return reply

    def _row(self, turn: Turn) -> ProviderRow | None:
        """Return the provider that the flag or the chat names. Raises `RunError` for an unknown one."""
        name, settings = self.options.provider or turn.provider, self.environment.settings
        if not name or self._answers_all or self.options.base_url is not None:
            return provider_row(name, settings.providers) if name else None
        return known_row(name, settings)

    @property
    def _answers_all(self) -> bool:
        """Return whether one provider answers all turns, whatever the chat names."""
        return self.driver.services.own is not None or self.options.script is not None or self.options.is_here

    def _program(self, turn: Turn, row: ProviderRow | None) -> Program:
        """Return the run of a turn: its conversation, and the tools that were granted."""
        conversation, tools = self.conversation, self.conversation.tools
        api = "chat" if turn.mode == "completion" else self.options.api or self.environment.settings.api or "chat"
        chat = turn.mode == "chat"
        return Program(
            name=turn.name or conversation.path.stem or "chat",
            description="",
            template=Template(""),
            input_schema=True,
            output_schema=True,
            model_name=self._model_name(turn, row),
            limits=replace(Limits(), **(limits_in(self.environment.settings) | limits_in(self.options))),
            imports=tools.programs if chat else (),
            servers=tools.servers if chat else (),
            sites=tools.sites if chat else (),
            python=tools.python and chat,
            file=conversation.path.name,
            folder=str(conversation.path.parent),
            form="text",
            conversation=turn.messages if chat else (Message("user", turn.prompt),),
            classified=looks_classified(conversation.source.text)
            or any(skill.classified for skill in conversation.skills),
            skills=tuple(skill.skill for skill in conversation.skills) if chat else (),
            parameters=mapped(turn.parameters, row, "responses" if api == "responses" else "chat").sent,
        )

    def _model_name(self, turn: Turn, row: ProviderRow | None) -> str:
        """Return the model: the user's flag, the chat, the settings; another provider than the usual one has none of
        these."""
        options, settings = self.options, self.environment.settings
        named = options.model_name or turn.model_name or options.default_model
        usual = row is None or row.name in ("openai", "local", "embedded") or self._answers_all
        if not named and not usual and row is not None:
            hint = '`% model = "NAME"` in the chat, or --model NAME'
            raise RunError(f"no model is named for the provider `{row.name}`", hint=hint)
        return named or settings.model_name or DEFAULT_MODEL


class _Streaming(Struct, frozen=True):
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
