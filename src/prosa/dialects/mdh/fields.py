"""The fields of a node, its links and its actions, as tables, and the forms of their texts (H9–H15, HA9, HA11, HA15,
HA17).

`href` of a link, `action`, `description`, `csrf`, `query.properties`, `auth.in`, `auth.name` and `auth.token_url` are
extensions that are accepted; every other unknown field is ignored and reported as information (HA11). A form returns
the problem of a text, or None.
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
_HTTP = regex(r"https?://[^\s/?#]\S*", re.IGNORECASE)
_PATH = regex(r"(?:/|\.{1,2}/)[^\s]*|/")
_TEMPLATE = regex(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)\}|[{}]", re.ASCII)


def accept_form(text: str) -> str | None:
    """Return one media type, or several with commas (RFC 9110 section 12.5.1)."""
    return None if _ACCEPT.fullmatch(text) else "must be a media type, `application/json` for example"


def content_type_form(text: str) -> str | None:
    """Return one media type without wildcards (RFC 9110 section 8.3)."""
    if _CONTENT_TYPE.fullmatch(text) and "*" not in text.split(";")[0]:
        return None
    return "must be one media type, `application/json` for example"


def header_name_form(text: str) -> str | None:
    """Return the name of a header or of a query parameter that carries a key; a header allows no more (RFC 9110,
    5.1)."""
    return None if _HEADER_NAME.fullmatch(text) else "must be a name of letters, digits and hyphens"


def updated_form(text: str) -> str | None:
    """Return a date, or a date and a time (RFC 3339; HA21)."""
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
    """Return a path or an absolute http URL: what a client can fetch."""
    if _PATH.fullmatch(text) or _HTTP.fullmatch(text):
        return None
    return "must be a path that begins with `/`, or a URL that begins with `https://`"


def target_form(text: str) -> str | None:
    """Return where `url:` opens a target, an absolute URL or a path follows (HA4). Any other target is an opaque id."""
    if not text.startswith("url:") or _PATH.fullmatch(text, 4) or _ABSOLUTE.fullmatch(text, 4):
        return None
    return "must have an absolute URL or a path after `url:`"


def action_url_form(text: str) -> str | None:
    """Return what no request could be made of (H11, HA10). Whether the URL stays on the site is the matter of rules."""
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
    """Return the names in the `{name}` templates of an action's URL, each once (HA10)."""
    return tuple(dict.fromkeys(match["name"] for match in _TEMPLATE.finditer(url) if match["name"]))


def not_empty(text: str) -> str | None:
    """Return anything but white space."""
    return None if text.strip() else "is empty"


_MUST_2 = "(MDH conformance, MUST 2)"
_MUST_4 = "(MDH conformance, MUST 4)"

