"""Go's escapers for text that goes into HTML, JavaScript or a query: ``html``, ``js``, ``urlquery``. Text to text."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_plus

_HTML: Final = str.maketrans(
    {"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"},
)
_JS: Final = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "<": "\\u003C",
    ">": "\\u003E",
    "&": "\\u0026",
    "=": "\\u003D",
}
_JS_SPECIAL: Final = r"""[\\'"<>&=\x00-\x1f\x80-\U0010ffff]"""


def html(text: str) -> str:
    """Go's ``HTMLEscapeString``: quotes, ``&``, ``<`` and ``>`` as entities, NUL as U+FFFD."""
    return text.translate(_HTML)


def js(text: str) -> str:
    r"""Go's ``JSEscapeString``: what could end a string or a script, controls and the unprintable as ``\u003C``."""
    return re.sub(_JS_SPECIAL, _js_character, text)  # compiled at its first use: few templates need it


def urlquery(text: str) -> str:
    """Go's ``url.QueryEscape``: UTF-8 bytes as ``%XX``, a space as ``+``; letters, digits and ``-_.~`` stay."""
    return quote_plus(text, safe="", errors="replace")


def _js_character(match: re.Match[str]) -> str:
    character = match[0]
    if character in _JS:
        return _JS[character]
    return character if character.isprintable() else f"\\u{ord(character):04X}"
