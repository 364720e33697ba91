"""Embeddings of a service that speaks the OpenAI wire format: `POST /embeddings`.

In: texts. Out: one vector for each, in order. One attempt for each batch, never retried inside (X9). Nothing is sent
but the texts and the name of the model.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from prosa.adapters.providers.asking import asking
from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL, Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, page_instead
from prosa.adapters.providers.wire import NoCount, bearer, count, decode, encode
from prosa.corpus.embedding import MAX_DIMENSION
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.adapters.providers.transport import Transport

PATH = "/embeddings"
TIMEOUT = 120.0


class OpenAIEmbedder:
    """Meets `prosa.corpus.embedding.Embedder`: ``model_name`` at ``base_url`` (None: OpenAI's own address).

    ``tokens`` are those that the service has counted so far; 0 where it counts none.
    """

    def __init__(
        self,
        *,
        model_name: str,
        api_key: str | None,
        base_url: str | None,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        base_url, key = (base_url or DEFAULT_BASE_URL).strip().rstrip("/"), (api_key or "").strip()
        self._endpoint = Endpoint(base_url, key or None, {**(headers or {}), **(bearer(key) if key else {})})
        self._model_name = model_name
        self._timeout = timeout
        self.tokens = 0
        self._transport: Transport | None = None

    @property
    def model_name(self) -> str:
        """The name that is asked for and recorded."""
        return self._model_name

    @property
    def is_remote(self) -> bool:
        """A service may be anywhere."""
        return True

    @property
    def service(self) -> str:
        """The base URL, as people may see it: what a price belongs to (LA27)."""
        return self._endpoint.shown

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text. Raises `prosa.runtime.errors.ProviderError`, which says whether to try
        again."""
        async with asking(self._endpoint, timeout=self._timeout, model_name=self._model_name):
            return await self._exchange(texts)

    async def aclose(self) -> None:
        """Release connections. Safe to call twice."""
        transport, self._transport = self._transport, None
        if transport is not None and transport.loop is asyncio.get_running_loop():
            await transport.aclose()

    async def _exchange(self, texts: Sequence[str]) -> list[list[float]]:
        body = encode({"model": self._model_name, "input": list(texts), "encoding_format": "float"})
        async with self._connected().post(PATH, body, silence=self._timeout) as answer:
            data = b"".join([chunk async for chunk in answer.chunks])
        if "html" in answer.content_type or data.lstrip()[:1] == b"<":
            raise page_instead("vectors")
        value = decode(data)
        with suppress(NoCount):
            self.tokens += count(value.get("usage"), "prompt_tokens")
        return read_vectors(value, len(texts))

    def _connected(self) -> Transport:
        if self._transport is None or self._transport.loop is not asyncio.get_running_loop():
            from prosa.adapters.providers.transport import Transport

            self._transport = Transport(self._endpoint, timeout=self._timeout)
        return self._transport


def read_vectors(answer: Mapping[str, Value], count: int) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts. Raises `ExchangeProblem` for anything else."""
    data = answer.get("data")
    if not isinstance(data, list) or len(data) != count:
        raise ExchangeProblem(f"did not send {count} vectors")
    placed: dict[int, list[float]] = {}
    for at, item in enumerate(data):
        index = item.get("index", at) if isinstance(item, Mapping) else None
        vector = _vector(item.get("embedding")) if isinstance(item, Mapping) else None
        if not isinstance(index, int) or vector is None:
            raise ExchangeProblem("sent something that is not a vector of numbers")
        placed[index] = vector
    if sorted(placed) != list(range(count)) or len({len(vector) for vector in placed.values()}) > 1:
        raise ExchangeProblem("sent vectors that do not belong to the texts")
    return [placed[at] for at in range(count)]


def _vector(value: Value) -> list[float] | None:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_DIMENSION:
        return None
    try:
        vector = [float(number) for number in value if isinstance(number, int | float) and not isinstance(number, bool)]
    except OverflowError:
        return None
    return vector if len(vector) == len(value) and all(map(math.isfinite, vector)) else None
