"""The budget of model calls: reserved before, settled after, never exceeded (X26)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.providers.prices import KnownPrices
from prosa.runtime.budget import OUTPUT_UNDER_CAP, Budget, Budgeted, Ledger, dollars, message_upper, tokens_upper
from prosa.runtime.errors import BudgetSpent, PriceUnknown, ProviderError
from prosa.runtime.messages import Message, ModelReply, ModelRequest, OutputFormat, ToolCall, ToolSpec, Usage

PRICES = KnownPrices({"m": (Decimal(1), Decimal(10)), "dear": (Decimal(100), Decimal(1000))})
REQUEST = ModelRequest("m", (Message("user", "Ten words or so."),), max_output=100)
SERVICE = "https://models.example/v1"
Answer = ModelReply | Exception


class Answering:
    """A provider that gives answers in turn, or fails; it keeps the requests and waits where it is told to."""

    def __init__(self, *answers: Answer, speaks: str = "") -> None:
        self.answers, self.speaks = list(answers), speaks
        self.requests: list[ModelRequest] = []
        self.begun, self.goes_on = asyncio.Event(), asyncio.Event()
        self.goes_on.set()

    async def complete(self, request: ModelRequest, on_text: Callable[[str], None] | None = None) -> ModelReply:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if on_text is not None and self.speaks:
            on_text(self.speaks)
        self.begun.set()
        await self.goes_on.wait()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def aclose(self) -> None:
        self.begun.clear()


def reply(tokens_in: int = 0, tokens_out: int = 0, *, model: str | None = None, content: str = "x") -> ModelReply:
    return ModelReply(content, usage=Usage(tokens_in, tokens_out), model_name=model, service=SERVICE)


def asked(
    answer: Answer, *, cap: str = "5", request: ModelRequest = REQUEST, speaks: str = "", explicit: bool = True
) -> tuple[Budget, Budgeted, list[str]]:
    """One call within a budget; what it left behind."""
    said: list[str] = []
    budget = Budget(PRICES, Ledger(Decimal(cap)), explicit, said.append)
    provider = Budgeted(Answering(answer, speaks=speaks), budget, SERVICE)

    async def work() -> None:
        with contextlib.suppress(ProviderError):
            await provider.complete(request, (lambda _: None) if speaks else None)

    asyncio.run(work())
    assert budget.ledger.held == 0 and provider.meter.cost == budget.ledger.spent
    return budget, provider, said


def test_x26_a_call_costs_what_its_tokens_cost() -> None:
    """X26, LA27. The price of the model that answered, else of the one that was asked for."""
    assert asked(reply(1_000, 100))[0].ledger.spent == Decimal("0.002")
    assert asked(reply(1_000, 100, model="m-of-ours"))[0].ledger.spent == Decimal("0.002")
    budget, _, said = asked(reply(1_000, 10, model="dear"))
    assert budget.ledger.spent == Decimal("0.11") and "another price" in said[0]


@pytest.mark.parametrize(
    ("answer", "speaks", "billed"),
    [
        (ProviderError("late", kind="timeout", retryable=True), "", True),
        (ProviderError("half", kind="malformed", retryable=True), "", True),
        (ProviderError("cut", kind="network", retryable=True), "some text", True),
        (ProviderError("reset", kind="network", retryable=True), "", True),
        (ProviderError("broken", kind="server", retryable=True), "", True),
        (ProviderError("refused", kind="network", retryable=True, billable=False), "", False),
        (ProviderError("no", kind="auth", retryable=False, billable=False), "", False),
        (ProviderError("busy", kind="rate-limit", retryable=True, billable=False), "", False),
    ],
)
def test_x26_what_may_be_billed_is_spent(answer: Answer, speaks: str, billed: bool) -> None:
    """X26. Nobody knows how far a call came that was cut off: its worst case is spent. A refusal costs nothing."""
    budget, provider, _ = asked(answer, speaks=speaks)
    quote = budget.quote(REQUEST, SERVICE)
    assert quote is not None
    assert budget.ledger.spent == (quote.cost if billed else 0)
    assert bool(provider.meter.tokens) == billed


def test_x26_a_call_that_is_broken_off_is_spent() -> None:
    async def work() -> None:
        budget, answering = Budget(PRICES, Ledger(Decimal(1))), Answering(reply())
        answering.goes_on.clear()
        task = asyncio.create_task(Budgeted(answering, budget, SERVICE).complete(REQUEST))
        await answering.begun.wait()
        assert budget.ledger.held > 0
        task.cancel()
        await asyncio.wait({task})
        assert (budget.ledger.held, budget.ledger.spent) == (0, budget.quote(REQUEST, SERVICE).cost)  # type: ignore[union-attr]

    asyncio.run(work())


def test_x26_tokens_that_nobody_counted_are_counted_from_the_text() -> None:
    budget, _, said = asked(reply(content="four"))
    assert budget.ledger.spent >= Decimal(len(REQUEST.messages[0].content) + 10 * len("four")) / 1_000_000
    assert said == ["note: the service of m counts no tokens, so they are counted from the text"]


def test_x26_only_a_cap_of_the_user_refuses_an_unknown_price() -> None:
    """X26. Under the default of a server the call is made and not counted; that is said, but not of this machine."""
    unknown = ModelRequest("made-up", REQUEST.messages)
    with pytest.raises(PriceUnknown) as error:
        asked(reply(5, 5), request=unknown)
    assert 'prices."made-up".input' in error.value.hint and "made-up" in error.value.message
    budget, provider, said = asked(reply(5, 5), request=unknown, explicit=False)
    assert (budget.ledger.spent, provider.meter.tokens) == (0, 10)
    assert said == ["note: no price of made-up is known, so its calls do not count in the budget"]
    here = Budget(PRICES, Ledger(Decimal(1)), explicit=False, notice=said.append)
    assert here.quote(unknown, "http://127.0.0.1:8080/v1") is None
    assert here.quote(unknown, None) is None and len(said) == 1


@pytest.mark.parametrize(
    "more", [{"service_tier": "priority"}, {"prediction": {}}, {"best_of": 2}, {"modalities": ["audio"]}]
)
def test_x26_parameters_that_change_the_price_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(PriceUnknown, match=next(iter(more))):
        asked(reply(), request=ModelRequest("m", REQUEST.messages, parameters=more))
    asked(reply(), request=ModelRequest("m", REQUEST.messages, parameters={"service_tier": "auto", "best_of": 1}))


def test_x26_without_a_limit_a_call_may_write_so_much_and_it_is_said() -> None:
    """X9, X26. 4,096 tokens where nobody sets a limit; a limit of the program's own parameters counts too."""
    _, provider, said = asked(reply(), request=ModelRequest("m", REQUEST.messages))
    sent = provider.provider.requests[0]  # type: ignore[attr-defined]
    assert sent.max_output == OUTPUT_UNDER_CAP == 4096
    assert said[0] == "note: each model call may write 4,096 tokens, as no limit is set; --max-output-tokens sets one"
    own = ModelRequest("m", REQUEST.messages, parameters={"max-tokens": 7, "maxCompletionTokens": 9})
    _, provider, said = asked(reply(1, 1), request=own)
    assert provider.provider.requests[0].max_output == 7 and not said  # type: ignore[attr-defined]


