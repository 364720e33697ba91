"""The source of vectors: a service or a local model, as chosen by the user, and the key for it (X6, X7).

In: choices, environment and settings. Out: an `Embedder`, or what is missing. Documents have no influence on it, and
nothing is sent before vectors are requested.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from random import random
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.providers.table import URL_VARIABLE
from prosa.app.options import LOCAL, Environment
from prosa.app.run.service import keyed
from prosa.app.run.world import known_prices
from prosa.corpus.embedding import BATCH, Embedder
from prosa.corpus.errors import EmbeddingError
from prosa.runtime.budget import MESSAGE_TOKENS, Budget, Ledger, dollars
from prosa.runtime.errors import BudgetSpent, ProviderError
from prosa.runtime.events import Listener, Scope, ignore
from prosa.runtime.retry import with_retries
from prosa.runtime.usage import Usage

if TYPE_CHECKING:
    from prosa.adapters.providers.embeddings import OpenAIEmbedder
    from prosa.runtime.ports import Clock

RETRIES = 5
"""Further attempts of one batch after a transient error, where the user set nothing."""

WAYS = (
    "Ways on:\n"
    "- a service: --embedding-model NAME, with OPENAI_API_KEY or --base-url URL (`embedding-model` in your settings)\n"
    "- a model on this machine: --embedding-model local"
)


class EmbeddingChoice(Struct, frozen=True):
    """The user's choices on the command line; None leaves one to the settings and the environment. ``max_cost`` is the
    limit for a service in US dollars, None for no limit."""

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    max_cost: Decimal | None = None


def choose_embedder(choice: EmbeddingChoice, around: Environment) -> Embedder:
    """Return the embedder that the user chose. Raises `EmbeddingError`, with the alternatives if none is chosen, and
    `prosa.runtime.errors.ProviderError` for an unusable key, `PriceUnknown` under a cap (X26)."""
    name = choice.model or around.settings.embedding_model
    if not name:
        raise EmbeddingError("no model is chosen that makes vectors", hint=WAYS)
    return _local() if name == LOCAL else _service(name, choice, around)


def _local() -> Embedder:
    from prosa.adapters.embeddings import LocalEmbedder, missing_part
    from prosa.adapters.embeddings.local import HINT, folder

    place, missing = folder(), missing_part()
    if place is None or missing is not None:
        raise EmbeddingError(f"the local model cannot be used: {missing}", hint=HINT)
    return LocalEmbedder(place)


class Paid(Struct, frozen=True):
    """A service that makes vectors within a budget: the worst case of each batch is reserved before it (X26)."""

    embedder: OpenAIEmbedder
    budget: Budget

    @property
    def model_name(self) -> str:
        """The name that is requested and recorded."""
        return self.embedder.model_name

    @property
    def is_remote(self) -> bool:
        """A service may be anywhere."""
        return True

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text. Raises `BudgetSpent` where the batch does not fit."""
        ledger, before = self.budget.ledger, self.embedder.tokens
        worst = self._price(sum(len(each.encode("utf-8", "surrogatepass")) + MESSAGE_TOKENS for each in texts))
        if not await ledger.reserve(worst):
            reason = f"the budget of {dollars(ledger.cap)}, {dollars(ledger.spent)} of it spent, does not hold the next"
            reason = f"{reason} {len(texts)} texts for {self.model_name}: they may cost {dollars(worst)}"
            raise BudgetSpent(reason, hint=f"raise --max-cost by {dollars(worst - ledger.left)}")
        cost = worst
        try:
            vectors = await self.embedder.embed(texts)
            cost = self._price(self.embedder.tokens - before) or worst
        except ProviderError as error:
            cost = worst if error.billable else Decimal(0)
            raise
        finally:
            ledger.settle(worst, cost)
        return vectors

    async def aclose(self) -> None:
        """Close the service."""
        await self.embedder.aclose()

    def _price(self, tokens: int) -> Decimal:
        return self.budget.price(self.model_name, Usage(tokens), self.embedder.service) or Decimal(0)


def _paid(embedder: OpenAIEmbedder, cap: Decimal, around: Environment) -> Paid:
    budget = Budget(known_prices(around.settings), Ledger(cap), notice=around.notice)
    budget.require_price(embedder.model_name, embedder.service, {})
    return Paid(embedder, budget)


def _service(name: str, choice: EmbeddingChoice, around: Environment) -> Embedder:
    from prosa.adapters.providers.embeddings import OpenAIEmbedder

    settings, environ = around.settings, around.environ
    base_url = (
        choice.base_url or settings.embedding_base_url or environ.get(URL_VARIABLE, "").strip() or settings.base_url
    )
    route = keyed(base_url, choice.api_key_env, around)
    if route.is_unset:
        raise EmbeddingError("there is no key for the service that makes vectors", hint=WAYS)
    made = OpenAIEmbedder(model_name=name, api_key=route.key, base_url=base_url, headers=route.headers)
    return made if choice.max_cost is None else _paid(made, choice.max_cost, around)


async def vectors_of(
    texts: Sequence[str], embedder: Embedder, clock: Clock, *, retries: int = RETRIES, listener: Listener = ignore
) -> list[list[float]]:
    """Return one vector for each text, requested in batches, each retried after a transient error.

    Raises `prosa.runtime.errors.ProviderError` or `EmbeddingError`.
    """
    found: list[list[float]] = []
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        found += await with_retries(
            partial(embedder.embed, batch),
            retries=retries,
            clock=clock,
            jitter=random,
            listener=listener,
            scope=Scope("embedding"),
        )
    return found
