"""Token counts of model calls, and their sums."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from msgspec import Struct

BATCHED = "#batch"
"""Ends the base URL of an answer that came with a batch of the service: its price is half (X29)."""


NANO = Decimal("1e-9")
"""What processes share is counted in billionths of a US dollar."""

MOST_TOKENS = 2**40
"""A count above it is none: no model reads or writes so much, and the sums of many runs fit into a store (X26)."""


class Usage(Struct, frozen=True):
    """Tokens in and out. ``cached_input_tokens`` are part of ``input_tokens``, billed at their own price; so are
    ``written_input_tokens``, which the service put into its cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    written_input_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.written_input_tokens + other.written_input_tokens,
        )


def nano(amount: Decimal) -> int:
    """Return US dollars as billionths, rounded up."""
    return int((amount / NANO).to_integral_value(ROUND_CEILING))


class Meter(Struct):
    """What one run took so far."""

    tokens: int = 0
    cost: Decimal = Decimal(0)

    def add(self, usage: Usage, cost: Decimal) -> None:
        """Count one call."""
        self.tokens += usage.total_tokens
        self.cost += cost
