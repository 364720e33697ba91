"""The frame of one question to a service: its time, its failures in words, and answers that are no turn of the
assistant.

In: an endpoint, the seconds it may take, what was asked for. Out: what happens inside, or a `ProviderError` that names
the service, never contains the key, and says whether the service may have worked on the request (X26).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import TypeAlias

from msgspec import Struct

from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem, error_from_exchange, error_from_status
from prosa.adapters.providers.request_shape import is_prefill_refusal
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText

STREAM_SILENCE = 300.0  # seconds a stream may be silent; models that think first are, for minutes
Ask: TypeAlias = Callable[[ModelRequest, OnText | None], Awaitable[ModelReply]]


class Sent(Struct):
    """What the transport knows of a request: whether its body, or a part of it, went to the service."""

    written: bool = False


_SENT: ContextVar[Sent | None] = ContextVar("prosa_sent", default=None)


def sent_now() -> Sent:
    """Return what is known of the request under way; libraries between here and the transport need not pass it on."""
    return _SENT.get() or Sent()


@asynccontextmanager
async def asking(endpoint: Endpoint, *, timeout: float, model_name: str) -> AsyncIterator[None]:
    """Return one question, answered within ``timeout`` seconds. Raises `ProviderError`."""
    sent = Sent()
    token = _SENT.set(sent)
    try:
        async with asyncio.timeout(timeout):
            yield
    except ExchangeProblem as problem:
        raise error_from_exchange(problem, endpoint, billable=sent.written) from None
    except StatusProblem as problem:
        raise error_from_status(problem, endpoint, model_name) from None
    except TimeoutError:
        late = ExchangeProblem(f"did not finish within {timeout:g} s", kind="timeout", retryable=True)
        raise error_from_exchange(late, endpoint, billable=sent.written) from None
    finally:
        with suppress(ValueError):  # a coroutine that is dropped ends in another context
            _SENT.reset(token)


async def judged(request: ModelRequest, on_text: OnText | None, ask: Ask) -> ModelReply:
    """Ask; the reply to a request that ends with an assistant message is checked before it is returned (PA17).

    Raises `ExchangeProblem` where the service takes that message for the beginning of its own answer.
    """
    last = request.messages[-1]
    if last.role != "assistant":
        return await ask(request, on_text)
    try:
        reply = await ask(request, None)
    except StatusProblem as problem:
        raise (prefilled() if is_prefill_refusal(problem) else problem) from None
    if last.content and reply.content.startswith(last.content):
        raise prefilled()
    if on_text is not None and reply.content:
        on_text(reply.content)
    return reply


def prefilled() -> ExchangeProblem:
    """Return the error for a service that continues a last message of the assistant."""
    return ExchangeProblem(
        "takes a last message of the assistant for the beginning of its own answer, so there is no turn to give",
        kind="bad-request",
        hint="add a message of the user at the end",
    )
