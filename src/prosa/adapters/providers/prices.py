"""What tokens cost: the user's own table first, then the list that genai-prices carries. Offline (L45, LA27).

A model that neither knows has no price: None, never another model's, and never that of another service that has a
model of the same name. genai-prices loads at the first question; where it is not installed, nothing is listed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal
from importlib.util import find_spec
from typing import TypeAlias

from prosa.runtime.usage import BATCHED, Usage
from prosa.settings import Price
from prosa.source.url import EMBEDDED_SERVICE

MILLION = Decimal(1_000_000)
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
