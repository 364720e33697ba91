"""Read an MDA document: its front reading and parsed body in, `MdaModel` and problems out. Never fails, opens nothing.

The table of the file's target says what its front matter may hold (`fields`); what parts say to each other is left to
rules. A relationship is a footnote that is one JSON object and nothing else (§03-2).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Entry, Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Fix, Problem, Severity
from prosa.dialects.fields import Field, Owner, read_fields, shown, text_of, type_name
from prosa.dialects.front import FrontReading
from prosa.dialects.magi.embedded import read_embedded, unfolded
from prosa.dialects.magi.relationships import label_key, meant_as_object, stripped
from prosa.dialects.mda.fields import (
    EXTENDED,
    MAX_NAME,
    NETWORK,
    OPEN,
    RELATIONSHIP,
    RESERVED,
    MdaFile,
    is_identifier,
    target_of,
)
from prosa.dialects.mda.model import Dependency, MdaModel, Relation, Signature
from prosa.document import Document, FootnoteDefinition
from prosa.source import Edit, SourceText, Span

QUOTED = ("version", "created-date", "updated-date")
"""Fields that readers of YAML may take for something else than a text (§02-3)."""

MOST_PROBLEMS = 1000
"""A document with more is not read for its thousand-and-first."""

_WHAT = "a relationship"


def read(front: FrontReading, document: Document) -> tuple[MdaModel, tuple[Problem, ...]]:
    """Return the document and everything that is wrong with the text of it."""
    reader = _Reader(front, target_of(front.source.path))
    if front.fields is None and front.complete:
        reader.without_front(document)
    fields = reader.table(front.fields, reader.target.fields, reader.target.title) if front.fields is not None else {}
    extended = reader.metadata(fields.get("metadata")) | {
        spec.name: fields[spec.name] for spec in EXTENDED if spec.name in fields
    }
    reader.quoted(extended)
    reader.requires(extended.get("requires"))
    listed = _mappings(extended.get("relationships"))
    for mapping in listed or ():
        reader.table(mapping, RELATIONSHIP, _WHAT)
    model = MdaModel(
        front,
        document,
        reader.target,
        fields,
        extended,
        tuple(map(_dependency, _mappings(extended.get("depends-on")) or ())),
        tuple(reader.relations(document)),
        None if listed is None else tuple(map(Relation, listed)),
        tuple(map(_signature, _mappings(fields.get("signatures")) or ())),
    )
    return model, tuple(reader.problems)


class _Reader(Struct):
    """Reads one document, and collects what is wrong with it."""

    front: FrontReading
    target: MdaFile
    problems: list[Problem] = field(default_factory=list)

    def table(
        self, mapping: Mapping, table: tuple[Field, ...], title: str, prefix: str = "", name: str = ""
    ) -> dict[str, Entry]:
        """Return the valid fields of a mapping; one that holds anything wrong is left out."""
        anchor = Span(mapping.span.start, mapping.span.start + 1) if name else self.front.anchor
        anything = name in OPEN
        owner = Owner(title, anchor, prefix, Severity.ERROR, lambda _: anything, self.front.complete)
        known = {spec.name for spec in table}
        nulls = [entry for entry in mapping if entry.key.text in known and _is_null(entry.value)]
        for null in nulls:
            self._wrong("wrong-type", f"`{prefix}{null.key.text}` has no value", null.key.span)
        filled = Mapping(tuple(entry for entry in mapping if entry not in nulls), mapping.span)
        entries, wrong = read_fields(filled, table, owner)
        self.problems += (replace(problem, severity=Severity.ERROR) for problem in wrong)
        return {
            spec.name: entries[spec.name]
            for spec in table
            if spec.name in entries and self._inner(spec, entries, prefix)
        }

    def _inner(self, spec: Field, entries: dict[str, Entry], prefix: str) -> bool:
        """Return whether the inside of a field is as its table says."""
        before = len(self.problems)
        node = entries[spec.name].value
        items = node.items if isinstance(node, Sequence) else (node,)
        if spec.kind == "mappings" and spec.inner and not items and spec.name == "signatures":
            self._wrong("wrong-form", "`signatures` is empty: it holds at least one", node.span)
        for item in items if spec.inner else ():
            if isinstance(item, Mapping):
                self.table(item, spec.inner, f"`{prefix}{spec.name}`", f"{prefix}{spec.name}.", spec.name)
        return len(self.problems) == before

    def without_front(self, document: Document) -> None:
        """Report front matter that is missing, or a body where that is all there could be (§06)."""
        title = self.target.title
        if self.front.problems:
            return
        if self.target.required:
            note = "the first line is exactly `---`, and so is the line below the fields"
            self._wrong("mda-without-front-matter", f"{title} needs front matter", self.front.anchor, note)
        elif not self.front.source.slice(document.body).strip():
            self._wrong("mda-without-front-matter", f"{title} needs front matter or a text", self.front.anchor)

    def metadata(self, entry: Entry | None) -> dict[str, Entry]:
        """Return the fields below `metadata.mda`, and report names that no vendor can have (§04)."""
        entries: dict[str, Entry] = {}
        for member in entry.value if entry is not None and isinstance(entry.value, Mapping) else ():
            name = member.key.text
            if name in RESERVED or not is_identifier(name):
                why = "is reserved" if name in RESERVED or name.startswith("_") else "is not one"
                message = f"the names below `metadata` are those of vendors, and `{shown(name)}` {why}"
                note = f"a name is at most {MAX_NAME} lower-case letters and digits with single hyphens between them"
                self._wrong("bad-namespace", message, member.key.span, note)
            elif not isinstance(member.value, Mapping):
                message = f"`metadata.{name}` must be a mapping, not {type_name(member.value)}"
                self._wrong("bad-namespace", message, member.value.span)
            elif name == "mda":
                entries = self.table(member.value, EXTENDED, "`metadata.mda`", "metadata.mda.", name)
        return entries

    def quoted(self, fields: dict[str, Entry]) -> None:
        """Report texts that are not quoted although they have to be."""
        for name in QUOTED:
            value = fields[name].value if name in fields else None
            if isinstance(value, Scalar) and value.style == "plain":
                message = f"`{name}` must be quoted: some readers of YAML take it for something else than a text"
                edit = quoting(self.front.source, value)
                fix = Fix("quote it", (edit,)) if edit is not None else None
                self.problems.append(Problem("unquoted-text", message, value.span, fix=fix))

    def requires(self, entry: Entry | None) -> None:
        """Report names that no capability can have, and what is said of the network (§10)."""
        for member in entry.value if entry is not None and isinstance(entry.value, Mapping) else ():
            name = member.key.text
            if not is_identifier(name):
                message = f"`{shown(name)}` is not the name of a capability"
                note = f"a name is at most {MAX_NAME} lower-case letters and digits with single hyphens between them"
                self._wrong("bad-capability", message, member.key.span, note)
            elif name == "network" and not _is_network(member.value):
                message = f"`requires.network` is {', '.join(NETWORK)}, or a list of hosts"
                self._wrong("bad-capability", message, member.value.span)

    def relations(self, document: Document) -> Iterator[Relation]:
        """Yield the footnotes that are relationships, by the first place that refers to them, then in their order."""
        first: dict[str, int] = {}
        for reference in document.footnote_references:
            first.setdefault(label_key(reference.label), reference.span.start)
        definitions = [
            definition for definition in document.footnote_definitions if _is_object(document.source, definition)
        ]
        definitions.sort(
            key=lambda note: (first.get(label_key(note.label), len(document.source.text)), note.span.start)
        )
        for definition in definitions:
            pieces = unfolded(document.source, stripped(document.source, definition.content))
            embedded = read_embedded(pieces, "relationship-syntax", _WHAT, tolerant=False)
            self.problems += embedded.problems
            if embedded.node is not None:
                self.table(embedded.node, RELATIONSHIP, _WHAT, name="relationship")
                yield Relation(embedded.node, definition, first.get(label_key(definition.label)))

    def _wrong(self, rule: str, message: str, span: Span, *notes: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(rule, message, span, notes))


def quoting(source: SourceText, value: Scalar) -> Edit | None:
    """Return the edit that quotes a text; None where it is quoted, or is not written where it is used."""
    plain = value.style == "plain" and source.slice(value.span) == value.text
    return Edit(value.span, f'"{value.text}"') if plain else None


def _is_object(source: SourceText, definition: FootnoteDefinition) -> bool:
    """Return whether a footnote is one object, or was meant as one."""
    whole = stripped(source, definition.content)
    text = source.slice(whole)
    return text.startswith("{") and (text.endswith("}") or meant_as_object(text))


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None


def _is_network(node: Node) -> bool:
    if isinstance(node, Sequence):
        return all(isinstance(item, Scalar) and isinstance(item.value, str) for item in node.items)
    return isinstance(node, Scalar) and node.value in NETWORK


def _mappings(entry: Entry | None) -> list[Mapping] | None:
    if entry is None or not isinstance(entry.value, Sequence):
        return None
    return [item for item in entry.value.items if isinstance(item, Mapping)]


def _dependency(node: Mapping) -> Dependency:
    texts, spans = zip(*(_field(node, name) for name in ("name", "version-range", "digest")), strict=True)
    return Dependency(*texts, *spans)


def _signature(node: Mapping) -> Signature:
    signer, span = _field(node, "signer")
    rest = ("key-id", "payload-digest", "algorithm", "signature", "payload-type")
    key_id, digest, algorithm, signature, payload_type = (_field(node, name)[0] for name in rest)
    return Signature(signer, key_id, digest, algorithm, signature, payload_type, span)


def _field(node: Mapping, name: str) -> tuple[str, Span]:
    entry = node.entry(name)
    return text_of(entry) or "", entry.value.span if entry is not None else Span(node.span.start, node.span.start)
