"""The typed reading of a YMJ record: header, body, footer, effective attachments (Y14, YA18), and what follows from
them. Everything keeps its span.

The model holds what is written: a record with errors has one too, with the parts that could be read. ``header`` and
``footer`` are None if unreadable; a malformed field is missing from ``fields``, ``entries`` and ``ops``, but present in
the trees.

Nothing is opened; `local_path` maps a URI to a file, if any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Map
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

from msgspec import Struct

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, Value, to_mapping, to_value
from prosa.dialects.fields import declared_value, text_of
from prosa.dialects.front import FrontReading
from prosa.dialects.ymj.fields import HEADER, is_known
from prosa.dialects.ymj.payload import Payload, read_payload
from prosa.dialects.ymj.sections import HEAD_CHARACTERS, FooterPlace, legacy_hashes, normalised, read_catalog, sha256_of
from prosa.document import Document
from prosa.regex import regex
from prosa.source import SourceText, Span
from prosa.source.values import kept

if TYPE_CHECKING:
    from prosa.dialects.facts import AttachmentFacts

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

    def facts(self) -> AttachmentFacts:
        """Return the object that interface.md describes."""
        handling = dict(self.handling)
        return {
            "uri": self.uri,
            "sha256": self.sha256,
            "note": self.note,
            "select": handling.get("select"),
            "transform": handling.get("transform"),
            "cache": handling.get("cache"),
            "auth_ref": handling.get("auth_ref"),
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
    handling: dict[str, Value] = {}
    for item in (yaml, json):
        handling |= {entry.key.text: to_value(entry.value) for entry in item or () if entry.key.text in HANDLING}
    here = _text_entry(identity[0], "uri")
    return Attachment(
        uri=uri,
        span=here.value.span if here else identity[0].span,
        source="both" if len(identity) == 2 else ("yaml" if yaml is not None else "json"),
        sha256=digest.value.text if digest is not None and isinstance(digest.value, Scalar) else None,
        sha256_span=digest.value.span if digest is not None else None,
        note=note,
        handling=tuple(handling.items()),
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


# The typed reading of a YMJ record: header, body, footer, and what follows from them. Everything keeps its span.

FOOTER_KEYS = ("schema", "payload_hash", "index", "ops", "schema_uri", "ai")
"""Any of these shows that a JSON block was meant as a footer."""


class Footer(Struct, frozen=True):
    """A footer that is a JSON object. ``sound`` is False when its text had problems, so that it may lack keys."""

    place: FooterPlace
    node: Mapping
    sound: bool

    @property
    def claimed(self) -> bool:
        """Whether it has a key of a footer; else it may be an example that ends the body (YW5)."""
        return any(entry.key.text in FOOTER_KEYS for entry in self.node)


class YmjModel(Struct, frozen=True, dict=True):
    """A record. ``fields`` are the well-formed entries of the header, ``entries`` those of the footer, ``ops`` those
    below `ops`; ``body`` is the span of the body and ``document`` its Markdown."""

    source: SourceText
    front: FrontReading
    document: Document
    fields: Map[str, Entry]
    footer: Footer | None
    entries: Map[str, Entry]
    ops: Map[str, Entry]
    body: Span

    @property
    def header(self) -> Mapping | None:
        """The tree of the header."""
        return self.front.fields

    @property
    def anchor(self) -> Span:
        """Where to point at something that is missing from the footer: its opening fence."""
        return self.footer.place.open if self.footer else self.front.anchor

    @kept
    def body_text(self) -> str:
        """The body with LF line ends, untrimmed (YA3)."""
        return normalised(self.source.slice(self.body))

    @kept
    def body_sha256(self) -> str:
        """The hash that belongs into `payload_hash`."""
        return sha256_of(self.body_text)

    @kept
    def legacy(self) -> tuple[str, ...]:
        """The hashes that tools which trim the body would have written."""
        return legacy_hashes(self.body_text)

    @kept
    def catalog(self) -> str | None:
        """The `doc_summary` in the first two lines (YA6)."""
        head = self.source.text[:HEAD_CHARACTERS]
        return read_catalog(head, whole=len(head) == len(self.source.text))

    @kept
    def attachments(self) -> tuple[Attachment, ...]:
        """The effective attachments (Y14, YA18)."""
        return effective(self.catalog_items, self.ops_items("attachments"))

    @kept
    def payload(self) -> Payload | None:
        """The payload that body format and selector name (Y27, YA13), or None."""
        return read_payload(self)

    @property
    def catalog_items(self) -> tuple[Mapping, ...]:
        """The header's `attachments`."""
        return mappings_of(self.fields.get("attachments"))

    def ops_items(self, name: str) -> tuple[Mapping, ...]:
        """Return the objects of a list below `ops`."""
        return mappings_of(self.ops.get(name))

    def ops_map(self, name: str) -> Mapping | None:
        """Return an object below `ops`."""
        entry = self.ops.get(name)
        return entry.value if entry is not None and isinstance(entry.value, Mapping) else None

    def text(self, name: str) -> str | None:
        """Return a string of the header by its source text (YA7)."""
        return text_of(self.fields.get(name))

    def option(self, name: str) -> str | None:
        """Return a string below `ops`."""
        return text_of(self.ops.get(name))

    @property
    def tags(self) -> tuple[str, ...]:
        """`index.tags`."""
        index = self.entries.get("index")
        tags = index.value.get("tags") if index is not None and isinstance(index.value, Mapping) else None
        return tuple(item.text for item in items_of(tags) if isinstance(item, Scalar))

    @property
    def header_value(self) -> dict[str, Value] | None:
        """The header as data, declared strings by their source text (X1). None when it could not be read to its end."""
        if self.header is None or not self.front.complete:
            return None
        return declared_value(self.header, HEADER)

    @property
    def footer_value(self) -> dict[str, Value] | None:
        """The footer as data."""
        return to_mapping(self.footer.node) if self.footer else None

    @property
    def asks_strict(self) -> bool | None:
        """The mode that the record requests: None if it does not say, never strict for an unknown specification
        (YA11)."""
        spec = self.text("ymj_spec")
        if spec is not None and not is_known(spec):
            return False
        mode = self.text("validation_mode")
        return None if mode is None else mode == "strict"


def mappings_of(entry: Entry | None) -> tuple[Mapping, ...]:
    """Return the mappings of a list."""
    return tuple(item for item in items_of(entry.value if entry else None) if isinstance(item, Mapping))


def items_of(node: Node | None) -> tuple[Node, ...]:
    """Return the items of a list; none of anything else."""
    return node.items if isinstance(node, Sequence) else ()
