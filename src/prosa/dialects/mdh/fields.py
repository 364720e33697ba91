"""The fields of a node, its links and its actions, as tables, and the forms of their texts (H9–H15, HA9, HA11, HA15,
HA17).

`href` of a link, `action`, `description`, `csrf`, `query.properties`, `auth.in`, `auth.name` and `auth.token_url` are
extensions that are accepted; every other unknown field is ignored, with information (HA11). A form gives the complaint
about a text, or None.
"""

from __future__ import annotations

import re
from datetime import date

from prosa.dialects.fields import Field
from prosa.regex import regex

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_MEDIA = rf"{_WORD}/{_WORD}(?:[ \t]*+;[ \t]*+{_WORD}=(?:{_WORD}|\"[^\"]*+\"))*+"
_ACCEPT = regex(rf"[ \t]*+{_MEDIA}(?:[ \t]*+,[ \t]*+{_MEDIA})*+[ \t]*+", re.ASCII)
_CONTENT_TYPE = regex(_MEDIA, re.ASCII)
_HEADER_NAME = regex(_WORD, re.ASCII)
_TIMESTAMP = regex(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:[Tt ]([01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d{1,12})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?",
    re.ASCII,
)
_ABSOLUTE = regex(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+", re.ASCII)
_HTTP = regex(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)
_PATH = regex(r"(?:/|\.{1,2}/)[^\s]*|/")
_TEMPLATE = regex(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)\}|[{}]", re.ASCII)


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


_MUST_2 = "(MDH conformance, MUST 2)"
_MUST_4 = "(MDH conformance, MUST 4)"

NODE: tuple[Field, ...] = (
    Field("id", "string", required=True, wanted=f"a stable id, unique in its site {_MUST_2}"),
    Field("type", "string", required=True, wanted=f"a word of its site for what it is, `page` for example {_MUST_2}"),
    Field("title", "string", required=True, wanted=f"a title for people {_MUST_2}"),
    Field("aliases", "strings"),
    Field("tags", "strings"),
    Field("links", "mappings"),
    Field("actions", "mappings"),
    Field("action", "anything"),
    Field("summary", "string"),
    Field("updated", "string", form=updated_form),
    Field("canonical_url", "string", form=url_form),
)

LINK: tuple[Field, ...] = (
    Field("rel", "string", required=True, wanted="a word for the relation, `related_to` for example"),
    Field("target", "string", required=True, wanted="the id of a node, or `url:` and a URL", form=target_form),
    Field("href", "string", form=url_form),
)

LINK_WITH_HREF: tuple[Field, ...] = (LINK[0], Field("target", "string", form=target_form), LINK[2])
"""With `href` a link may do without `target` (HA9)."""

ACTION: tuple[Field, ...] = (
    Field("id", "string", required=True, wanted=f"an id, unique in its site {_MUST_4}"),
    Field("title", "string"),
    Field("description", "string"),
    Field("method", "string", required=True, wanted=f"GET, POST, PUT, PATCH or DELETE {_MUST_4}"),
    Field(
        "url",
        "string",
        required=True,
        wanted=f"a path from the root of the site {_MUST_4}",
        form=action_url_form,
    ),
    Field("accept", "string", form=accept_form),
    Field("content_type", "string", form=content_type_form),
    Field("auth", "mapping"),
    Field("csrf", "anything"),
    Field("query", "mapping"),
    Field("body_schema", "anything"),
    Field("response_schema", "string", form=url_form),
    Field("pagination", "mapping"),
    Field("examples", "mappings"),
)

AUTH: tuple[Field, ...] = (
    Field("type", "string", required=True, choices=("none", "bearer", "api_key", "cookie", "oauth2")),
    Field("token_help", "string"),
    Field("in", "string", choices=("header", "query")),
    Field("name", "string", form=header_name_form),
    Field("token_url", "string", form=url_form),
    Field("csrf", "anything"),
)

QUERY: tuple[Field, ...] = (
    Field("required", "strings", form=not_empty),
    Field("optional", "strings", form=not_empty),
    Field("properties", "mapping"),
)

PAGINATION: tuple[Field, ...] = (
    Field("type", "string"),
    Field("request", "mapping"),
    Field("response", "mapping"),
)

REQUEST: tuple[Field, ...] = (
    Field("cursor_param", "string", form=not_empty),
    Field("limit_param", "string", form=not_empty),
)

RESPONSE: tuple[Field, ...] = (
    Field("next_cursor_jsonpath", "string"),
    Field("prev_cursor_jsonpath", "string"),
    Field("next_link_jsonpath", "string"),
    Field("self_link_jsonpath", "string"),
)
