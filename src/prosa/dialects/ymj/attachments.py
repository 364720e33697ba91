"""Effective attachments (Y14, YA18): the header's catalog and the footer's handling, joined by `uri`.

In: the items of both lists. Out: one value per attachment, in the order of the header, then of the footer. Nothing is
opened; `local_path` maps a URI to a file, if any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from msgspec import Struct

from prosa.data import Entry, Mapping, Scalar, Value, to_value
from prosa.regex import regex
from prosa.source import Span

HANDLING = ("select", "transform", "cache", "auth_ref")
"""The footer's data about an attachment."""

_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.-]+:")


class Attachment(Struct, frozen=True):
    """One attachment. ``uri`` is None for an item of the footer without one; such an item joins with nothing.

    ``sha256`` is the header's if it has one, else the footer's, and ``sha256_span`` its place. ``handling`` holds the
    footer's directives, with defaults from the header.
    """

    uri: str | None
    span: Span
    source: Literal["yaml", "json", "both"]
    sha256: str | None = None
    sha256_span: Span | None = None
    note: str | None = None
    handling: tuple[tuple[str, Value], ...] = ()

    def facts(self) -> dict[str, Value]:
        """Return the object that interface.md describes."""
        given = dict(self.handling)
        return {
            "uri": self.uri,
            "sha256": self.sha256,
            "note": self.note,
            **{name: given.get(name) for name in HANDLING},
            "source": self.source,
        }


def effective(catalog: Iterable[Mapping], handling: Iterable[Mapping]) -> tuple[Attachment, ...]:
    """Return the union of both lists; of several items with one `uri` in one list the first counts."""
    in_json: dict[str, Mapping] = {}
    loose: list[Mapping] = []
    for item in handling:
        uri = text_in(item, "uri")
        if uri is None:
            loose.append(item)
        else:
            in_json.setdefault(uri, item)
    joined: dict[str, Attachment] = {}
    for item in catalog:
        uri = text_in(item, "uri")
        if uri is not None and uri not in joined:
            joined[uri] = _join(uri, item, in_json.pop(uri, None))
    rest = [_join(uri, None, item) for uri, item in in_json.items()]
    return (*joined.values(), *rest, *(_join(None, None, item) for item in loose))


def _join(uri: str | None, yaml: Mapping | None, json: Mapping | None) -> Attachment:
    """Return the joined attachment: the header identifies it, the footer handles it (Y31)."""
    identity = [item for item in (yaml, json) if item is not None]
    digest = next((entry for item in identity if (entry := _text_entry(item, "sha256")) is not None), None)
    note = next((text for item in identity if (text := text_in(item, "note")) is not None), None)
    given: dict[str, Value] = {}
    for item in (yaml, json):
        given |= {entry.key.text: to_value(entry.value) for entry in item or () if entry.key.text in HANDLING}
    here = _text_entry(identity[0], "uri")
    return Attachment(
        uri=uri,
        span=here.value.span if here else identity[0].span,
        source="both" if len(identity) == 2 else ("yaml" if yaml is not None else "json"),
        sha256=digest.value.text if digest is not None and isinstance(digest.value, Scalar) else None,
        sha256_span=digest.value.span if digest is not None else None,
        note=note,
        handling=tuple(given.items()),
    )


def text_in(item: Mapping, name: str) -> str | None:
    """Return the text of a field that is not empty, or None."""
    entry = _text_entry(item, name)
    return entry.value.text if entry is not None and isinstance(entry.value, Scalar) else None


def _text_entry(item: Mapping, name: str) -> Entry | None:
    entry = item.entry(name)
    if entry is None or not isinstance(entry.value, Scalar) or entry.value.value is None:
        return None
    return entry if entry.value.text.strip() else None


def local_path(uri: str, folder: Path) -> Path | None:
    """Return the file that a URI means, seen from the folder of the record; None for what lies on another host or in no
    file.

    `file:` URIs (RFC 8089) and relative paths are local. Percent-encoding is undone; query and fragment of a `file:`
    URI are left out.
    """
    if uri.startswith("file:"):
        rest = re.split(r"[?#]", uri[5:], maxsplit=1)[0]
        if rest.startswith("//"):
            host, slash, path = rest[2:].partition("/")
            if host.lower() not in ("", "localhost") or not slash:
                return None
            rest = "/" + path
        return folder / unquote(rest) if rest else None
    if _SCHEME.match(uri) or uri.startswith(("//", "#")):
        return None
    return folder / unquote(uri)