METHODS: tuple[str, ...] = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""The verbs of an action (H11)."""

REL_TYPES = ("in_section", "part_of", "related_to", "depends_on", "references")
"""Relations that sites have; any other word of a site is as good."""

LINK: tuple[Field, ...] = (
    Field(
        "rel",
        "string",
        required=True,
        wanted="a word for the relation, `related_to` for example",
        usual=REL_TYPES,
        about="a word for the relation, `related_to` for example",
    ),
    Field(
        "target",
        "string",
        required=True,
        wanted="the id of a node, or `url:` and a URL",
        form=target_form,
        about="the id of a node, or `url:` and an absolute URL or a path",
    ),
    Field("href", "string", form=url_form, about="the URL of the node, a path or absolute; it may replace `target`"),
)

LINK_WITH_HREF: tuple[Field, ...] = (LINK[0], Field("target", "string", form=target_form), LINK[2])
"""With `href` a link may do without `target` (HA9)."""

AUTH: tuple[Field, ...] = (
    Field(
        "type",
        "string",
        required=True,
        choices=("none", "bearer", "api_key", "cookie", "oauth2"),
        about="how a client authenticates: none, bearer, api_key, cookie or oauth2",
    ),
    Field("token_help", "string", about="where a person gets a token"),
    Field("in", "string", choices=("header", "query"), about="where an api_key is sent: header or query"),
    Field("name", "string", form=header_name_form, about="the name of the header or parameter with an api_key"),
    Field("token_url", "string", form=url_form, about="where oauth2 issues tokens"),
    Field("csrf", "anything", about="what guards a cookie against requests from elsewhere"),
)

QUERY: tuple[Field, ...] = (
    Field("required", "strings", form=not_empty, about="the names of parameters that must be given"),
    Field("optional", "strings", form=not_empty, about="the names of parameters that may be given"),
    Field("properties", "mapping", holds="schemas", about="a JSON Schema for each name that has one"),
)

REQUEST: tuple[Field, ...] = (
    Field("cursor_param", "string", form=not_empty, about="the parameter with the cursor of the next page"),
    Field("limit_param", "string", form=not_empty, about="the parameter with the length of a page"),
)

RESPONSE: tuple[Field, ...] = (
    Field("next_cursor_jsonpath", "string", about="where a response has the cursor of the next page"),
    Field("prev_cursor_jsonpath", "string", about="where it has the cursor of the previous page"),
    Field("next_link_jsonpath", "string", about="where it has the URL of the next page"),
    Field("self_link_jsonpath", "string", about="where it has the URL of the page itself"),
)

PAGINATION: tuple[Field, ...] = (
    Field("type", "string", usual=("cursor",), about="pagination style: `cursor`"),
    Field("request", "mapping", about="the parameters of a request for a page", inner=REQUEST),
    Field("response", "mapping", about="JSONPaths (RFC 9535) into a response, each to one value", inner=RESPONSE),
)

ACTION: tuple[Field, ...] = (
    Field(
        "id",
        "string",
        required=True,
        wanted=f"an id, unique in its site {_MUST_4}",
        about="one word, unique in the site. A node may repeat an action of another with the same method and URL",
    ),
    Field("title", "string", about="its title, for people"),
    Field("description", "string", about="what it does, for the model"),
    Field(
        "method",
        "string",
        required=True,
        wanted=f"GET, POST, PUT, PATCH or DELETE {_MUST_4}",
        usual=METHODS,
        about="GET, POST, PUT, PATCH or DELETE",
    ),
    Field(
        "url",
        "string",
        required=True,
        wanted=f"a path from the root of the site {_MUST_4}",
        form=action_url_form,
        about="a path from the root of the site. A `{name}` in it is a required parameter",
    ),
    Field("accept", "string", form=accept_form, usual=("application/json",), about="the media type of the response"),
    Field(
        "content_type",
        "string",
        form=content_type_form,
        usual=("application/json",),
        about="the media type of the body",
    ),
    Field("auth", "mapping", about="what a client needs to call it", inner=AUTH),
    Field("csrf", "anything", about="what guards the action against requests from elsewhere"),
    Field("query", "mapping", about="the parameters of the query", inner=QUERY),
    Field(
        "body_schema",
        "anything",
        holds="schema",
        about="a JSON Schema, Draft 2020-12, or the URL of one; without `type` it describes an object",
    ),
    Field("response_schema", "string", form=url_form, about="the URL of a JSON Schema"),
    Field("pagination", "mapping", about="pagination of a listing", inner=PAGINATION),
    Field(
        "examples",
        "mappings",
        about="a list of mappings; `query` and `body`, in the example or under its `request`, are checked",
    ),
)

NODE: tuple[Field, ...] = (
    Field(
        "id",
        "string",
        required=True,
        wanted=f"a stable id, unique in its site {_MUST_2}",
        about="one word, unique in the site, and permanent",
    ),
    Field(
        "type",
        "string",
        required=True,
        wanted=f"its type, a word of its site such as `page` {_MUST_2}",
        usual=("page", "section", "guide"),
        about="a word of the site: `page`, `section`, `guide`",
    ),
    Field("title", "string", required=True, wanted=f"a title for people {_MUST_2}", about="a title for people"),
    Field("aliases", "strings", about="a list of other names"),
    Field("tags", "strings", about="a list of words to find it by"),
    Field("links", "mappings", about="a list of links to other nodes, each with its relation", inner=LINK),
    Field("actions", "mappings", about="a list of operations over HTTP that a client may call", inner=ACTION),
    Field("action", "anything", about="the one action of a node; `actions` is the form for several"),
    Field("summary", "string", about="what it is about, in a sentence"),
    Field("updated", "string", form=updated_form, about="a date, or a date and a time: `2026-04-30T09:00:00Z`"),
    Field("nav", "anything", about="in the first page of a site: its pages in order, as `prosa serve` lists them"),
    Field("canonical_url", "string", form=url_form, about="the preferred URL of the node, a path or absolute"),
)
