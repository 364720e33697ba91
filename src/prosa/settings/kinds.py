"""What a value in a settings file must be: for each kind the words for a message and the check.

In: a value as the TOML reader gives it, numbers with a fraction as `Decimal`. Out: the value as `Settings` holds it,
or None for one that will not do. It converts units (MiB to bytes) and guesses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

MIB = 1024 * 1024


def _text(raw: Any) -> str | None:
    return raw if isinstance(raw, str) and raw and raw.isprintable() else None


def _url(raw: Any) -> str | None:
    text = _text(raw)
    return text if text and text.startswith(("http://", "https://")) and " " not in text else None


def _variable(raw: Any) -> str | None:
    return raw if isinstance(raw, str) and raw.isascii() and raw.isidentifier() else None


def _texts(raw: Any) -> tuple[str, ...] | None:
    return tuple(raw) if isinstance(raw, list) and all(_text(each) for each in raw) else None


def _whole(raw: Any) -> int | None:
    # Nothing that is counted here needs more than 2^53, and larger numbers are typing mistakes.
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= 2**53 else None


def _count(raw: Any) -> int | None:
    return _whole(raw) or None


def _mebibytes(raw: Any) -> int | None:
    count = _count(raw)
    return count * MIB if count else None


def _number(raw: Any) -> Decimal | None:
    number = Decimal(raw) if isinstance(raw, int | Decimal) and not isinstance(raw, bool) else None
    return number if number is not None and number.is_finite() and 0 <= number <= 2**53 else None


def _seconds(raw: Any) -> float | None:
    number = _number(raw)
    return float(number) if number else None


KINDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "text": ("a text", _text),
    "texts": ("a list of texts", _texts),
    "flag": ("true or false", lambda raw: raw if isinstance(raw, bool) else None),
    "url": ("a URL that starts with http:// or https://", _url),
    "api": ('"chat" or "responses"', lambda raw: raw if raw in ("chat", "responses") else None),
    "variable": ("the name of an environment variable", _variable),
    "whole": ("a whole number from 0", _whole),
    "count": ("a whole number from 1", _count),
    "mebibytes": ("a whole number of MiB from 1", _mebibytes),
    "seconds": ("a number of seconds above 0", _seconds),
    "price": ("an amount in US dollars", _number),
}
"""What each kind of setting must be, in words, and the check that gives the value or None."""