def test_x26_a_call_that_does_not_fit_is_not_made_and_says_which_limit_to_lower() -> None:
    """X26, C2. The number that the hint names is one that fits."""
    with pytest.raises(BudgetSpent) as error:
        asked(reply(), cap="0.0015", request=ModelRequest("m", REQUEST.messages, max_output=100))
    assert error.value.kind == "budget" and "does not cover" in error.value.message
    fits = int(error.value.hint.split(" to ")[1].split(",")[0])
    assert "--max-output-tokens" in error.value.hint and 0 < fits < 100
    asked(reply(1, 1), cap="0.0015", request=ModelRequest("m", REQUEST.messages, max_output=fits))
    with pytest.raises(BudgetSpent, match="does not cover") as error:
        asked(reply(), cap="0.0000001")
    assert "messages alone" in error.value.hint and "--max-cost" in error.value.hint


AMOUNTS = st.integers(0, 40).map(Decimal)


@given(
    cap=st.integers(0, 100).map(Decimal),
    calls=st.lists(st.tuples(AMOUNTS, st.integers(0, 100), st.integers(0, 3), st.booleans()), max_size=30),
)
def test_x26_spent_and_held_stay_within_the_cap(cap: Decimal, calls: list[tuple[Decimal, int, int, bool]]) -> None:
    """X26. Any number of calls at once, of any cost up to their worst case, some of them broken off: at every step
    the invariant holds, whoever is refused could not have fitted, and in the end nothing is held."""
    ledger = Ledger(cap)
    refused: list[tuple[Decimal, Decimal]] = []

    def holds() -> None:
        assert ledger.spent + ledger.held <= cap and ledger.held >= 0

    async def call(worst: Decimal, percent: int, steps: int) -> None:
        for _ in range(steps):
            await asyncio.sleep(0)
        if not await ledger.reserve(worst):
            refused.append((worst, ledger.cap - ledger.spent))
            return
        cost = worst
        try:
            holds()
            for _ in range(steps):
                await asyncio.sleep(0)
                holds()
            cost = worst * percent / 100
        finally:
            ledger.charge(worst, cost)
            holds()

    async def work() -> None:
        tasks = [asyncio.create_task(call(worst, percent, steps)) for worst, percent, steps, _ in calls]
        for _ in range(2):
            await asyncio.sleep(0)
            holds()
        for task, (*_, broken_off) in zip(tasks, calls, strict=True):
            if broken_off:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(work())
    assert ledger.held == 0 and ledger.spent <= cap
    assert all(worst > left for worst, left in refused)


