"""The entry point of reading: a source in, the document under its dialect out, the same for all callers.

In: a source, and hints about its dialect. Out: a `DialectReading`: front matter, Markdown and model, and the functions
of its `Dialect`. Never fails, opens nothing. The package of a dialect is loaded for its first document.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value
from prosa.diagnostics import Problem
from prosa.dialects import DialectName
from prosa.dialects.detect import NO_HINTS, Detection, decided, detect
from prosa.dialects.dialect import Dialect, FormatOptions, Hints
from prosa.dialects.fields import declared_value
from prosa.dialects.front import FrontReading, front_under, read_front, read_loose_front
from prosa.dialects.table import DialectRow, dialect

if TYPE_CHECKING:
    from prosa.dialects.relations import Relations
    from prosa.document import Def, Document, Ref
    from prosa.source import Edit, SourceText, Span

M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)


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
        found = self.dialect.references(self.model)
        if not self.relations:
            return found
        from prosa.dialects.relations import relation_refs  # only here: few projects have such fields

        known = {each.span.start for each in found}
        own = (each for each in relation_refs(self.front.fields, self.relations) if each.span.start not in known)
        return (*found, *own)

    def definitions(self) -> tuple[Def, ...]:
        """Return what others can point at in it."""
        return self.dialect.definitions(self.model)

    def inline_tags(self) -> tuple[str, ...]:
        """Return the tags in its text, which count in a vault of Obsidian alone."""
        if not self.vault:
            return ()
        from prosa.document.tags import inline_tags  # only here: most documents lie in no vault

        return inline_tags(self.document)

    def facts(self) -> dict[str, Value]:
        """Return the further keys of `prosa show`."""
        return self.dialect.facts(self.model)

    def judged_facts(self, *, strict: bool, errors: frozenset[str]) -> dict[str, Value]:
        """Return the facts with the verdict of the dialect, if it gives one: ``strict`` is the mode in force,
        ``errors`` the rules broken."""
        return self.dialect.judged(self.facts(), strict, errors)

    def corpus_facts(self) -> dict[str, Value]:
        """Return plain data for the rules of many documents."""
        return self.dialect.corpus_facts(self.model)

    def strictness(self) -> bool | None:
        """Return whether the document requests strict reading; None if it does not say."""
        return self.dialect.strictness(self.model)

    def format_edits(self, options: FormatOptions) -> tuple[Edit, ...]:
        """Return the edits that bring the document to the normal form of its dialect."""
        return self.dialect.format_edits(self.model, options)


def open_document(source: SourceText, hints: Hints = NO_HINTS, relations: Relations = ()) -> DialectReading[object]:
    """Return the document of ``source`` read under the dialect that it is written in (X3), in a project with these
    relations."""
    return open_documents([(source, hints)], relations)[0]


def open_documents(
    sources: Sequence[tuple[SourceText, Hints]], relations: Relations = ()
) -> list[DialectReading[object]]:
    """Read many documents, each with its hints.

    They go from stage to stage together, so that the code of a stage stays where the processor finds it: a seventh of
    the time. A reader that fails is a problem of its document, which is not read further.
    """
    try:
        found = [(*_detected(source, hints), hints.vault) for source, hints in sources]
        return [_under(dialect(each.dialect), front, each.problems, relations, vault) for front, each, vault in found]
    except Exception:
        return [_contained(source, hints, relations) for source, hints in sources]


def _contained(source: SourceText, hints: Hints, relations: Relations) -> DialectReading[object]:
    """Return the reading of one document, so that a reader that fails on it keeps no other from being read."""
    try:
        front, found = _detected(source, hints)
        return _under(dialect(found.dialect), front, found.problems, relations, hints.vault)
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


def _detected(source: SourceText, hints: Hints) -> tuple[FrontReading, Detection]:
    """Return the front matter as the document's dialect reads it, and that dialect. What only plain Markdown may do
    helps to find a shape, and is no front matter of any other dialect."""
    name = decided(source.path, hints)
    if name not in (None, "plain"):
        return read_front(source), Detection(name)
    front = read_loose_front(source)
    found = Detection(name) if name else detect(front)
    return (front if found.dialect == "plain" or not front.loose else read_front(source)), found


def _under(
    row: DialectRow[M], front: FrontReading, problems: tuple[Problem, ...], relations: Relations, vault: bool = False
) -> DialectReading[M]:
    loaded = row.load()
    masked, body = loaded.masked(front), loaded.markdown(front)
    document = front.document if body == front.body and not masked else _parsed(front, body, masked)
    model, found = loaded.read(front, document)
    return DialectReading(loaded, front, document, model, (*problems, *found), relations, vault)


def _parsed(front: FrontReading, body: Span, masked: tuple[Span, ...]) -> Document:
    from prosa.document import parse  # only here: it loads the Markdown parser

    return parse(front.source, body=body, masked=masked)
