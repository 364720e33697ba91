"""The budget of model calls: the worst case of each is reserved before it, and its actual cost is charged after it
(X26).

In: a cap in US dollars, prices, requests. Out: calls that fit, or `BudgetSpent`. At every moment ``spent + held`` is
at most the cap, however many calls are in flight, as long as a service keeps to the requested length and its price;
one that does not is reported. No clock is read and nothing is stored here: `Grants` is the port through which several
processes may share one cap.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Plain, Value
from prosa.runtime.errors import BudgetSpent, PriceUnknown, RunError
from prosa.runtime.messages import NANO, Message, Meter, ModelReply, ModelRequest, Usage
from prosa.runtime.parameters import most_output, without_price
from prosa.runtime.ports import OnText, Prices, Provider
from prosa.source.url import is_on_this_machine

if TYPE_CHECKING:
    import asyncio

OUTPUT_UNDER_CAP = 4_096
"""Output tokens of a call under a cap where neither the user nor the program sets a limit (X9): a call without one has
no worst case."""

MESSAGE_TOKENS = 16
"""Tokens that a chat template puts around a message, at most."""

MESSAGE_BYTES = 160
TOOL_BYTES = 128
_REQUEST_BYTES = 1_024
"""Bytes that the wire formats, and the instructions that services put before tools and schemas, add to each."""


class Grants(Protocol):
    """A cap that several processes share: each draws parts of it."""

    async def draw(self, wanted: Decimal) -> Decimal:
        """Reserve a part of the cap for this process, and return its size: ``wanted`` or less, 0 if nothing is left."""
        ...


class Pool(Protocol):
    """A cap of which several processes draw at the same time: what one of them does not use is there for the others."""

    async def draw(self, wanted: Decimal) -> Decimal | None:
        """Take ``wanted`` for this process; 0 where it does not fit now, None where no other process has anything that
        may come back."""
        ...

    def charged(self, unused: Decimal, cost: Decimal) -> None:
        """Return ``unused``, and record the rest of what was drawn as spent."""
        ...

    async def wait(self) -> None:
        """Wait a moment for what other processes may return."""
        ...


class Ledger(Struct):
    """Money of which ``spent`` is gone and ``held`` is reserved by calls in flight, from any event loop and thread.
    ``cap`` is US dollars, a number or a text; it grows by the amounts from ``grants`` or a ``pool``, up to ``whole``,
    the cap that the user set."""

    cap: Decimal
    spent: Decimal = Decimal(0)
    held: Decimal = Decimal(0)
    grants: Grants | None = None
    whole: Decimal | None = None
    pool: Pool | None = None
    _draws: int = 0
    _returns: int = 0
    _lock: Lock = field(default_factory=Lock)
    _waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            cap = Decimal(str(self.cap))
        except InvalidOperation:
            cap = Decimal("nan")
        if cap.is_nan():
            raise ValueError(f"a cap is an amount in US dollars, found {self.cap!r}")
        self.cap = cap

    @property
    def named(self) -> Decimal:
        """The cap as the user named it."""
        return self.cap if self.whole is None else self.whole

    @property
    def left(self) -> Decimal:
        """The amount neither spent nor held."""
        return self.cap - self.spent - self.held

    async def reserve(self, amount: Decimal) -> bool:
        """Hold an amount, as soon as it fits: calls in flight may turn out cheaper. False for one that will not."""
        while (turn := self._tried(amount, waits=not self._is_part)) is not True:
            drawn: Decimal | None = None
            returns = self._returns
            if self._is_part and ((drawn := await self._drawn(amount)) or returns != self._returns):
                continue
            if self._is_part and (turn := self._tried(amount)) is True:  # others of this process may have ended
                break
            if turn is not None:
                await turn
            elif drawn is None or self.pool is None:
                return False
            else:
                await self.pool.wait()
        return True

    def charge(self, reserved: Decimal, cost: Decimal) -> None:
        """End a reservation: ``cost`` is spent, the rest of it is free again."""
        unused = Decimal(0)
        with self._lock:
            self.held -= reserved
            self.spent += cost
            if self.pool is not None:
                unused = max(self.left, Decimal(0)).quantize(NANO, ROUND_FLOOR)
                self.cap -= unused
                self._returns += 1
        self._wake_all()
        if self.pool is not None:
            self.pool.charged(unused, cost)

    @property
    def _is_part(self) -> bool:
        return self.grants is not None or self.pool is not None

    async def _drawn(self, amount: Decimal) -> Decimal | None:
        """Return the amount drawn from a shared cap; None if it will never be available."""
        drawn: Decimal | None = None
        with self._lock:
            lacking = amount - self.left
            self._draws += 1
        try:
            if self.pool is not None:
                drawn = await self.pool.draw(lacking)
            elif self.grants is not None:
                drawn = await self.grants.draw(lacking) or None
        finally:
            with self._lock:
                self.cap += drawn or 0
                self._draws -= 1
            self._wake_all()
        return drawn

    def _wake_all(self) -> None:
        """Wake everything that waits, to try again."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for loop, turn in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, turn)

    def _tried(self, amount: Decimal, *, waits: bool = True) -> asyncio.Future[None] | Literal[True] | None:
        """Return True where the amount is held now; else what to wait for, or None where no call in flight can make
        room."""
        from asyncio import get_running_loop  # who only estimates needs none, and the module takes 30 ms

        with self._lock:
            if amount <= self.left:
                self.held += amount
                return True
            is_hopeless = not self._is_part and amount > self.cap - self.spent
            if is_hopeless or not waits or not (self.held or self._draws):
                return None
            loop = get_running_loop()
            turn = loop.create_future()
            self._waiting.append((loop, turn))
            return turn


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


