"""Forms of texts in a node: each function gives the complaint about a text, or None (fields tables use them)."""

from __future__ import annotations

import re
from datetime import date

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_MEDIA = rf"{_WORD}/{_WORD}(?:[ \t]*+;[ \t]*+{_WORD}=(?:{_WORD}|\"[^\"]*+\"))*+"
_ACCEPT = re.compile(rf"[ \t]*+{_MEDIA}(?:[ \t]*+,[ \t]*+{_MEDIA})*+[ \t]*+", re.ASCII)
_CONTENT_TYPE = re.compile(_MEDIA, re.ASCII)
_HEADER_NAME = re.compile(_WORD, re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:[Tt ]([01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d{1,12})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?",
    re.ASCII,
)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+", re.ASCII)
_HTTP = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)
_PATH = re.compile(r"(?:/|\.{1,2}/)[^\s]*|/")
_TEMPLATE = re.compile(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)\}|[{}]", re.ASCII)


def accept_form(text: str) -> str | None:
    """One media type, or several with commas (RFC 9110 section 12.5.1)."""
    return None if _ACCEPT.fullmatch(text) else "must be a media type, `application/json` for example"


def content_type_form(text: str) -> str | None:
    """One media type without wildcards (RFC 9110 section 8.3)."""
    if _CONTENT_TYPE.fullmatch(text) and "*" not in text.split(";")[0]:
        return None
    return "must be one media type, `application/json` for example"


def header_name_form(text: str) -> str | None:
    """The name of a header or of a query parameter that carries a key; a header allows no more (RFC 9110, 5.1)."""
    return None if _HEADER_NAME.fullmatch(text) else "must be a name of letters, digits and hyphens"


def updated_form(text: str) -> str | None:
    """A date, or a date and a time (RFC 3339; HA21)."""
    match = _TIMESTAMP.fullmatch(text)
    if match and _is_date(match[1]):
        return None
    return "must be a date with or without a time, `2026-04-30T09:00:00Z` for example"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def url_form(text: str) -> str | None:
    """A path or an absolute http URL: what a client can fetch."""
    if _PATH.fullmatch(text) or _HTTP.fullmatch(text):
        return None
    return "must be a path that begins with `/`, or a URL that begins with `https://`"


def target_form(text: str) -> str | None:
    """Where `url:` opens a target, an absolute URL or a path follows (HA4). Any other target is an opaque id."""
    if not text.startswith("url:") or _PATH.fullmatch(text, 4) or _ABSOLUTE.fullmatch(text, 4):
        return None
    return "must have an absolute URL or a path after `url:`"


def action_url_form(text: str) -> str | None:
    """What no request could be made of (H11, HA10). Whether the URL stays on the site is the matter of rules."""
    if any(character.isspace() or character < " " for character in text):
        return "must not have white space"
    if "\\" in text:
        return "must not have a backslash; URLs have `/`"
    if "#" in text:
        return "must not have a fragment; it would never be sent"
    if any(match["name"] is None for match in _TEMPLATE.finditer(text)):
        return "has braces that are no `{name}`"
    return None


def template_names(url: str) -> tuple[str, ...]:
    """The names in the `{name}` templates of an action's URL, each once (HA10)."""
    return tuple(dict.fromkeys(match["name"] for match in _TEMPLATE.finditer(url) if match["name"]))


def not_empty(text: str) -> str | None:
    """Anything but white space."""
    return None if text.strip() else "is empty"
