"""The typed reading of an MDA document: what was understood of it, each part with its place. Nothing is verified here:
a signature is one that was read (X42)."""

from __future__ import annotations

from collections.abc import Mapping as Map

from msgspec import Struct

from prosa.data import Entry, Mapping, Scalar, Value, to_mapping, to_value
from prosa.dialects.front import FrontReading
from prosa.dialects.mda.fields import MdaFile
from prosa.document import Document, FootnoteDefinition
from prosa.source import SourceText, Span


class Dependency(Struct, frozen=True):
    """An entry of `depends-on`. The spans are those of the name, the range and the digest."""

    name: str
    range: str
    digest: str
    span: Span
    range_span: Span
    digest_span: Span


class Relation(Struct, frozen=True):
    """A relationship: a footnote, or an entry of the list in the front matter, which has no ``definition``. ``at`` is
    the first place that refers to the footnote."""

    node: Mapping
    definition: FootnoteDefinition | None = None
    at: int | None = None

    @property
    def data(self) -> dict[str, Value]:
        """The object as plain data."""
        return to_mapping(self.node)


class Signature(Struct, frozen=True):
    """An entry of `signatures`, well-formed."""

    signer: str
    key_id: str
    digest: str
    algorithm: str
    signature: str
    payload_type: str
    span: Span


class MdaModel(Struct, frozen=True):
    """An MDA document. ``fields`` are the well-formed fields at the top, ``extended`` those that MDA adds, from the top
    or from below `metadata.mda`; what stands at the top counts. ``listed`` are the relationships of the front matter,
    None without such a list; ``relations`` those of footnotes in the order of the text."""

    front: FrontReading
    document: Document
    target: MdaFile
    fields: Map[str, Entry]
    extended: Map[str, Entry]
    dependencies: tuple[Dependency, ...] = ()
    relations: tuple[Relation, ...] = ()
    listed: tuple[Relation, ...] | None = None
    signatures: tuple[Signature, ...] = ()

    @property
    def source(self) -> SourceText:
        """The source that was read."""
        return self.front.source

    @property
    def is_package(self) -> bool:
        """Whether the digest is of two files (§08-3.4)."""
        return self.target.title.endswith("MCP-SERVER.md")

    def text(self, name: str) -> str | None:
        """Return a text field, of the top or of those that MDA adds."""
        entry = self.fields.get(name) or self.extended.get(name)
        value = to_value(entry.value) if entry is not None else None
        return value if isinstance(value, str) else None

    def value(self, name: str) -> Value:
        """Return a field as plain data; None when it is absent."""
        entry = self.fields.get(name) or self.extended.get(name)
        return to_value(entry.value) if entry is not None else None

    def span(self, name: str) -> Span:
        """Return where to point when speaking of a field: its value, or the opening fence."""
        entry = self.fields.get(name) or self.extended.get(name)
        return entry.value.span if entry is not None else self.front.anchor

    def integrity(self, name: str) -> Scalar | None:
        """Return `algorithm` or `digest` of the integrity field; None unless that is well-formed."""
        entry = self.fields.get("integrity")
        node = entry.value.get(name) if entry is not None and isinstance(entry.value, Mapping) else None
        return node if isinstance(node, Scalar) else None
