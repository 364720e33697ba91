"""Text of a document made safe for a terminal, and how wide it is there.

A document may hold escape sequences, bidirectional overrides and other characters that would move the cursor, hide text
or colour it. None is ever written: each is shown as one visible replacement.
"""

from __future__ import annotations

import unicodedata

TAB = "    "
"""What a tab in a quoted source line becomes."""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def safe(text: str) -> str:
    """``text`` on one line: line ends and tabs become spaces, unsafe characters become U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char in "\t\r\n" else _visible(char) for char in text)


def safe_source(text: str) -> str:
    """A piece of a source line with tabs as four spaces."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(TAB if char == "\t" else _visible(char) for char in text)


def width(text: str) -> int:
    """Terminal cells of a text that `safe` or `safe_source` gave: wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(_cells(char) for char in text)


def _visible(char: str) -> str:
    return _REPLACEMENT if unicodedata.category(char) in _UNSAFE else char


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
