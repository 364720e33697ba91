"""Text of documents made fit for the formats of drawings: on one line, without characters that XML refuses.

In: titles, ids and paths as people wrote them. Out: the same words. Nothing is escaped here; each format does that.
"""

from __future__ import annotations

import unicodedata

from prosa.graph.node import Node

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_BLANKS = "\t\n\r\v\f\x85\u2028\u2029"
# U+FFFE and U+FFFF end every plane and are no characters; XML 1.0, section 2.2, refuses the two of the first.
_NO_CHARACTERS = frozenset("\ufffe\uffff")
# Overrides and isolates of direction could turn the text around them; joiners stay, scripts and emoji need them.
_DIRECTION = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def one_line(text: str) -> str:
    """Return the text with blanks for line ends and U+FFFD for controls, lone surrogates and changes of direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char in _BLANKS else _REPLACEMENT if _unfit(char) else char for char in text)


def name_of(node: Node) -> str:
    """Return what a node is called in a drawing: its title, else its file name, of an index with its folder."""
    if node.title.strip():
        return one_line(node.title.strip())
    folder, _, name = node.path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    if folder and stem.lower() in ("index", "readme"):
        return one_line(f"{folder.rpartition('/')[2]}/{stem}")
    return one_line(stem)


def _unfit(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs") or char in _NO_CHARACTERS or char in _DIRECTION
