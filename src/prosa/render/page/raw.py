"""Raw HTML of a document before it is cleaned: what could swallow or swell the rest of a page becomes text.

In: a piece of HTML as written. Out: it with comments left out, and with `<` shown as a character wherever it begins no
whole tag, or a tag whose content a browser reads as plain text (GFM, section 6.11). Work is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_TAGS = 2_000
"""Tags of raw HTML that count as such in one text: a parser needs time in the square of how deep they nest."""

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*+)"
    r"(?P<rest>(?:\s++[A-Za-z_:][\w:.-]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'=<>`]++))?)*+\s*+/?)>|<"
)
_PLAIN = """title textarea style xmp iframe noembed noframes script plaintext noscript select template svg math frameset
    object embed form"""
_PLAIN_TEXT = frozenset(_PLAIN.split())
_FORMATTING = frozenset({"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"})
"""A browser opens these again in every paragraph until they are closed, each with its attributes."""


@dataclass(slots=True)
class RawHtml:
    """Reads the pieces of one text in order; ``left`` is how many tags may still come."""

    left: int = MAX_TAGS

    def read(self, text: str) -> str:
        """A piece as it goes to the cleaner."""
        return _TAG.sub(self._tag, _without_comments(text))

    def _tag(self, match: re.Match[str]) -> str:
        name = (match["name"] or "").lower()
        self.left -= 1
        if not name or name in _PLAIN_TEXT or self.left < 0:
            return f"&lt;{match[0][1:]}"
        return f"<{match['close']}{name}>" if name in _FORMATTING else match[0]


def _without_comments(text: str) -> str:
    kept: list[str] = []
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 2)) >= 0:
        kept.append(text[done:start])
        done = end + 3
    return "".join((*kept, text[done:]))
