"""The text of a place that names a document, taken apart and put together again with another name in it.

In: the form of the text, the text, the new name. Out: the new text; what stands around the name (a scheme, a query, a
fragment, the label of a wikilink) stays as the author wrote it.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from prosa.corpus.moves.writing import percent_encoded
from prosa.regex import regex

Form: TypeAlias = Literal["id", "stem", "wikilink", "path", "edge", "uri", "href"]
"""How a text names a document: as an id, as the stem of its file, as `[[stem]]`, as a bare path, as a path with a
fragment (`ops.graph`), as the URI of an attachment, or as a link."""

_HREF_END = regex(r"\\?(?<!&)[?#]")
_PREFIX = regex(r"url:|file:", re.IGNORECASE)
_WIKILINK = regex(
    r"(!?\[\[\s*+)(.*?)((?:(?<!\s)\s*+|(?=[\\|#^\]]))(?:\\?\||#|\^[A-Za-z0-9-]++\s*+(?:\\?\||\]\])|\]\]).*)", re.DOTALL
)
_NO_STEM = regex(r"[\[\]|#`\r\n]|\A\s|\s\Z|\A\Z")
"""What no wikilink can name."""


def spelled(form: Form, text: str, name: str, *, spaces: bool) -> str | None:
    """Return ``text`` with ``name`` as its target; None if the form cannot express it. ``spaces`` is true if a blank
    is allowed in a URL."""
    if form == "id":
        return name
    if form in ("stem", "wikilink"):
        return _stem(form, text, name)
    if form == "path":
        return name
    if form == "edge":
        _, mark, fragment = text.partition("#")
        return None if "#" in name else f"{name}{mark}{fragment}"
    prefix = match[0] if (match := _PREFIX.match(text)) else ""
    path, rest = _cut(text[len(prefix) :], bare=form == "uri" and not prefix)
    return f"{prefix}{percent_encoded(name, path, spaces=spaces)}{rest}"


def _stem(form: Form, text: str, name: str) -> str | None:
    if _NO_STEM.search(name):
        return None
    if form == "stem":  # where a path would be read, brackets say that it is none
        return f"[[{name}]]" if "/" in name else name
    found = _WIKILINK.fullmatch(text)
    return f"{found[1]}{name}{found[3]}" if found else None


def _cut(text: str, *, bare: bool) -> tuple[str, str]:
    """Return the path, and what follows it: query and fragment."""
    end = None if bare else _HREF_END.search(text)
    return (text[: end.start()], text[end.start() :]) if end else (text, "")
