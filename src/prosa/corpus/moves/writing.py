"""How a target is written in a YAML scalar, a JSON string, an attribute of HTML or a link, and how a name in it is
replaced.

In: the present characters, and the new text. Out: the new characters, in the style of the old ones: the author's
quotes, percent-encoding and angle brackets stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias
from urllib.parse import quote

from prosa.dialects.ymj.edits import quoted, yaml_string
from prosa.regex import regex

Syntax: TypeAlias = Literal["markdown", "angle", "yaml", "json", "html", "command", "raw"]
"""The notation of a target. ``markdown`` is a destination, ``angle`` one in angle brackets, ``command`` the first word
of a configuration line, ``raw`` a literal text."""

_ESCAPE = regex(r"%[0-9A-Fa-f]{2}")
_HIGH = regex(r"%[89A-Fa-f][0-9A-Fa-f]")
_ALWAYS = regex(r"[\x00-\x1f\x7f%#?\"<>\\`|{}\[\]^]")
"""What is always escaped in a path: it would end the path, or Markdown, HTML or a template would take it for markup."""

_ENTITY = regex(r"&(?=#|[A-Za-z])")
_FLOW = regex(r"[,\[\]{}]")


def write(syntax: Syntax, written: str, text: str) -> str | None:
    """Return ``text`` in place of ``written``; None where it cannot stand there."""
    return _WRITERS[syntax](written, text)


def percent_encoded(path: str, written: str, *, spaces: bool) -> str:
    """Return a path as a URL, in the style of ``written``. ``spaces`` is true if a blank may stay unescaped."""
    path = _ALWAYS.sub(_encoded, path)
    path = _ENTITY.sub("%26", path)
    if " " in path and ("%20" in written or not (spaces or " " in written)):
        path = path.replace(" ", "%20")
    if _HIGH.search(written) and written.isascii():
        path = "".join(char if char.isascii() else quote(char, safe="", errors="replace") for char in path)
    if path.count("(") != path.count(")") or "%28" in written or not _balanced(path):
        path = path.replace("(", "%28").replace(")", "%29")
    return path


def _encoded(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def _balanced(path: str) -> bool:
    depth = 0
    for char in path:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return True


def _markdown(written: str, text: str) -> str | None:
    del written
    return None if not text or re.search(r"[\s<]", text) else text


def _angle(written: str, text: str) -> str | None:
    del written
    return None if re.search(r"[<>\r\n]", text) else text


def _yaml(written: str, text: str) -> str | None:
    if written.startswith("'") and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    end = "\n" if written.endswith("\n") else ""  # a block scalar takes its line end along
    return (quoted(text) if written.startswith('"') or _FLOW.search(text) else yaml_string(text)) + end


def _json(written: str, text: str) -> str | None:
    if not written.startswith('"'):
        return None
    ascii_only = written.isascii() and re.search(r"\\u[0-9A-Fa-f]{4}", written) is not None
    # A backtick would end the code span around a relationship (M43).
    return json.dumps(text, ensure_ascii=ascii_only).replace("`", "\\u0060")


def _html(written: str, text: str) -> str | None:
    del written
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("'", "&#39;").replace("<", "&lt;")


def _command(written: str, text: str) -> str | None:
    del written
    return json.dumps(text, ensure_ascii=False) if not text or re.search(r"[\s\"]", text) else text


def _raw(written: str, text: str) -> str | None:
    del written
    return text


_WRITERS: Mapping[Syntax, Callable[[str, str], str | None]] = {
    "markdown": _markdown,
    "angle": _angle,
    "yaml": _yaml,
    "json": _json,
    "html": _html,
    "command": _command,
    "raw": _raw,
}


# The text of a place that names a document, taken apart and put together again with another name in it.

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
    match = _WIKILINK.fullmatch(text)
    return f"{match[1]}{name}{match[3]}" if match else None


def _cut(text: str, *, bare: bool) -> tuple[str, str]:
    """Return the path, and what follows it: query and fragment."""
    end = None if bare else _HREF_END.search(text)
    return (text[: end.start()], text[end.start() :]) if end else (text, "")
