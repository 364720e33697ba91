"""The connections to a service: pools of a bounded size, with one bound over all, and nothing of them is left (X9)."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.adapters.providers import open_files, transport
from prosa.adapters.providers.openai import OpenAIProvider
from prosa.adapters.providers.transport import POOL_SIZE, Pools
from prosa.runtime.errors import ProviderError
from tests.adapters.providers.asking import KEY, request
from tests.depth import examples
from tests.model_server.server import ModelServer

BODY = {"model": "m", "messages": [{"role": "user", "content": "x"}]}


@contextlib.asynccontextmanager
async def client(most: int) -> AsyncIterator[tuple[httpx2.AsyncClient, Pools]]:
    own = Pools(lambda: httpx2.AsyncHTTPTransport(verify=SSLContext(PROTOCOL_TLS_CLIENT)), most)
    async with httpx2.AsyncClient(transport=own, timeout=20) as made:
        yield made, own


def sizes(own: Pools) -> list[int]:
    return [each.busy for each in own._pools]


def test_x9_calls_at_once_share_pools_of_a_bounded_size(model_server: ModelServer) -> None:
    """X9. Many calls at once take as many pools as they need, and keep their connections."""
    model_server.default = {"content": "ok", "delay": 0.4}

    async def work() -> None:
        async with client(1000) as (made, own):
            url = f"{model_server.base_url}/chat/completions"
            calls = [asyncio.create_task(made.post(url, json=BODY)) for _ in range(2 * POOL_SIZE + 3)]
            while own.busy < len(calls):
                await asyncio.sleep(0)
            assert sizes(own) == [POOL_SIZE, POOL_SIZE, 3]
            await asyncio.gather(*calls)
            assert sizes(own) == [0, 0, 0]
            before = model_server.connections
            assert (await made.post(url, json=BODY)).is_success
            assert model_server.connections == before

    asyncio.run(work())


def test_x9_one_bound_holds_over_all_pools(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "POOL_SIZE", 2)
    model_server.default = {"content": "ok", "delay": 0.05}

    async def work() -> None:
        async with client(5) as (made, own):
            url = f"{model_server.base_url}/chat/completions"
            await asyncio.gather(*(made.post(url, json=BODY) for _ in range(16)))
            assert model_server.most_in_flight == 5 and len(sizes(own)) == 3
            model_server.default = {"content": "ok", "fault": "hang"}
            held = [asyncio.create_task(made.post(url, json=BODY)) for _ in range(5)]
            while own.busy < 5:
                await asyncio.sleep(0)
            with pytest.raises(httpx2.PoolTimeout):
                await made.post(url, json=BODY, timeout=httpx2.Timeout(5, pool=0.01))
            for each in held:
                each.cancel()
            await asyncio.gather(*held, return_exceptions=True)
            assert own.busy == 0
            model_server.default = "ok"
            assert (await made.post(url, json=BODY)).is_success

    asyncio.run(work())


ENDS = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from([200, 400, 500]),
        "cut": st.one_of(st.floats(0, 1), st.just("\r\n\r\n")),
        "fault": st.sampled_from(["reset", "close", "truncated", "not_json", "error200", "hang"]),
    },
)


@given(calls=st.lists(st.tuples(ENDS, st.booleans(), st.integers(0, 40)), min_size=1, max_size=6))
@settings(
    max_examples=examples(40, share=4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_x9_however_calls_end_their_places_are_free_again(
    model_server: ModelServer, calls: list[tuple[dict[str, Any], bool, int]]
) -> None:
    """X9. Errors, answers that break off and calls that are cancelled at any step leave nothing in use."""
    model_server.reset()
    model_server.script(*({"content": "a text", **ends} for ends, _, _ in calls))
    model_server.default = "ok"

    async def work() -> None:
        provider = OpenAIProvider(api_key=KEY, base_url=model_server.base_url, timeout=0.3, silence=0.1)
        asked = request(output=None)

        async def call(stream: bool, steps: int) -> None:
            task = asyncio.create_task(provider.complete(asked, (lambda _: None) if stream else None))
            for _ in range(steps):
                await asyncio.sleep(0)
            if steps:
                task.cancel()
            with contextlib.suppress(ProviderError, asyncio.CancelledError):
                await task

        try:
            await asyncio.gather(*(call(stream, steps) for _, stream, steps in calls))
            await asyncio.gather(*(call(stream, steps // 2) for _, stream, steps in calls))
            connection: Any = provider._connection
            if connection is not None:
                assert connection._pools.busy == 0
        finally:
            await provider.aclose()

    asyncio.run(work())


def test_x9_an_answer_that_is_dropped_leaves_its_place(model_server: ModelServer) -> None:
    """X9. A library that neither reads an answer to its end nor closes it holds no connection."""
    model_server.default = {"content": "long " * 50_000}

    async def work() -> None:
        async with client(1) as (made, own):
            for _ in range(3):
                asked = made.build_request("POST", f"{model_server.base_url}/chat/completions", json=BODY)
                pieces = (await made.send(asked, stream=True)).aiter_raw()
                await anext(pieces)
                del pieces
                gc.collect()
                while own.busy:
                    await asyncio.sleep(0)

    asyncio.run(work())


def test_x9_pools_that_are_not_used_are_closed(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """X9. After many calls at once a run goes on with few connections."""
    monkeypatch.setattr(transport, "POOL_SIZE", 1)
    model_server.default = {"content": "ok", "delay": 0.05}

    async def work() -> None:
        async with client(9) as (made, own):
            url = f"{model_server.base_url}/chat/completions"
            await asyncio.gather(*(made.post(url, json=BODY) for _ in range(3)))
            monkeypatch.setattr(transport, "KEEP_ALIVE_SECONDS", -1.0)
            assert (await made.post(url, json=BODY)).is_success
            assert [len(each.transport._pool.connections) for each in own._pools] == [1, 0, 0]  # type: ignore[attr-defined]

    asyncio.run(work())


@pytest.mark.parametrize(
    ("limit", "open_now", "most"), [(256, 20, 196), (50, 20, 1), (100_000, 20, 1000), (None, 0, 1000)]
)
def test_x9_connections_fit_into_the_files_that_may_be_open(
    monkeypatch: pytest.MonkeyPatch, limit: int | None, open_now: int, most: int
) -> None:
    monkeypatch.setattr(open_files, "limit_of_files", lambda: limit)
    monkeypatch.setattr(open_files, "_open_now", lambda: open_now)
    assert open_files.most_connections() == most
