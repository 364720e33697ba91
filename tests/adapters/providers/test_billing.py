"""What a call that failed costs, against services that break off anywhere: never less than they may bill (X26)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from prosa.adapters.providers.openai import OpenAIProvider
from prosa.adapters.providers.prices import KnownPrices
from prosa.runtime.budget import Budget, Budgeted, Ledger
from prosa.runtime.errors import BudgetSpent, ProviderError
from prosa.runtime.messages import MOST_TOKENS, Message, ModelRequest, Usage
from tests.adapters.providers.asking import KEY, TOOL, Way, request
from tests.depth import examples
from tests.model_server.connection import Request
from tests.model_server.server import ModelServer

PRICES = KnownPrices({"m-1": (Decimal(1), Decimal(10))})
ASKED = request(output=None, tools=(TOOL,), max_output=50)
CALLS = {"tool_calls": [{"name": "add", "arguments": {"a": 12345678, "b": 87654321}}]}
TEXT = {"content": "a text that is long enough to be cut in the middle"}


def spent(
    way: Way, *, base_url: str | None = None, times: int = 1, asked: ModelRequest = ASKED
) -> tuple[Decimal, Decimal]:
    """What calls cost in a budget, and what is the worst case of one."""
    budget = Budget(PRICES, Ledger(Decimal(1)))
    quote = budget.quote(asked, way.base_url)
    assert quote is not None

    async def work() -> None:
        provider = way.provider(timeout=5, **({} if base_url is None else {"base_url": base_url}))
        try:
            for _ in range(times):
                with contextlib.suppress(ProviderError):
                    await Budgeted(provider, budget, way.base_url).complete(asked, way.on_text)
        finally:
            await provider.aclose()

    asyncio.run(work())
    assert budget.ledger.held == 0
    return budget.ledger.spent, quote.cost


WORKED_ON: list[dict[str, Any]] = [
    {"cut": 0.0},
    {"cut": 0.0, "fault": "reset"},
    {"cut": "\r\n\r\n"},
    {"cut": "HTTP/1.1 200"},
    {"cut": 0.6},
    {"cut": 0.6, "fault": "reset"},
    {"cut": 0.95},
    {**CALLS, "cut": "12345"},
    {**CALLS, "cut": 0.8},
    {"fault": "truncated"},
    {"fault": "error200"},
    {"fault": "html200"},
    {"fault": "not_json"},
    {"fault": "json_list"},
    {"fault": "empty_choices"},
    {"status": 500},
    {"status": 502},
    {"status": 504},
    {"status": 503, "raw": "<html>upstream connect error or disconnect/reset before headers</html>"},
]


@pytest.mark.parametrize("entry", WORKED_ON, ids=lambda entry: json.dumps(entry)[:60])
def test_x26_what_may_have_been_worked_on_costs_its_worst_case(way: Way, entry: dict[str, Any]) -> None:
    """X26. Once the request was written, nobody knows how far the service came."""
    way.server.script({**TEXT, "piece": 100 if entry.get("cut") == "12345" else 8, **entry})
    cost, worst = spent(way)
    assert cost == worst


@pytest.mark.parametrize("status", [307, 400, 401, 403, 404, 408, 409, 413, 422, 429, 503, 529])
def test_x26_a_refusal_is_free(way: Way, status: int) -> None:
    """X26. A status that says that the request was never worked on costs nothing, however often it comes."""
    way.server.script({"status": status, "times": 3})
    assert spent(way, times=3)[0] == 0


@pytest.mark.parametrize("status", [400, 429])
def test_x26_a_refusal_whose_words_break_off_is_free(way: Way, status: int) -> None:
    """X26. Libraries of services may not tell the status then; in doubt it is the worst case."""
    way.server.script({"status": status, "cut": 0.9})
    cost, worst = spent(way)
    assert cost == 0 if way.api in ("chat", "responses") else cost in (0, worst)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize(
    "base_url",
    [f"http://127.0.0.1:{_free_port()}/v1", "http://models.invalid/v1", "tls", "nonsense://x"],
    ids=["refused", "unknown", "tls", "nonsense"],
)
def test_x26_a_service_that_is_not_reached_costs_nothing(way: Way, base_url: str) -> None:
    """X26. Connection refused, a name that does not resolve, a handshake that fails: nothing was written."""
    if base_url == "tls":
        base_url = way.base_url.replace("http:", "https:")
    assert spent(way, base_url=base_url)[0] == 0


def test_x26_a_further_request_within_one_call_is_paid(model_server: ModelServer) -> None:
    """X24, X26. A service that fails with 500 over the shape of the messages is asked in another shape, and a kept
    connection that ends is replaced: each request that may be billed is reserved on its own."""
    way = Way(model_server, "chat", False, [])
    model_server.script({"status": 500, "message": "no system role"}, {**TEXT, "usage": {"input_tokens": 1}})
    cost, worst = spent(way)
    assert worst < cost < 2 * worst and len(model_server.requests) == 2
    model_server.reset()
    model_server.script(TEXT, {"fault": "close"}, TEXT)
    cost, _ = spent(way, times=2)
    assert worst < cost < 2 * worst and len(model_server.requests) == 3


def test_x26_a_further_request_that_does_not_fit_is_not_made(model_server: ModelServer) -> None:
    model_server.script({"status": 500, "message": "no system role"}, TEXT)
    budget = Budget(PRICES, Ledger(Decimal("0.0025")))
    quote = budget.quote(ASKED, model_server.base_url)
    assert quote is not None and quote.cost < budget.ledger.cap < 2 * quote.cost

    async def work() -> None:
        provider = Way(model_server, "chat", False, []).provider()
        try:
            await Budgeted(provider, budget, model_server.base_url).complete(ASKED)
        finally:
            await provider.aclose()

    with pytest.raises(ProviderError, match="status 500"):
        asyncio.run(work())
    assert (budget.ledger.spent, budget.ledger.held, len(model_server.requests)) == (quote.cost, 0, 1)


COUNTS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.sampled_from([MOST_TOKENS, MOST_TOKENS + 1, 2**63, 10**400, -1, 0, 1e400, 0.5, "7", True, None, [], {}]),
)


@given(given_tokens=COUNTS, made_tokens=COUNTS, cached=COUNTS)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_x26_a_count_that_cannot_be_is_none(
    model_server: ModelServer, api: str, given_tokens: Any, made_tokens: Any, cached: Any
) -> None:
    """X26. Whatever a service counts, the tokens that are told are counts, and what they cannot say the text says."""
    counts = {"input_tokens": given_tokens, "output_tokens": made_tokens, "cached_input_tokens": cached}
    model_server.reset()
    model_server.script({**TEXT, "usage": counts}, {**TEXT, "usage": counts})
    for stream in (False, True):
        way = Way(model_server, api, stream, [])
        usage = way.ask(ASKED).usage
        assert all(0 <= each <= MOST_TOKENS for each in (usage.input_tokens, usage.output_tokens))
        assert usage.cached_input_tokens <= usage.input_tokens
        are_counts = all(each is None or _is_count(each) for each in counts.values())
        assert are_counts or usage.total_tokens == 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


def entries() -> st.SearchStrategy[dict[str, Any]]:
    """Anything that a service may do with one request."""
    tokens = st.one_of(st.integers(1, 20), st.sampled_from([0, None, -1, 2**64, 1e400, "x"]))
    usage = st.one_of(st.none(), st.fixed_dictionaries({"input_tokens": tokens, "output_tokens": tokens}))
    status = st.sampled_from([400, 401, 429, 500, 501, 502, 503, 504, 529])
    words = st.sampled_from(["no luck", "no system role", "user messages in a row", "parallel_tool_calls"])
    cut = st.one_of(st.floats(0, 1), st.just("\r\n\r\n"))
    fault = st.sampled_from(
        ["html200", "not_json", "json_list", "error200", "empty_choices", "missing_message", "truncated"]
    )
    ends = st.fixed_dictionaries({"cut": cut}, optional={"fault": st.just("reset")})
    answers = st.sampled_from([TEXT, CALLS, {"refusal": "no"}])
    whole = st.builds(lambda said, counts: {**said, "usage": counts}, answers, usage)
    return st.one_of(
        whole,
        st.builds(lambda number, said: {"status": number, "message": said}, status, words),
        st.builds(lambda said, end: {**said, **end}, whole, ends),
        st.builds(lambda said, name: {**said, "fault": name}, whole, fault),
    )


FREE = frozenset({400, 401, 429, 503, 529})


class Hostile(RuleBasedStateMachine):
    """A budget against a service that does anything with a request, and bills the most that it may bill for it."""

    server: ModelServer
    compared = 0
    """How often the two ledgers were compared, in all runs together."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.billed = Decimal(0)
        self.server.reset()
        self.server.answer = self.answer
        self.budget = Budget(PRICES, Ledger(Decimal("0.02")))
        self.providers = {
            api: OpenAIProvider(api_key=KEY, base_url=self.server.base_url, api=api, timeout=5)  # type: ignore[arg-type]
            for api in ("chat", "responses")
        }

    def answer(self, asked: Request) -> dict[str, Any]:
        """Bills a request as it comes."""
        entry: dict[str, Any] = json.loads(asked.body["metadata"]["entry"])
        sent = sum(len(str(each).encode()) for each in asked.body.get("messages") or asked.body["input"])
        most = asked.body.get("max_tokens") or asked.body["max_output_tokens"]
        if entry.get("status") in FREE:
            return entry
        counts = entry.get("usage") or {}
        known = entry.keys() <= {"content", "tool_calls", "refusal", "usage"}
        told = [counts.get("input_tokens"), counts.get("output_tokens")]
        if known and all(isinstance(each, int) and 0 < each <= 20 for each in told):
            self.billed += PRICES.cost("m-1", Usage(*told)) or 0
        elif known:
            self.billed += PRICES.cost("m-1", Usage(sent // 4, 10)) or 0
        else:
            self.billed += PRICES.cost("m-1", Usage(sent // 4, most)) or 0
        return entry

    async def call(self, api: str, entry: dict[str, Any], stream: bool) -> None:
        asked = ModelRequest(
            "m-1",
            (Message("system", "Count."), Message("user", "one two"), Message("user", "three")),
            tools=(TOOL,),
            parameters={"metadata": {"entry": json.dumps(entry)}},
            max_output=50,
        )
        provider = Budgeted(self.providers[api], self.budget, self.server.base_url)
        with contextlib.suppress(ProviderError, BudgetSpent):
            await provider.complete(asked, (lambda _: None) if stream else None)

    @rule(api=st.sampled_from(["chat", "responses"]), entry=entries(), stream=st.booleans())
    def one(self, api: str, entry: dict[str, Any], stream: bool) -> None:
        self.loop.run_until_complete(self.call(api, entry, stream))

    @rule(api=st.sampled_from(["chat", "responses"]), several=st.lists(entries(), min_size=2, max_size=5))
    def together(self, api: str, several: list[dict[str, Any]]) -> None:
        async def work() -> None:
            await asyncio.gather(*(self.call(api, each, stream=at % 2 == 0) for at, each in enumerate(several)))

        self.loop.run_until_complete(work())

    @rule(api=st.sampled_from(["chat", "responses"]), turns=st.integers(0, 30))
    def broken_off(self, api: str, turns: int) -> None:
        async def work() -> None:
            task = asyncio.create_task(self.call(api, {"delay": 0.05, "content": "late"}, stream=False))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        self.loop.run_until_complete(work())

    @invariant()
    def holds(self) -> None:
        ledger = self.budget.ledger
        assert ledger.held == 0
        assert self.billed <= ledger.spent <= ledger.cap
        type(self).compared += 1

    def teardown(self) -> None:
        for each in self.providers.values():
            self.loop.run_until_complete(each.aclose())
        self.loop.close()
        self.server.answer = None


@pytest.fixture
def hostile(model_server: ModelServer) -> Iterator[type[Hostile]]:
    yield type("HostileHere", (Hostile,), {"server": model_server})


def test_x26_billed_is_at_most_spent_is_at_most_the_cap(hostile: type[Hostile]) -> None:
    """X26. Over cut points, statuses, counts and calls at once, on two wires, whole and streamed."""
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        hostile, settings=settings(max_examples=examples(40), stateful_step_count=12, deadline=None)
    )
    assert hostile.compared > 0