class Quote(Struct, frozen=True):
    """The worst case of one call: the request as it is sent, with its bound, and its maximum cost."""

    request: ModelRequest
    usage: Usage
    cost: Decimal


class Budget(Struct):
    """A cap with its prices.

    With ``explicit`` the user set the cap: a call without a known price is refused. Otherwise it is made and not
    counted, with one notice, except for local models and scripted replies. ``of_worker`` marks the cap of one worker
    among several. ``free`` are the model servers that the user chose as local: without a price in the settings their
    calls cost nothing.
    """

    prices: Prices
    ledger: Ledger
    explicit: bool = True
    notice: Callable[[str], None] = lambda _: None
    of_worker: bool = False
    free: set[str | None] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)
    _priced: dict[tuple[str, str | None], bool] = field(default_factory=dict)

    def around(self, provider: Provider, service: str | None, meter: Meter | None = None) -> Budgeted:
        """Return a provider whose calls are charged to this budget."""
        return Budgeted(provider, self, service, meter or Meter())

    def require(self) -> None:
        """Raise `BudgetSpent` if nothing is left."""
        if self.ledger.spent >= self.ledger.named:
            raise BudgetSpent(f"the budget of {dollars(self.ledger.named)} is spent", hint="start again with a new one")

    def require_price(self, model_name: str, service: str | None, parameters: Mapping[str, Value]) -> None:
        """Raise `PriceUnknown` where a cap that the user named would have to guess."""
        if not self.explicit:
            return
        if not self._is_priced(model_name, service):
            raise _unknown_price(model_name, service)
        if name := without_price(parameters):
            why = f"with the parameter `{name}` the price of {model_name} is not known, so --max-cost cannot hold"
            raise PriceUnknown(why, hint="leave the parameter away, or run without --max-cost")

    def price(self, model_name: str, usage: Usage, service: str | None) -> Decimal | None:
        """Return the US dollars of a call. A price is only valid for the service that charges it (LA27); under a
        default cap the list price of a model is used for a gateway."""
        cost = self.prices.cost(model_name, usage, service) if model_name else None
        if cost is None and service in self.free:
            return Decimal(0)
        if cost is None and model_name and not self.explicit and not is_on_this_machine(service):
            return self.prices.cost(model_name, usage)
        return cost

    def _is_priced(self, model_name: str, service: str | None) -> bool:
        """Return whether a price is known. Cached, since a look-up in the price list is slow."""
        key = (model_name, service)
        if key not in self._priced:
            self._priced[key] = self.price(model_name, Usage(1, 1), service) is not None
        return self._priced[key]

    def quote(self, request: ModelRequest, service: str | None) -> Quote | None:
        """Return the worst case of a call; None for one that is not counted. Raises `PriceUnknown`."""
        self.require_price(request.model_name, service, request.parameters)
        if not self._is_priced(request.model_name, service):
            if not is_on_this_machine(service):
                self._tell(f"no price of {request.model_name} is known, so its calls do not count in the budget")
            return None
        output = most_output(request.parameters, request.max_output)
        if output is None:
            output = OUTPUT_UNDER_CAP
            self._tell(f"each model call may write {output:,} tokens, as no limit is set; --max-output-tokens sets one")
        bounded = replace(request, max_output=output)
        usage = Usage(tokens_upper(request), output)
        return Quote(bounded, usage, self._worst(request.model_name, usage, service))

    def quote_of(self, model_name: str, usage: Usage, service: str | None) -> Quote | None:
        """Return the worst case of a call that another program makes, by its tokens at most; None for one that is not
        counted. Raises `PriceUnknown`."""
        self.require_price(model_name, service, {})
        if not self._is_priced(model_name, service):
            return None
        request = ModelRequest(model_name=model_name, messages=(), max_output=usage.output_tokens)
        return Quote(request, usage, self._worst(model_name, usage, service))

    def _worst(self, model_name: str, usage: Usage, service: str | None) -> Decimal:
        """Return the worst case. Cache hits, which would make it cheaper, are not known in advance."""
        cached = replace(usage, cached_input_tokens=usage.input_tokens)
        written = replace(usage, written_input_tokens=usage.input_tokens)
        costs = (self.price(model_name, variant, service) for variant in (usage, cached, written))
        return max(cost for cost in costs if cost is not None)

    async def reserve(self, quote: Quote, service: str | None) -> None:
        """Hold the worst case of a call. Raises `BudgetSpent` where it does not fit."""
        if not await self.ledger.reserve(quote.cost):
            error = self._spent(quote, service)
            error.whole, error.of_worker = self.ledger.whole is not None, self.of_worker
            raise error

    def charge(self, quote: Quote, cost: Decimal) -> None:
        """End the reservation of a call that cost so much."""
        self.ledger.charge(quote.cost, cost)
        if cost > quote.cost:
            more = "its service counted more tokens than requested, or has another price"
            self._tell(
                f"a call of {quote.request.model_name} cost {dollars(cost)}, at most {dollars(quote.cost)}: {more}"
            )
        if self.ledger.spent >= self.ledger.named:
            self._tell(f"the budget of {dollars(self.ledger.named)} is spent: no more model calls are made")

    def text_counts(self, model_name: str) -> None:
        """Say that a service counts no tokens."""
        self._tell(f"the service of {model_name} counts no tokens, so they are counted from the text")

    def _spent(self, quote: Quote, service: str | None) -> BudgetSpent:
        cap, usage = self.ledger.named, quote.usage
        left = cap - self.ledger.spent
        held = f", {dollars(self.ledger.spent)} of it spent," if self.ledger.spent else ""
        words = f"up to {usage.input_tokens:,} tokens in and {usage.output_tokens:,} out"
        reason = f"the budget of {dollars(cap)}{held} does not cover the next model call"
        reason += (
            f" of {quote.request.program or quote.request.model_name}: with {words} it may cost {dollars(quote.cost)}"
        )
        return BudgetSpent(reason, hint=self._way_on(quote, service, left))

    def _way_on(self, quote: Quote, service: str | None, left: Decimal) -> str:
        """Return which limit to lower, and how far."""
        more = f"raise --max-cost by {dollars(quote.cost - left)}"
        name, usage = quote.request.model_name, quote.usage
        least = self._worst(name, replace(usage, output_tokens=0), service)
        room, output = left - least, quote.cost - least
        fits = int(usage.output_tokens * room / output) if room > 0 and output > 0 else 0
        if fits:
            return f"lower --max-output-tokens (or `limits: {{output-tokens: N}}`) to {fits:,}, or {more}"
        return f"its messages alone may cost {dollars(least)}: shorten what is sent, or {more}"

    def _tell(self, text: str) -> None:
        """Say something once."""
        if text not in self._told:
            self._told.add(text)
            self.notice(f"note: {text}")


