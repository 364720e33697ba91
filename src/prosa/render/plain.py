"""Text of a document made safe for a terminal, and its width there.

A document may hold escape sequences, bidirectional overrides and other characters that would move the cursor, hide
text or colour it. None is ever written: invisible characters that their context does not need are shown as escapes
(X39), each other one as one visible replacement.
"""

from __future__ import annotations

import unicodedata

from prosa.regex import UNSEEN, regex

TAB = "    "
"""What a tab in a quoted source line becomes."""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

_SEEN = bytes(range(0x20, 0x7F))
"""The characters of ASCII that are seen: without them little is left of a text to look at."""

_STYLE = regex(r"(\x1b\[(?:[012]|32|1;3[1236])m)")
"""The styles that this program's own renderers write, and no other."""


def safe(text: str) -> str:
    """Return ``text`` on one line: line ends and tabs become spaces, unsafe characters become U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    text = _escaped(text)
    return "".join(" " if char in "\t\r\n" else _visible(char) for char in text)


def safe_source(text: str) -> str:
    """Return a piece of a source line with tabs as four spaces."""
    if text.isascii() and text.isprintable():
        return text
    text = _escaped(text)
    return "".join(TAB if char == "\t" else _visible(char) for char in text)


def for_terminal(text: str, *, styled: bool = False) -> str:
    """Return ``text`` of many lines with nothing in it that a terminal obeys, except line ends and tabs, and with
    ``styled`` the styles of this program."""
    if text.isascii() and text.isprintable():
        return text
    first, *others = _STYLE.split(text) if styled else [text]
    shown = [_lines(_escaped(first))]
    for number, piece in enumerate(others):  # a style is no neighbour that an invisible character is needed beside
        shown.append(_lines(_escaped(f"\n{piece}"))[1:] if number % 2 else piece)
    return "".join(shown)


def with_escapes(text: str) -> str:
    """Return ``text`` of many lines with escapes for all control characters but line ends and tabs, for lone surrogates
    and for invisible characters (X39)."""
    if text.isascii() and text.isprintable():
        return text
    text = _escaped(text.replace("\r\n", "\n"))
    unsafe = (char for char in unsafe_in(text) - {"\n", "\t"} if not UNSEEN.match(char))
    return text.translate(
        {ord(char): f"\\x{ord(char):02x}" if char < "\x80" else _escape(ord(char)) for char in unsafe}
    )


def _lines(text: str) -> str:
    text = text.replace("\r\n", "\n")
    unsafe = (char for char in unsafe_in(text) - {"\n", "\t"} if not UNSEEN.match(char))
    return text.translate(dict.fromkeys(map(ord, unsafe), _REPLACEMENT))


def unsafe_in(text: str) -> set[str]:
    """Return the control and invisible characters of a text, including line ends and tabs."""
    chars = set(text.encode().translate(None, _SEEN).decode()) if text.isascii() else set(text)
    return {char for char in chars if not char.isprintable() and unicodedata.category(char) in _UNSAFE}


def width(text: str) -> int:
    """Return the terminal cells of a text from `safe` or `safe_source`: wide characters take two, combining
    ones none."""
    return len(text) if text.isascii() else sum(_cells(char) for char in text)


def _escaped(text: str) -> str:
    """Return ``text`` with escapes for invisible characters."""
    if text.isascii() or not UNSEEN.search(text):
        return text
    from prosa.source.invisible import invisible  # only here: hardly a text has some

    pieces: list[str] = []
    end = 0
    if text.startswith("\ufeff"):  # a byte-order mark: a document may start with one, and it is invisible here
        pieces, end = ["\\ufeff"], 1
    for run in invisible(text):
        pieces += (text[end : run.start], *map(_escape, run.codes))
        end = run.end
    return "".join((*pieces, text[end:]))


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _visible(char: str) -> str:
    """Return the visible form of a character. An invisible one that `_escaped` left is needed by its neighbours."""
    return _REPLACEMENT if unicodedata.category(char) in _UNSAFE and not UNSEEN.match(char) else char


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
