"""The typed reading of a MAGI document (M1, M5–M49). Everything carries its place; absent fields are None.

The model holds what was understood, not what is allowed: a document with errors has a model too, without the wrong
parts. The requests of a script are wishes; nothing here runs anything (MA12).
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Entry, Mapping, Scalar, Sequence, Value, to_mapping, to_value
from prosa.dialects.front import FrontReading
from prosa.dialects.magi.embedded import Pieces
from prosa.dialects.magi.regions import Region
from prosa.document import Document, Fence, FootnoteDefinition
from prosa.source import Edit, SourceText, Span

RelationshipForm: TypeAlias = Literal["backticked", "bare", "surrounded"]
"""The form of the object in its footnote: alone in backticks (M43), alone without, or in backticks beside other text.
"""


class Fields(Struct, frozen=True):
    """Well-formed known fields of one mapping by their kebab-case names. Lists given as scalars are lists (MA17)."""

    entries: Map[str, Entry]

    def text(self, name: str) -> str | None:
        """Return a string field: its source text (X1)."""
        entry = self.entries.get(name)
        return entry.value.text if entry is not None and isinstance(entry.value, Scalar) else None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings; empty when the field is absent."""
        entry = self.entries.get(name)
        items = entry.value.items if entry is not None and isinstance(entry.value, Sequence) else ()
        return tuple(item.text for item in items if isinstance(item, Scalar))

    def value(self, name: str) -> Value:
        """Return any field as plain data; None when it is absent."""
        entry = self.entries.get(name)
        return to_value(entry.value) if entry is not None else None

    def flag(self, name: str) -> bool:
        """Return a boolean field; False when it is absent."""
        return self.value(name) is True

    def span(self, name: str) -> Span | None:
        """Return where the value of a field stands."""
        entry = self.entries.get(name)
        return entry.value.span if entry is not None else None

    def __contains__(self, name: str) -> bool:
        return name in self.entries


class Script(Struct, frozen=True):
    """One ai-script block (M23). ``data`` is the object as written, None when it is no JSON object.

    ``address`` names the block in commands: its `script-id`, `id@line` where an earlier block has that id, `@line`
    without one (MA9). ``hint`` is the comment before it (M40). ``containers`` are the blocks around it, outermost
    first (MA3). ``pure`` are the edits that make its content pure JSON (MA1).
    """

    fence: Fence
    pieces: Pieces
    node: Mapping | None
    fields: Fields
    line: int
    address: str
    hint: Span | None = None
    pure: tuple[Edit, ...] = ()

    @property
    def data(self) -> dict[str, Value] | None:
        """The object as plain data, under the names that the author wrote."""
        return None if self.node is None else to_mapping(self.node)

    @property
    def script_id(self) -> str | None:
        """`script-id` (M24)."""
        return self.fields.text("script-id")

    @property
    def auto_run(self) -> bool:
        """`auto-run` (M27): a wish of the author, never a permission (MA12)."""
        return self.fields.flag("auto-run")

    @property
    def output_format(self) -> str | None:
        """`output-format`, which is `json` as soon as there is an `output-schema` (M34, MA14)."""
        return "json" if "output-schema" in self.fields else self.fields.text("output-format")

    @property
    def stream(self) -> bool:
        """`stream` (M36); a result that a schema describes is never streamed (MA14)."""
        return self.fields.flag("stream") and "output-schema" not in self.fields

    @property
    def interactive_type(self) -> str | None:
        """`interactive-type` (M37); nothing is interactive in a block that runs by itself (MA15)."""
        return None if self.auto_run else self.fields.text("interactive-type")

    def span(self, name: str) -> Span:
        """Return where to point when speaking of a field: its value, or the opening line of the fence."""
        return self.fields.span(name) or self.opening

    @property
    def opening(self) -> Span:
        """The opening fence with its info string."""
        length = len(self.fence.open_fence) + len(self.fence.info)
        return Span(self.fence.span.start, min(self.fence.span.start + length, self.fence.span.end))


class Relationship(Struct, frozen=True):
    """A footnote that holds a relationship (M43). ``span`` is the JSON object, without backticks.

    ``rel`` is the type for the graph: `rel-type` with the aliases of MA7 resolved. ``referenced_at`` are the references
    to the footnote.
    """

    definition: FootnoteDefinition
    form: RelationshipForm
    node: Mapping
    fields: Fields
    context: Fields
    span: Span
    line: int
    referenced_at: tuple[Span, ...] = ()

    @property
    def label(self) -> str:
        """The label of the footnote."""
        return self.definition.label

    @property
    def data(self) -> dict[str, Value]:
        """The object as plain data, under the names that the author wrote."""
        return to_mapping(self.node)


class MagiModel(Struct, frozen=True):
    """A MAGI document. ``fields`` is its front matter; ``stray_markers`` are markers without a region."""

    front: FrontReading
    document: Document
    fields: Fields
    scripts: tuple[Script, ...]
    relationships: tuple[Relationship, ...]
    regions: tuple[Region, ...]
    stray_markers: tuple[Span, ...] = ()

    @property
    def source(self) -> SourceText:
        """The source that was read."""
        return self.front.source

    @property
    def doc_id(self) -> str | None:
        """`doc-id` (M5), or None when it is absent or blank."""
        text = self.fields.text("doc-id")
        return text if text and text.strip() else None

    @property
    def title(self) -> str | None:
        """`title` (M6)."""
        return self.fields.text("title")
