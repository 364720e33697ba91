"""The front door of reading: `open_document` finds the dialect of a source (X3) and reads it under that dialect, for
all callers alike.

In: a source, and hints about its dialect. Out: a `DialectReading`: front matter, Markdown and model, and the functions
of its `Dialect`. Never fails, opens nothing. The package of a dialect is loaded for its first document.

Two shapes that fit at once are `ambiguous-dialect`: such a document is read as plain Markdown, never as a guess. Order:
`--as`, then the globs of the project, then the places of hosts and the file name, then the command's own dialect, then
the shape.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Mapping as MappingOf
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from prosa import data
from prosa.data import Entry, Mapping, Node, Value
from prosa.data import Sequence as NodeSequence
from prosa.diagnostics import Problem
from prosa.dialects import DialectName
from prosa.dialects.dialect import Dialect, FormatOptions, Hints
from prosa.dialects.fields import declared_value
from prosa.dialects.front import LOOSE, FrontReading, front_under, read_front, read_loose_front
from prosa.dialects.table import DialectRow, dialect, dialect_of_path
from prosa.regex import regex
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.dialects.facts import DialectFacts
    from prosa.dialects.relations import Relations
    from prosa.document import Def, Document, Heading, Ref
    from prosa.source import Edit, SourceText

M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)


NO_HINTS = Hints()


class DialectReading(Struct, Generic[M_co], frozen=True):
    """A document as its dialect understands it: a model, and the dialect that read it.

    ``problems`` are those of detection and of the dialect's reader, without those of the front matter. ``relations``
    are the fields that the project declares as references to other documents. ``vault`` is true in a vault of
    Obsidian. The type may be covariant because model and dialect belong together: a dialect never gets the model of
    another one.
    """

    dialect: Dialect[M_co]
    front: FrontReading
    document: Document
    model: M_co
    problems: tuple[Problem, ...] = ()
    relations: Relations = ()
    vault: bool = False

    @property
    def name(self) -> DialectName:
        """The name of its dialect."""
        return self.dialect.name

    def model_of(self, row: DialectRow[M]) -> M | None:
        """Return the model, where the document is of that dialect; None for any other. Loads nothing."""
        return cast("M", self.model) if self.name == row.name else None

    @property
    def front_matter(self) -> dict[str, Value] | None:
        """The front matter as plain data, strings as the dialect declares them (X1); None where it is no mapping."""
        return declared_value(self.front.fields, self.dialect.front) if self.front.fields is not None else None

    def references(self) -> tuple[Ref, ...]:
        """Return what the document points at; what a field names is named once, by the dialect or by the project."""
        refs = self.dialect.references(self.model)
        if not self.relations:
            return refs
        from prosa.dialects.relations import relation_refs  # only here: few projects have such fields

        known = {ref.span.start for ref in refs}
        own = (ref for ref in relation_refs(self.front.fields, self.relations) if ref.span.start not in known)
        return (*refs, *own)

    def definitions(self) -> tuple[Def, ...]:
        """Return what others can point at in it."""
        return self.dialect.definitions(self.model)

    def inline_tags(self) -> tuple[str, ...]:
        """Return the tags in its text, which count in a vault of Obsidian alone."""
        if not self.vault:
            return ()
        from prosa.document.tags import inline_tags  # only here: most documents lie in no vault

        return inline_tags(self.document)

    def facts(self) -> DialectFacts:
        """Return the further keys of `prosa show`."""
        return self.dialect.facts(self.model)

    def judged_facts(self, *, strict: bool, errors: frozenset[str]) -> DialectFacts:
        """Return the facts with the verdict of the dialect, if it gives one: ``strict`` is the mode in force,
        ``errors`` the rules broken."""
        judged = self.dialect.judged
        return judged(self.model, strict, errors) if judged is not None else self.facts()

    def corpus_facts(self) -> MappingOf[str, object]:
        """Return plain data for the rules of many documents."""
        return self.dialect.corpus_facts(self.model)

    def strictness(self) -> bool | None:
        """Return whether the document requests strict reading; None if it does not say."""
        return self.dialect.strictness(self.model)

    def format_edits(self, options: FormatOptions) -> tuple[Edit, ...]:
        """Return the edits that bring the document to the normal form of its dialect."""
        return self.dialect.format_edits(self.model, options)


def open_document(
    source: SourceText,
    hints: Hints = NO_HINTS,
    relations: Relations = (),
    like: DialectReading[object] | None = None,
) -> DialectReading[object]:
    """Return the document of ``source`` read under the dialect that it is written in (X3), in a project with these
    relations. Where ``like`` is a reading of the same text at another path, it is not parsed again."""
    again = _again(source, hints, relations, like) if like is not None else None
    return again or open_documents([(source, hints)], relations)[0]


def _again(
    source: SourceText, hints: Hints, relations: Relations, like: DialectReading[object]
) -> DialectReading[object] | None:
    """Return the reading with the Markdown of another one; None where text, dialect or body differ, or a reader
    fails."""
    if like.document.source.text != source.text:
        return None
    try:
        front, detection = _detected(source, hints)
        if detection.dialect != like.name or front.body != like.front.body:
            return None
        document = like.document.at(source)
        return _under(dialect(detection.dialect), front, detection.problems, relations, hints.vault, document)
    except Exception:
        return None


def open_documents(
    sources: Sequence[tuple[SourceText, Hints]], relations: Relations = ()
) -> list[DialectReading[object]]:
    """Read many documents, each with its hints.

    They go from stage to stage together, so that the code of a stage stays where the processor finds it: a seventh of
    the time. A reader that fails is a problem of its document, which is not read further.
    """
    try:
        detections = [(*_detected(source, hints), hints.vault) for source, hints in sources]
        documents = [_document(dialect(detection.dialect).load(), front) for front, detection, _ in detections]
        return [
            _under(dialect(detection.dialect), front, detection.problems, relations, vault, document)
            for (front, detection, vault), document in zip(detections, documents, strict=True)
        ]
    except Exception:
        return [_contained(source, hints, relations) for source, hints in sources]


def _contained(source: SourceText, hints: Hints, relations: Relations) -> DialectReading[object]:
    """Return the reading of one document, so that a reader that fails on it keeps no other from being read."""
    try:
        front, detection = _detected(source, hints)
        return _under(dialect(detection.dialect), front, detection.problems, relations, hints.vault)
    except Exception as error:
        return failed_reading(source, error)


def failed_reading(source: SourceText, error: Exception) -> DialectReading[object]:
    """Return the reading of a document on which a reader failed: a plain one without its text, and the problem. It is
    treated as secret, because its visibility is unknown (X23)."""
    from prosa.diagnostics.crash import crash  # only here: readers do not fail

    blank = replace(source, text="---\nclassification: secret\n---\n", digest="")
    return _under(dialect("plain"), read_front(blank), (crash("the reader", error),), ())


def open_as(source: SourceText, row: DialectRow[M], relations: Relations = ()) -> DialectReading[M]:
    """Read the document of ``source`` under one dialect, whatever its shape."""
    return _under(row, front_under(source, row.name), (), relations)


def dialect_of(source: SourceText, hints: Hints = NO_HINTS) -> DialectName:
    """Return the dialect that a document is written in, for those who need nothing else of it."""
    return _detected(source, hints)[1].dialect


def front_of(source: SourceText, hints: Hints = NO_HINTS) -> FrontReading:
    """Return the front matter as the dialect of the document reads it, for those who need nothing else of it."""
    try:
        return _detected(source, hints)[0]
    except Exception as error:
        return failed_reading(source, error).front


def _detected(source: SourceText, hints: Hints) -> tuple[FrontReading, Detection]:
    """Return the front matter as the document's dialect reads it, and that dialect. What only plain Markdown may do
    helps to find a shape, and is no front matter of any other dialect."""
    name = decided(source.path, hints)
    if name is not None and name not in LOOSE:
        strict = read_front(source)
        chosen = hints.explicit or hints.glob
        return strict, Detection("mda" if name == "magi" and not chosen and is_mda(strict.fields) else name)
    front = read_loose_front(source)
    detection = Detection(name) if name else detect(front)
    return (front if detection.dialect in LOOSE or not front.loose else read_front(source)), detection


def _under(
    row: DialectRow[M],
    front: FrontReading,
    problems: tuple[Problem, ...],
    relations: Relations,
    vault: bool = False,
    document: Document | None = None,
) -> DialectReading[M]:
    loaded = row.load()
    if document is None:
        document = _document(loaded, front)
    model, own_problems = loaded.read(front, document)
    return DialectReading(loaded, front, document, model, (*problems, *own_problems), relations, vault)


def _document(loaded: Dialect[M], front: FrontReading) -> Document:
    masked, body = loaded.masked(front), loaded.markdown(front)
    return front.document if body == front.body and not masked else _parsed(front, body, masked)


def _parsed(front: FrontReading, body: Span, masked: tuple[Span, ...]) -> Document:
    from prosa.document import parse  # only here: it loads the Markdown parser

    return parse(front.source, body=body, masked=masked)


# Which dialect a document is written in (X3).

_MESSAGE = regex(r"(?://\s*)?@(?P<role>[\w.-]+)(?:/[\w.-]+)?\s*+(?P<colon>:?)\s*+")
_MAYBE_MESSAGE = regex(r"###[ \t]+\\?(?:@|//)")
"""Text in every message heading, and elsewhere. It begins with plain text, so it is found fastest."""
_ROLES = frozenset({"user", "assistant", "system", "prompt", "completion"})


class Detection(Struct, frozen=True):
    """The dialect and what was wrong in finding it."""

    dialect: DialectName
    problems: tuple[Problem, ...] = ()


@lru_cache(maxsize=16)
def decided(path: str, hints: Hints = NO_HINTS) -> DialectName | None:
    """Return the dialect that hints and the path decide, or None if the shape must decide.

    A command forces its dialect only on a document whose name and location decide nothing, and on a context file: a
    `.mda` stays a MAGI document, or one of MDA: they share a suffix, and the front matter decides (`is_mda`).
    """
    named = hints.explicit or hints.glob or dialect_of_path(path)
    return (hints.forced or named) if named == "context" and not hints.explicit else named or hints.forced


def detect(front: FrontReading, hints: Hints = NO_HINTS) -> Detection:
    """Return the dialect of a document, with `ambiguous-dialect` where two shapes fit at once."""
    if name := decided(front.source.path, hints):
        return Detection(name)
    if front.source.path.lower().endswith(".json") and holds_requests(front.source.text):
        return Detection("evals")
    shapes = _shapes(front)
    if len(shapes) > 1:
        return Detection("plain", (_ambiguous(shapes),))
    return Detection(next(iter(shapes), "plain"))


def is_mda(fields: Mapping | None) -> bool:
    """Return whether the front matter of a `.mda` file is that of MDA 1.0 rather than of MAGI (X42): it has
    `metadata.mda`, a field that only MDA has, or `name` and no field that only MAGI has."""
    if fields is None:
        return False
    names = {entry.key.text for entry in fields}
    if not names & {"name", "metadata", "integrity", "signatures", "targets"}:
        return False
    from prosa.dialects.magi.fields import squashed
    from prosa.dialects.mda.fields import MARKS, ONLY_MAGI  # only here: few documents need them

    metadata = fields.get("metadata")
    own = isinstance(metadata, Mapping) and metadata.entry("mda") is not None
    return own or not names.isdisjoint(MARKS) or ("name" in names and ONLY_MAGI.isdisjoint(map(squashed, names)))


def _shapes(front: FrontReading) -> dict[DialectName, Span]:
    """Every shape the document has, and where it shows."""
    shapes: dict[DialectName, Span] = {}
    if front.fields is not None:
        entries = {entry.key.text: entry for entry in front.fields}
        if (span := _program_shape(entries)) is not None:
            shapes["markdownlang"] = span
        if (span := _node_shape(entries)) is not None:
            shapes["mdh"] = span
    if (span := _chat_shape(front)) is not None:
        shapes["prapti"] = span
    return shapes


def holds_requests(text: str) -> bool:
    """Return whether a text is a JSON list of requests with `should_trigger`, whatever the name of its file."""
    if '"should_trigger"' not in text:
        return False
    node = data.read_json(text).node
    first = node.items[0] if isinstance(node, NodeSequence) and node.items else None
    return isinstance(first, Mapping) and None not in (first.entry("query"), first.entry("should_trigger"))


def likely_dialect(names: Collection[str]) -> DialectName | None:
    """Return the most likely dialect of front matter with these fields, for front matter that is being edited and
    cannot be read."""
    if {"imports", "mcp_servers"} & {*names} or ({"input", "output"} & {*names} and {"name", "description"} & {*names}):
        return "markdownlang"
    node = "id" in names and ("type" in names or bool({"links", "actions"} & {*names}))
    return "mdh" if node else None


def may_have_shape(text: str, names: Collection[str]) -> bool:
    """Return whether a quick look at a text leaves room for another dialect than plain Markdown."""
    return not {"imports", "mcp_servers", "input", "output", "links", "actions", "type"}.isdisjoint(names) or (
        _MAYBE_MESSAGE.search(text) is not None
    )


def _program_shape(entries: dict[str, Entry]) -> Span | None:
    """Return `imports` or `mcp_servers`, or `input` or `output` beside `name` or `description`."""
    own = [entries[name] for name in ("imports", "mcp_servers") if name in entries]
    if not own and ("name" in entries or "description" in entries):
        own = [entries[name] for name in ("input", "output") if name in entries]
    return own[0].key.span if own else None


def _node_shape(entries: dict[str, Entry]) -> Span | None:
    """Return `id` and `type`; or one of `id`, `type`, `title` beside `links` or `actions` that hold mappings."""
    if "id" in entries and "type" in entries:
        return entries["id"].key.span
    if not entries.keys() & {"id", "type", "title"}:
        return None
    holders = [entries[name] for name in ("links", "actions") if name in entries]
    return next((entry.key.span for entry in holders if _holds_mappings(entry.value)), None)


def _holds_mappings(node: Node) -> bool:
    if isinstance(node, NodeSequence):
        return any(isinstance(item, Mapping) for item in node.items)
    return isinstance(node, Mapping) and any(isinstance(entry.value, Mapping) for entry in node)


def _chat_shape(front: FrontReading) -> Span | None:
    """Return a top-level `### @role` heading: with its colon, or with a role that only a chat has."""
    text = front.source.text
    if "###" not in text or not _MAYBE_MESSAGE.search(text, front.body.start, front.body.end):
        return None  # saves a parse
    return next((heading.span for heading in front.document.headings if _is_message(heading)), None)


def _is_message(heading: Heading) -> bool:
    match = _MESSAGE.fullmatch(heading.text)
    if heading.level != 3 or heading.nested or match is None:
        return False
    role = match["role"].lower()
    return bool(match["colon"]) or role in _ROLES or role.startswith("_")


def _ambiguous(shapes: dict[DialectName, Span]) -> Problem:
    titles = " and ".join(dialect(name).title for name in shapes)
    span = next(iter(shapes.values()))
    options = " or ".join(f"`--as {name}`" for name in shapes)
    return Problem(
        "ambiguous-dialect", f"the document has two shapes at once: {titles}", span, (f"say which it is: {options}",)
    )