class Store:
    """A cap that two processes share."""

    def __init__(self, cap: int) -> None:
        self.left = Decimal(cap)

    async def draw(self, wanted: Decimal) -> Decimal:
        await asyncio.sleep(0)
        drawn = min(self.left, max(wanted, Decimal(5)))
        self.left -= drawn
        return drawn


@given(cap=st.integers(0, 60), costs=st.lists(st.integers(1, 9), max_size=30))
def test_x26_ledgers_that_draw_on_one_store_stay_within_its_cap(cap: int, costs: list[int]) -> None:
    """X26. What all of them were granted is never more than the cap, and each stays within its own grants."""
    store = Store(cap)
    ledgers = [Ledger(Decimal(0), grants=store) for _ in range(2)]

    async def call(ledger: Ledger, cost: Decimal) -> None:
        if await ledger.reserve(cost):
            assert ledger.spent + ledger.held <= ledger.cap
            await asyncio.sleep(0)
            ledger.charge(cost, cost)

    async def work() -> None:
        await asyncio.gather(*(call(ledgers[at % 2], Decimal(cost)) for at, cost in enumerate(costs)))

    asyncio.run(work())
    assert sum(each.spent for each in ledgers) <= sum(each.cap for each in ledgers) == cap - store.left


def test_x26_a_call_waits_for_the_own_ones_before_it_is_refused() -> None:
    """X26. Two calls of which one fits: the second is made when the first turns out cheap."""

    async def work() -> None:
        budget = Budget(PRICES, Ledger(Decimal("0.003")))
        answering = Answering(reply(1, 1), reply(1, 1))
        answering.goes_on.clear()
        provider = Budgeted(answering, budget, SERVICE)
        tasks = [asyncio.create_task(provider.complete(REQUEST)) for _ in range(2)]
        await answering.begun.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(answering.requests) == 1
        answering.goes_on.set()
        await asyncio.gather(*tasks)
        assert len(answering.requests) == 2 and budget.ledger.spent == Decimal("0.000022")

    asyncio.run(work())


TEXT = st.text(max_size=40) | st.just("\ud83d half") | st.just("日本語🦜") | st.just('{"a":[1,2,3]}')


@given(texts=st.lists(TEXT, min_size=1, max_size=5), arguments=TEXT)
def test_x26_no_request_has_more_tokens_than_are_reserved(texts: list[str], arguments: str) -> None:
    """X26. As many as the request has bytes on the wire, and 16 a message: no tokenizer gives more."""
    from prosa.adapters.providers import chat, responses
    from prosa.adapters.providers.request_shape import RequestShape
    from prosa.adapters.providers.wire import encode

    schema: Any = {"type": "object", "properties": {text: {"description": text} for text in texts}}
    calls = (ToolCall("call_1", "tool", arguments), ToolCall("call_2", "tool", arguments))
    messages = (
        *(Message("user", text, name="ann") for text in texts),
        Message("assistant", "", calls),
        *(Message("tool", arguments, tool_call_id=call.id) for call in calls),
    )
    tool, output = ToolSpec("tool", texts[0], schema), OutputFormat("output", schema, strict=True)
    request = ModelRequest("m", messages, (tool, tool), output, {"temperature": 0.5, "stop": texts}, max_output=9)
    most = tokens_upper(request)
    for wire in (chat.WIRE, responses.WIRE):
        assert most >= len(encode(wire.body(request, RequestShape(), True))) + 16 * len(messages)
    assert all(message_upper(each) >= len(each.content) for each in messages)
    assert most >= len(json.dumps(schema, indent=4))


@pytest.mark.parametrize(
    ("amount", "words"),
    [("5", "$5"), ("0.00421", "$0.00421"), ("0.0123456", "$0.01235"), ("1234.2", "$1235"), ("0", "$0")],
)
def test_x26_amounts_are_short_and_never_below(amount: str, words: str) -> None:
    assert dollars(Decimal(amount)) == words


@pytest.mark.parametrize("cap", [None, "five", float("nan")])
def test_x26_a_cap_that_is_no_amount_is_refused(cap: object):
    """X26: a comparison with it would raise in the middle of a run, or never hold."""
    with pytest.raises(ValueError, match="a cap is an amount in US dollars, found"):
        Ledger(cap)
