"""Regular expressions that are compiled when they are first used. In: what `re.compile` takes. Out: what it gives.

Compiling takes 70 µs on average, and a command loads modules with a hundred expressions of which it uses ten.
"""

from __future__ import annotations

import re
from typing import AnyStr, cast


class _Lazy:
    """Stands for a pattern. Once compiled, its methods are attributes, found as quickly as those of the pattern."""

    __slots__ = ("findall", "finditer", "flags", "fullmatch", "match", "pattern", "search", "split", "sub", "subn")

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern, self.flags = text, flags

    def __getattr__(self, name: str) -> object:
        """Import on first use what is not there yet."""
        compiled: re.Pattern[str] | re.Pattern[bytes] = re.compile(self.pattern, self.flags)
        for method in ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return the pattern, compiled at its first use. Raises `re.error` then."""
    return cast("re.Pattern[AnyStr]", _Lazy(text, flags))


UNSEEN = regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""The characters that Unicode calls default-ignorable. Which of them nothing needs, `source.invisible` says; it is
loaded only for a text with some."""
