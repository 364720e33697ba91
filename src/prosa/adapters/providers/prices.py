"""Prices, context sizes and tokenizers of models: the user's own table first, then genai-prices. Offline (L45, LA27).

A model that neither knows has no price: None, never another model's, and never that of another service that has a model
of the same name. The libraries load at the first question; where they are not installed, nothing is known.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TypeAlias

from prosa.runtime.messages import BATCHED, Usage
from prosa.settings import ModelSettings, Price
from prosa.source.url import EMBEDDED_SERVICE

MILLION = Decimal(1_000_000)
ASKED = 1_024
"""Answers of the list that are kept: each takes a millisecond, and an estimate asks for the same ones again."""
PriceTuple: TypeAlias = tuple[Decimal, Decimal] | tuple[Decimal, Decimal, Decimal]


class KnownPrices:
    """Meets the port `Prices`.

    ``overrides``: US dollars per million tokens by exact model name, as `prosa.settings.Price` or as a tuple (input,
    output) or (input, output, cached input). Without the last, cached input costs what input costs.
    """

    def __init__(self, overrides: Mapping[str, Price] | Mapping[str, PriceTuple] | None = None) -> None:
        self._overrides = {name: _price(value) for name, value in (overrides or {}).items()}
        self._has_list: bool | None = None

    def cost(self, model_name: str, usage: Usage, service: str | None = None) -> Decimal | None:
        """US dollars for the tokens, exact, or None when the price is not known; ``service`` is the base URL asked.
        What came with a batch of the service costs half."""
        if service is not None and service.endswith(BATCHED):
            whole = self.cost(model_name, usage, service.removesuffix(BATCHED))
            return None if whole is None else whole / 2
        own = self._overrides.get(model_name)
        if own is None and service is not None and service.startswith(EMBEDDED_SERVICE):
            return Decimal(0)
        return _listed(model_name, usage, service) if own is None else _own(own, usage)

    def knows_at_once(self, names: Iterable[str]) -> bool:
        """Return whether asking about these models would not load the list of prices, which takes some tenths of a
        second."""
        if "genai_prices" in sys.modules:
            return True
        if self._has_list is None:
            self._has_list = has_price_list()  # looks through the folders of all modules
        return not self._has_list or all(name in self._overrides for name in names)


def has_price_list() -> bool:
    """Return whether the list of prices and of context windows is installed."""
    return find_spec("genai_prices") is not None


def _price(value: Price | PriceTuple) -> Price:
    return value if isinstance(value, Price) else Price(*value)


def _own(price: Price, usage: Usage) -> Decimal:
    cached_price = price.input if price.cached_input is None else price.cached_input
    cached = min(usage.cached_input_tokens, usage.input_tokens)
    fresh = usage.input_tokens - cached
    return (fresh * price.input + cached * cached_price + usage.output_tokens * price.output) / MILLION


def _listed(model_name: str, usage: Usage, service: str | None) -> Decimal | None:
    if not model_name or ":" in model_name or not has_price_list():
        # `name:tag` is how local servers call their models; the hosted model of that name has a price, this has none.
        return None
    return _price_at(int(time.time()) // 60, model_name, usage, service)


@lru_cache(maxsize=ASKED)
def _price_at(_minute: int, model_name: str, usage: Usage, service: str | None) -> Decimal | None:
    """Return a price of the list, which may depend on the time of day: it is kept for the rest of the minute."""
    from genai_prices import Usage as ListedUsage
    from genai_prices import calc_price

    cached = min(usage.cached_input_tokens, usage.input_tokens)
    tokens = ListedUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=cached,
        cache_write_tokens=min(usage.written_input_tokens, usage.input_tokens - cached),
    )
    try:
        return calc_price(tokens, model_name, provider_api_url=service).total_price
    except (LookupError, ValueError):
        return None


DEFAULT_OUTPUT = 32_000
"""Tokens of an answer that are asked for where neither the user nor the program says anything, and the service wants a
number. A model that writes less says so, and is asked for what it can."""

MAX_COUNTED = 4 * 1024 * 1024
"""Characters that are counted with a tokenizer; a longer text takes seconds."""

_O200K, _CL100K = "o200k_base", "cl100k_base"
_TOKENIZERS: tuple[tuple[str, str], ...] = (
    (r"gpt-oss", "gpt-oss"),
    (r"gpt-4o|gpt-4\.[15]|gpt-5|chatgpt-4o|o[134](-|$)", _O200K),
    (r"gpt-4|gpt-3\.5|text-embedding-", _CL100K),
    (r"(meta-)?llama-?3", "llama3"),
    (r"(meta-)?llama-?2|tinyllama|vicuna", "llama2"),
    (r"codellama", "codellama"),
    (r"mistral-nemo|mistral-large|pixtral", "mistral_v3"),
    (r"mixtral-8x22b|codestral-22b", "mistral_v2"),
    (r"mixtral-8x7b", "mistral_v1"),
    (r"deepseek-(v3|r1|chat|reasoner)", "deepseek_v3"),
    (r"qwen-?[23]", "qwen3"),
    (r"glm-4", "glm4"),
    (r"kimi-k[23]", "kimi_k2"),
    (r"phi-?4", "phi4"),
    (r"olmo-?2", "olmo2"),
)
"""How the names of models begin, without an owner before a `/`, and the vocabulary that such a model has."""


class KnownModels:
    """Meets the port `prosa.records.estimate.Models`; ``own`` is what the user set, by exact name."""

    def __init__(self, own: Mapping[str, ModelSettings] | None = None) -> None:
        self._own = own or {}

    def context(self, model_name: str, service: str | None) -> int | None:
        """Return tokens of the context window of a model at a service (None: wherever it is)."""
        own = self._own.get(model_name, ModelSettings()).context
        return own if own is not None else _listed_context(model_name, service)

    def max_output(self, model_name: str) -> int | None:
        """Return tokens that a model writes in one call at most, where the user says."""
        return self._own.get(model_name, ModelSettings()).max_output

    def tokens(self, model_name: str, text: str) -> tuple[int, bool] | None:
        """Return the tokens of a text, and whether that is the tokenizer of the model; None without the extra `tokens`,
        and for a tokenizer that it does not have."""
        if len(text) > MAX_COUNTED or find_spec("splintr") is None:
            return None
        name = self._own.get(model_name, ModelSettings()).tokenizer or tokenizer_of(model_name)
        count = _counter(name or _O200K)
        return None if count is None else (count(text), name is not None)


def tokenizer_of(model_name: str) -> str | None:
    """Return the vocabulary of a model, by how its name begins; None for one that is not known to be open."""
    plain = model_name.lower().rpartition("/")[2].replace("_", "-").replace(" ", "-")
    return next((name for begin, name in _TOKENIZERS if re.match(begin, plain)), None)


@cache
def _counter(name: str) -> Callable[[str], int] | None:
    from splintr import Tokenizer

    try:
        made = Tokenizer.from_pretrained(name)
    except (ValueError, OSError, RuntimeError):
        return None
    return lambda text: len(made.encode_ordinary(text.encode("utf-8", "replace").decode()))


def _listed_context(model_name: str, service: str | None) -> int | None:
    if not model_name or ":" in model_name or not has_price_list():
        return None
    return _window(model_name, service)


@lru_cache(maxsize=ASKED)
def _window(model_name: str, service: str | None) -> int | None:
    from genai_prices import Usage, calc_price

    try:
        return calc_price(Usage(), model_name, provider_api_url=service).model.context_window
    except (LookupError, ValueError):
        return None
