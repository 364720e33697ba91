"""Search by meaning: vectors for sections without one, the nearest to a query, fused with the results of full text.

A small model on this machine or a service that the user chose makes them. Text is only sent to a service here and in
`app.corpus.enrich`, and never that of classified documents (X6). Vectors are stored in the index by the digest of their
text, so the same text is sent once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from random import random
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.providers.endpoint import URL_VARIABLE
from prosa.adapters.sqlite.search import prepare, ranked_sections
from prosa.adapters.sqlite.search_hits import SectionHit, hits_of
from prosa.adapters.sqlite.similar import file_of, placed, remember, unmade
from prosa.app.corpus.similar import MAX_RANKED, nearest_sections
from prosa.app.options import LOCAL, Environment
from prosa.app.run.service import keyed
from prosa.app.run.world import known_prices
from prosa.corpus.embedding import BATCH, MAX_TEXT, Embedder, looks_classified
from prosa.corpus.errors import EmbeddingError
from prosa.corpus.query import parse_query
from prosa.corpus.similar import fused
from prosa.runtime.budget import MESSAGE_TOKENS, Budget, Ledger, dollars
from prosa.runtime.errors import BudgetSpent, ProviderError
from prosa.runtime.events import Listener, Scope, ignore
from prosa.runtime.messages import Usage
from prosa.runtime.pacing import with_retries
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.adapters.providers.embeddings import OpenAIEmbedder
    from prosa.adapters.sqlite.similar import Unmade
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.search import Hit, Search
    from prosa.runtime.ports import Clock


MAX_NEW = 1_000
"""Sections that one search sends at most where the user says nothing: some cents, and a minute of a local model."""


class Made(Struct, frozen=True):
    """What became of sections without a vector: how many got one, and how many are left without."""

    made: int = 0
    left: int = 0


async def make_vectors(
    corpus: OpenCorpus,
    embedder: Embedder,
    clock: Clock,
    *,
    most: int = MAX_NEW,
    progress: Callable[[int, int], None] | None = None,
) -> Made:
    """Compute missing vectors of at most ``most`` sections. Every batch is stored as soon as it arrives, so that an
    interrupted run can continue. Raises what the embedder raises."""

    model = embedder.model_name
    wanted = list(unmade(corpus.index.connection(), model, classified=not embedder.is_remote))
    if wanted:
        with corpus.index.writing() as connection:
            wanted = placed(connection, model, wanted)
    now, left = _to_send(corpus, wanted, most) if embedder.is_remote else (wanted[:most], len(wanted[most:]))
    for start in range(0, len(now), BATCH):
        batch: Sequence[Unmade] = now[start : start + BATCH]
        vectors = await vectors_of([section.text for section in batch], embedder, clock)
        with corpus.index.writing() as connection:
            remember(connection, model, zip(batch, vectors, strict=True))
        if progress is not None:
            progress(start + len(batch), len(now))
    return Made(len(now), left)


def _to_send(corpus: OpenCorpus, wanted: Sequence[Unmade], most: int) -> tuple[list[Unmade], int]:
    """Return the first sections that may leave this machine, and how many were not examined. The file of each document
    is read again: it may have changed since it was indexed, and broken front matter may contain more than a reader
    understood (X6)."""
    connection, looked_at = corpus.index.connection(), dict[int, bool]()
    now: list[Unmade] = []
    for count, section in enumerate(wanted):
        if len(now) == most:
            return now, len(wanted) - count
        if section.document not in looked_at:
            looked_at[section.document] = _may_go(corpus, *file_of(connection, section.document))
        if looked_at[section.document]:
            now.append(section)
    return now, 0


def _may_go(corpus: OpenCorpus, path: str, digest: str) -> bool:
    """Return whether a file is unchanged since it was indexed, and does not look classified."""
    try:
        source = corpus.files.read(corpus.root / path)
    except FileProblem:
        return False
    return source.digest == digest and not looks_classified(source.text)


async def semantic_search(corpus: OpenCorpus, asked: Search, embedder: Embedder, clock: Clock) -> list[Hit]:
    """Return the hits for a query, by words and by meaning together. Raises `EmbeddingError` for an empty query."""

    if not asked.text.strip():
        raise EmbeddingError("a search by meaning needs a query")
    connection = corpus.index.connection()
    (vector,) = await vectors_of([asked.text.strip()[:MAX_TEXT]], embedder, clock)
    query = parse_query(asked.text)
    prepare(connection)
    wider = replace(asked, limit=MAX_RANKED)
    by_words = [] if query.is_empty else ranked_sections(connection, query, wider)
    by_meaning = nearest_sections(corpus, vector, embedder.model_name, wider)
    return hits_of(connection, query, _together((by_words, by_meaning), asked), sections=True)


def _together(rankings: Sequence[Sequence[SectionHit]], asked: Search) -> list[SectionHit]:
    """Return several rankings as one: by section where every section is wanted, else by document."""
    by_key: dict[int, SectionHit] = {}
    orders: list[list[int]] = []
    for ranking in rankings:
        keys = [hit.section if asked.sections else hit.document for hit in ranking]
        orders.append(keys)
        for key, hit in zip(keys, ranking, strict=True):
            by_key.setdefault(key, hit)
    best = fused(orders)[: asked.limit]
    return [SectionHit(by_key[key].section, by_key[key].document, score) for key, score in best]


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


def choose_embedder(choice: EmbeddingChoice, environment: Environment) -> Embedder:
    """Return the embedder that the user chose. Raises `EmbeddingError`, with the alternatives if none is chosen, and
    `prosa.runtime.errors.ProviderError` for an unusable key, `PriceUnknown` under a cap (X26)."""
    name = choice.model or environment.settings.embedding_model
    if not name:
        raise EmbeddingError("no model is chosen that makes vectors", hint=WAYS)
    return _local() if name == LOCAL else _service(name, choice, environment)


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
        worst = self._price(sum(len(text.encode("utf-8", "surrogatepass")) + MESSAGE_TOKENS for text in texts))
        if not await ledger.reserve(worst):
            reason = (
                f"the budget of {dollars(ledger.cap)}, {dollars(ledger.spent)} of it spent, does not cover the next"
            )
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
            ledger.charge(worst, cost)
        return vectors

    async def aclose(self) -> None:
        """Close the service."""
        await self.embedder.aclose()

    def _price(self, tokens: int) -> Decimal:
        return self.budget.price(self.model_name, Usage(tokens), self.embedder.service) or Decimal(0)


def _paid(embedder: OpenAIEmbedder, cap: Decimal, environment: Environment) -> Paid:
    budget = Budget(known_prices(environment.settings), Ledger(cap), notice=environment.notice)
    budget.require_price(embedder.model_name, embedder.service, {})
    return Paid(embedder, budget)


def _service(name: str, choice: EmbeddingChoice, environment: Environment) -> Embedder:
    from prosa.adapters.providers.embeddings import OpenAIEmbedder

    settings, environ = environment.settings, environment.environ
    base_url = (
        choice.base_url or settings.embedding_base_url or environ.get(URL_VARIABLE, "").strip() or settings.base_url
    )
    route = keyed(base_url, choice.api_key_env, environment)
    if route.is_unset:
        raise EmbeddingError("there is no key for the service that makes vectors", hint=WAYS)
    made = OpenAIEmbedder(model_name=name, api_key=route.key, base_url=base_url, headers=route.headers)
    return made if choice.max_cost is None else _paid(made, choice.max_cost, environment)


async def vectors_of(
    texts: Sequence[str], embedder: Embedder, clock: Clock, *, retries: int = RETRIES, listener: Listener = ignore
) -> list[list[float]]:
    """Return one vector for each text, requested in batches, each retried after a transient error.

    Raises `prosa.runtime.errors.ProviderError` or `EmbeddingError`.
    """
    vectors: list[list[float]] = []
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        vectors += await with_retries(
            partial(embedder.embed, batch),
            retries=retries,
            clock=clock,
            jitter=random,
            listener=listener,
            scope=Scope("embedding"),
        )
    return vectors