def _unknown_price(model_name: str, service: str | None) -> PriceUnknown:
    """Return the refusal of a model without a price, which names the setting."""
    where = f" at {service}" if service else ""
    hint = f'set prices."{model_name}".input and prices."{model_name}".output in your settings.toml, in US dollars for'
    return PriceUnknown(
        f"no price of {model_name}{where} is known, so --max-cost cannot hold", hint=f"{hint} a million tokens"
    )


class Budgeted(Struct, frozen=True):
    """A provider whose calls are charged to a budget. ``service`` is its base URL, ``meter`` counts for one run.

    Each attempt is reserved separately, so waiting between attempts holds nothing. Raises `BudgetSpent`.
    """

    provider: Provider
    budget: Budget
    service: str | None = None
    meter: Meter = field(default_factory=Meter)

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return one attempt, if its worst case fits."""
        quote = self.budget.quote(request, self.service)
        if quote is None:
            reply = await self.provider.complete(request, on_text)
            self.meter.add(reply.usage, Decimal(0))
            return reply
        await self.budget.reserve(quote, self.service)
        return await self._reserved(quote, on_text)

    async def aclose(self) -> None:
        """Close the other one."""
        await self.provider.aclose()

    async def _reserved(self, quote: Quote, on_text: OnText | None) -> ModelReply:
        """Make a call on a reservation. A failed call may be billed as well, to an unknown extent, so its worst
        case counts as spent."""
        reserved = _Reservation(self.budget, quote, self.meter)
        cost, usage = quote.cost, quote.usage
        try:
            with _repeats(reserved.again):
                reply = await self.provider.complete(quote.request, on_text)
            usage = self._counted(quote, reply)
            cost = self._cost(quote, reply, usage)
            return reply
        except RunError as error:
            if not error.billable:
                cost, usage = Decimal(0), Usage()
            raise
        finally:
            reserved.charge(usage, cost)

    def _counted(self, quote: Quote, reply: ModelReply) -> Usage:
        """Return the tokens of a reply. What a service does not count is counted from the text: never fewer."""
        counted, message = reply.usage, Message("assistant", reply.content + (reply.refusal or ""), reply.tool_calls)
        is_empty = not (message.content or message.tool_calls)
        if reply.service is None or (counted.input_tokens and (counted.output_tokens or is_empty)):
            return counted
        self.budget.text_counts(quote.request.model_name)
        written = counted.output_tokens or min(message_upper(message), quote.usage.output_tokens)
        return replace(counted, input_tokens=counted.input_tokens or quote.usage.input_tokens, output_tokens=written)

    def _cost(self, quote: Quote, reply: ModelReply, usage: Usage) -> Decimal:
        service = reply.service or self.service
        for name in (reply.model_name or "", quote.request.model_name):
            cost = self.budget.price(name, usage, service)
            if cost is not None:
                return cost
        return quote.cost


class _Reservation(Struct):
    """The worst case of one request, ``held`` until it is charged."""

    budget: Budget
    quote: Quote
    meter: Meter
    held: bool = True

    async def again(self) -> bool:
        """Charge the request with its worst case, and reserve another one if that fits."""
        self.charge(self.quote.usage, self.quote.cost)
        self.held = await self.budget.ledger.reserve(self.quote.cost)
        return self.held

    def charge(self, usage: Usage, cost: Decimal) -> None:
        """End the reservation, if there still is one."""
        if self.held:
            self.held = False
            self.meter.add(usage, cost)
            self.budget.charge(self.quote, cost)


_REPEATS: ContextVar[tuple[Callable[[], Awaitable[bool]], ...]] = ContextVar("prosa_repeats", default=())
"""The budgets that pay the call under way, the outermost first."""


@contextmanager
def _repeats(again: Callable[[], Awaitable[bool]]) -> Iterator[None]:
    token = _REPEATS.set((*_REPEATS.get(), again))
    try:
        yield
    finally:
        with suppress(ValueError):  # a coroutine that is dropped ends in another context
            _REPEATS.reset(token)


async def may_ask_again() -> bool:
    """Return whether a provider may send a further request within one call, after one that may be billed: the budgets
    count the first with its worst case and reserve the next (X26)."""
    for again in _REPEATS.get():
        if not await again():
            return False
    return True


def tokens_upper(request: ModelRequest) -> int:
    """More input tokens than any service counts for a request: a token of byte-level BPE has at least one byte.

    Tools and schema are counted as a template may write them out, indented and escaped.
    """
    messages = sum(map(message_upper, request.messages))
    tools = sum(json_upper(tool.name, tool.description, tool.parameters) + TOOL_BYTES for tool in request.tools)
    schema = json_upper(request.output.name, request.output.schema) if request.output else 0
    parameters = json_upper(dict(request.parameters)) if request.parameters else 0
    return messages + tools + schema + parameters + len(request.model_name) + _REQUEST_BYTES


def message_upper(message: Message) -> int:
    """Return the same for one message."""
    texts = (message.content, message.name or "", message.tool_call_id or "", message.opaque)
    size = sum(map(_bytes, texts))
    calls = sum(json_upper(call.id, call.name, call.arguments) + TOOL_BYTES for call in message.tool_calls)
    return size + calls + MESSAGE_TOKENS + MESSAGE_BYTES


def _bytes(text: str) -> int:
    """As JSON and as UTF-8, whichever is longer; half a surrogate pair is sent as three bytes."""
    return max(len(text.encode("utf-8", "surrogatepass")), len(json.dumps(text, ensure_ascii=False)))


def json_upper(*values: Plain) -> int:
    """Return the same for values that a template may write as indented JSON."""
    return sum(len(json.dumps(value, indent=4, default=dict)) for value in values)


def dollars(amount: Decimal) -> str:
    """Return an amount for people: `$5`, `$0.0042`; to four significant digits, rounded up."""
    rounding = ROUND_CEILING if amount >= 0 else ROUND_FLOOR
    short = (
        Context(prec=4, rounding=rounding).plus(amount) if abs(amount) < 1000 else amount.quantize(Decimal(1), rounding)
    )
    return f"${short.normalize():f}"
