"""L45, LA27: exact prices; what is not known has none."""

from __future__ import annotations

from decimal import Decimal

import genai_prices
import pytest

from prosa.adapters.providers.prices import KnownModels, KnownPrices
from prosa.runtime.messages import Usage
from prosa.settings import Price


@pytest.mark.parametrize(
    ("service", "known"),
    [
        (None, True),
        ("https://api.openai.com/v1", True),
        ("http://127.0.0.1:8080/v1", False),
        ("https://gateway.example/v1", False),
        ("https://api.mistral.ai/v1", False),
    ],
)
def test_la27_a_price_holds_only_for_the_service_that_charges_it(service: str | None, known: bool):
    """LA27. The user's own price holds everywhere."""
    usage = Usage(1000, 100)
    assert (KnownPrices().cost("gpt-4o", usage, service) is not None) is known
    own = KnownPrices({"gpt-4o": (Decimal(1), Decimal(2))})
    assert own.cost("gpt-4o", usage, service) == Decimal("0.0012")


def test_l45_the_example_of_the_specification() -> None:
    """L45, LA27: 150 tokens in and 75 out of gpt-4o cost 0.001125; the sample's 0.0001125 is a slip."""
    assert KnownPrices().cost("gpt-4o", Usage(150, 75)) == Decimal("0.001125")


def test_cached_tokens_have_their_own_price() -> None:
    assert KnownPrices().cost("gpt-4o", Usage(1000, 75, 800)) == Decimal("0.00225")
    assert KnownPrices().cost("gpt-4o", Usage(10, 0, 20)) == KnownPrices().cost("gpt-4o", Usage(10, 0, 10))


@pytest.mark.parametrize("name", ["", "my-model", "gpt-4o-of-mine", "llama3.2", "deepseek-r1:8b", "gpt-99", "\x00"])
def test_la27_lw9_an_unknown_model_has_no_price(name: str) -> None:
    """LA27, LW9: None, never the price of gpt-4o."""
    assert KnownPrices().cost(name, Usage(150, 75)) is None


def test_la27_the_users_table_wins() -> None:
    """LA27: prices can be set, per million tokens, for known and unknown models."""
    prices = KnownPrices({"gpt-4o": (Decimal(1), Decimal(2)), "mine:8b": (Decimal(4), Decimal(8), Decimal(1))})
    assert prices.cost("gpt-4o", Usage(150, 75, 100)) == Decimal("0.0003")
    assert prices.cost("mine:8b", Usage(1_000_000, 500_000, 400_000)) == Decimal("6.8")
    settings = KnownPrices({"gpt-4o": Price(Decimal(1), Decimal(2), Decimal("0.5"))})
    assert settings.cost("gpt-4o", Usage(1000, 0, 1000)) == Decimal("0.0005")


def test_the_list_is_asked_once_a_minute_for_the_same_tokens_and_once_for_a_window(monkeypatch: pytest.MonkeyPatch):
    """Prices of some models depend on the time of day; an estimate asks a thousand times for a few of them."""
    asked: list[str] = []

    def counted(usage: genai_prices.Usage, name: str, **more: str | None) -> object:
        asked.append(name)
        return original(usage, name, **more)

    original, usage, now = genai_prices.calc_price, Usage(1_234_567, 75), 60_000_000_000.0
    monkeypatch.setattr(genai_prices, "calc_price", counted)
    monkeypatch.setattr("prosa.adapters.providers.prices.time.time", lambda: now)
    costs = {KnownPrices().cost("gpt-4o", usage) for _ in range(3)}
    assert len(costs) == 1 and asked == ["gpt-4o"]
    now += 59.9
    assert {KnownPrices().cost("gpt-4o", usage)} == costs and len(asked) == 1
    now += 0.2
    assert {KnownPrices().cost("gpt-4o", usage)} == costs and len(asked) == 2
    windows = {KnownModels().context("gpt-4o-2024-05-13", None) for _ in range(3)}
    assert len(windows) == 1 and None not in windows and len(asked) == 3
