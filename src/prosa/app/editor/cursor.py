"""What stands at the cursor: a document of the workspace, and an offset in it.

A `CursorContext` knows the part of the document, its dialect, and the shapes of the data there. Parsing happens on
first access; the dialect is guessed from the names of fields while the front matter cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.check.workspace import Workspace
from prosa.data import Value
from prosa.data.place import DataPlace, json_place, yaml_names, yaml_place
from prosa.dialects import DialectName
from prosa.dialects.context.hosts import fields_at
from prosa.dialects.evals.document.fields import RUN, WORDS
from prosa.dialects.evals.suite.fields import QUERY, TOP
from prosa.dialects.fields import Field
from prosa.dialects.magi.fields import RELATIONSHIP, SCRIPT
from prosa.dialects.markdownlang.fields import PROGRAM
from prosa.dialects.plain import DOCUMENT
from prosa.dialects.reading import DialectReading, decided, likely_dialect, may_have_shape
from prosa.dialects.shapes import DataShape, SchemaShape, TableShape, WordsShape
from prosa.dialects.shapes import Path as Way
from prosa.dialects.skill_md.model import CLIENT
from prosa.dialects.table import DOCUMENT_SUFFIXES, MARKDOWNLANG, TEST, dialect
from prosa.dialects.ymj.fields import FOOTER
from prosa.document.references import Origin
from prosa.document.standing import Standing, standing
from prosa.regex import regex
from prosa.rules.project import schema_at
from prosa.rules.rule import DocumentFacts
from prosa.schema import Schema
from prosa.schema.described import SchemaView
from prosa.source import Span

MAX_FOOTNOTE = 20_000
"""Maximum length of a footnote that is searched for an object."""

_FOOTNOTE = regex(r"[ \t>]*\[\^[^\]\r\n]{1,200}\]:")
_BREAK = regex(r"(?>\r\n|\n|\r)[ \t]*(?:(?>\r\n|\n|\r)|\Z)|(?>\r\n|\n|\r)(?=[ \t>]*\[\^)")


class DataContext(Struct, frozen=True):
    """Data that is being written: its place, its shape, and its kind: ``front``, ``script``, ``relationship``,
    ``footer`` or a block of a test."""

    name: str
    place: DataPlace
    shapes: tuple[DataShape, ...]
    json: bool = False


class CursorContext(Struct, frozen=True, dict=True):
    """``text`` is the document as it stands, ``path`` its real path."""

    workspace: Workspace
    path: Path
    text: str
    offset: int

    @classmethod
    def at(cls, workspace: Workspace, path: Path, offset: int) -> CursorContext | None:
        """Return the cursor at an offset; None where there is no such document."""
        source = workspace.source(path)
        return cls(workspace, path, source.text, max(0, min(offset, len(source.text)))) if source is not None else None

    @cached_property
    def standing(self) -> Standing:
        """The part of the document."""
        return standing(self.text, self.offset)

    @cached_property
    def line(self) -> str:
        """The line up to the offset."""
        return self.text[self.standing.line.start : self.offset]

    @cached_property
    def reading(self) -> DialectReading[object] | None:
        """The document as its dialect understands it now."""
        return self.workspace.reading(self.path) if self.path.suffix.lower() in DOCUMENT_SUFFIXES else None

    @cached_property
    def dialect(self) -> DialectName:
        """The dialect of the document."""
        known = decided(self.path.as_posix(), self.workspace.profile.hints(self.path))
        known = known or likely_dialect(self.names.get((), ()))
        if known is not None or not may_have_shape(self.text, self.names.get((), ())):
            return known or "plain"
        return self.reading.name if self.reading is not None else "plain"

    @cached_property
    def front(self) -> Span | None:
        """The YAML of the front matter."""
        state = standing(self.text, 4 if self.text.startswith(("---", "\ufeff---")) else 0)
        return state.region if state.part == "front" else None

    @cached_property
    def names(self) -> dict[Way, tuple[str, ...]]:
        """The names of the fields of the front matter, by the path to their mapping."""
        return dict(yaml_names(self.text, self.front)) if self.front is not None else {}

    @cached_property
    def catalogue(self) -> NameCatalogue:
        """The documents of the workspace by name."""
        return catalogue_of(self.workspace)

    @cached_property
    def here(self) -> str:
        """The path of the document below the root, with `/`."""
        root = self.workspace.root
        return self.path.relative_to(root).as_posix() if self.path.is_relative_to(root) else self.path.name

    @property
    def folder(self) -> str:
        """Its folder below the root."""
        return self.here.rpartition("/")[0]

    @cached_property
    def data(self) -> DataContext | None:
        """The data at the offset, with its place in it; None if no data can be written there."""
        if self.dialect == "evals":
            return self._of_skill()
        if self.standing.part == "front":
            place = yaml_place(self.text, self.standing.region, self.offset)
            return DataContext("front", place, self.front_shapes) if place is not None else None
        if self.standing.part == "fence":
            return self._fenced()
        return self._footnote() if self.standing.part == "body" and self.dialect == "magi" else None

    @cached_property
    def front_shapes(self) -> tuple[DataShape, ...]:
        """The shapes of the front matter: by the dialect, by the schemas that the project binds to it, by both for an
        unfinished program."""
        shapes: list[DataShape] = [SchemaShape(view) for view in self._bound()]
        shapes.append(TableShape(self._table(), self.names))
        if self.dialect == "plain" and {"name", "description"} & {*self.names.get((), ())}:
            shapes.append(TableShape(PROGRAM, self.names))
        return tuple(shapes)

    def _table(self) -> tuple[Field, ...]:
        if self.dialect == "context":
            return fields_at(self.path.as_posix()) or DOCUMENT
        if self.dialect == "plain":
            return DOCUMENT
        front = dialect(self.dialect).load().front
        if self.dialect == "skill_md":
            return (*front, *CLIENT)
        return front

    def _bound(self) -> list[SchemaView]:
        """Return the schemas of the project for this document, read once."""
        names = self.workspace.names
        if names is None or not self.workspace.profile.has_schemas:
            return []
        views = [names.derived(f"view {path}", "schemas", partial(self._view, path)) for path in self._schemas]
        return [view for view in views if view is not None]

    @property
    def _schemas(self) -> tuple[str, ...]:
        return self.workspace.profile.schemas(self.path)

    def _view(self, path: str) -> SchemaView | None:
        schema: Schema | None = schema_at(self.workspace.root, path, self.workspace.files).schema
        return SchemaView(schema.raw) if schema is not None else None

    def _fenced(self) -> DataContext | None:
        """Return the data in a fence: an ai-script block, the footer of a record, a block of a test."""
        language, _, rest = self.standing.info.partition(" ")
        region = self.standing.region
        if self.dialect == "magi" and language == "ai-script":
            return self._json("script", region, TableShape(SCRIPT))
        if self.dialect == "ymj" and language.lower() == "json" and self.standing.last:
            return self._json("footer", region, TableShape(FOOTER))
        if self.dialect == "test" and language in ("yaml", "yml", "json"):
            return self._of_block(rest.strip(), region, json=language == "json")
        return None

    def _of_skill(self) -> DataContext | None:
        """Return the data of a file that says how a skill is tried: cases in an object, requests in a list."""
        place = json_place(self.text, Span(0, len(self.text)), self.offset)
        if place is None:
            return None
        if place.path[:1] == (None,):
            return DataContext("queries", replace(place, path=place.path[1:]), (TableShape(QUERY),), json=True)
        if len(place.path) > 3 and place.path[0] == "evals" and place.path[2] in ("assertions", "expectations"):
            return DataContext("assertions", place, (WordsShape((*WORDS, *RUN)),), json=True)
        return DataContext("evals", place, (TableShape(TOP),), json=True)

    def _of_block(self, role: str, region: Span, *, json: bool) -> DataContext | None:
        """Return the data in a block of a test."""
        shapes = self._of_case(role)
        lines = _whole_lines(region, self.text)
        place = (json_place if json else yaml_place)(self.text, lines, self.offset) if shapes else None
        return DataContext(role, place, shapes, json=json) if place is not None else None

    def _json(self, name: str, region: Span, shape: DataShape) -> DataContext | None:
        place = json_place(self.text, region, self.offset)
        return DataContext(name, place, (shape,), json=True) if place is not None else None

    def _footnote(self) -> DataContext | None:
        """Return the object of a relationship: what stands between braces in the definition of a footnote."""
        region = footnote_object(self.text, self.offset)
        if region is None:
            return None
        return self._json("relationship", region, TableShape(RELATIONSHIP))

    def _of_case(self, role: str) -> tuple[DataShape, ...]:
        """Return the shape of a block of a test: the input or the output of the tested program, words of matchers,
        expectations of a run."""
        if role == "run":
            return (TableShape(RUN),)
        program = self._tested() if role in ("input", "expect") else None
        schema = program.get(role) if program is not None else None
        declared: tuple[DataShape, ...] = (SchemaShape(SchemaView(schema)),) if schema is not None else ()
        return (*declared, WordsShape(WORDS)) if role == "expect" else declared

    def _tested(self) -> dict[str, Value] | None:
        suite = self.reading.model_of(TEST) if self.reading is not None else None
        if suite is None or not suite.tests:
            return None
        files = self.workspace.files
        real = files.real(self.path.parent / suite.tests)
        reading = self.workspace.reading(real) if files.inside_root(real) else None
        program = reading.model_of(MARKDOWNLANG) if reading is not None else None
        if program is None:
            return None
        return {
            "input": program.input.value if program.input is not None else None,
            "expect": program.output.value if program.output is not None else None,
        }


def footnote_object(text: str, offset: int) -> Span | None:
    """Return the characters from the brace that opens the object of a footnote to the end of its definition, where an
    offset lies among them."""
    floor = max(0, offset - MAX_FOOTNOTE)
    end = offset
    while end >= floor:
        start = max(text.rfind("\n", floor, end), text.rfind("\r", floor, end), floor - 1) + 1
        defined = _FOOTNOTE.match(text, start, offset)
        if defined is not None:
            return _braces(text, defined.end(), offset)
        if not text[start:end].strip() or start <= floor:
            return None
        end = start - (2 if text.startswith("\r\n", start - 2) else 1)
    return None


def _braces(text: str, at: int, offset: int) -> Span | None:
    """From the first brace behind ``at`` to the end of the footnote."""
    opened = text.find("{", at, offset)
    if opened < 0:
        return None
    most = min(len(text), offset + MAX_FOOTNOTE)
    ended = _BREAK.search(text, opened, most)
    end = ended.start() if ended else most
    return Span(opened, end) if offset <= end else None


def _whole_lines(region: Span, text: str) -> Span:
    """Return a region without the line end behind its last line."""
    end = region.end
    if end > region.start and text[end - 1] == "\n":
        end -= 1
    if end > region.start and text[end - 1] == "\r":
        end -= 1
    return Span(region.start, end)


class NamedDocument(NamedTuple):
    """A document: its real path, and that below the root with `/`. A tuple: a large corpus has very many."""

    real: Path
    path: str
    folder: str
    stem: str
    dialect: DialectName
    title: str
    aliases: tuple[str, ...]
    ids: tuple[str, ...]
    folded: tuple[str, ...]
    """All its names in lower case: stem, title, other names, ids, path."""


class NameCatalogue(Struct, frozen=True):
    """``stems`` says how many documents have a stem, case aside; ``rels`` how often a relation is written, by the place
    where it is; ``runs`` are those of the documents (`runs_of`)."""

    documents: tuple[NamedDocument, ...] = ()
    stems: dict[str, int] = {}
    rels: dict[tuple[Origin, DialectName], dict[str, int]] = {}
    runs: tuple[tuple[str, int, int], ...] = ()

    def of_dialect(self, dialect: DialectName) -> Iterator[NamedDocument]:
        """Return the documents of one dialect."""
        return (document for document in self.documents if document.dialect == dialect)

    def relations(self, origin: Origin, dialect: DialectName) -> list[str]:
        """Return the relations that documents of a dialect write, the most frequent first."""
        counts = self.rels.get((origin, dialect), {})
        return sorted(counts, key=lambda rel: (-counts[rel], rel))


def runs_of(documents: Sequence[NamedDocument]) -> tuple[tuple[str, int, int], ...]:
    """Return the runs of documents in one folder: the folder, the first number, the one after the last."""
    runs: list[tuple[str, int, int]] = []
    start = 0
    for folder, some in groupby(documents, key=lambda document: document.folder):
        stop = start + sum(1 for _ in some)
        runs.append((folder, start, stop))
        start = stop
    return tuple(runs)


_EMPTY = NameCatalogue()


def catalogue_of(workspace: Workspace) -> NameCatalogue:
    """Return the documents of a workspace."""
    names = workspace.names
    if names is None:
        return _EMPTY
    return names.derived("catalogue", "called", lambda: _made(workspace))


def _made(workspace: Workspace) -> NameCatalogue:
    root = f"{workspace.root.as_posix().rstrip('/')}/"
    rels: dict[tuple[Origin, DialectName], dict[str, int]] = {}
    stems: dict[str, int] = {}
    documents: list[NamedDocument] = []
    for real, facts in workspace.entries.items():
        known = _known(real, facts, root)
        documents.append(known)
        folded = known.stem.casefold()
        stems[folded] = stems.get(folded, 0) + 1
        for ref in facts.refs:
            if ref.rel:
                counted = rels.setdefault((ref.origin, facts.dialect), {})
                counted[ref.rel] = counted.get(ref.rel, 0) + 1
    return NameCatalogue(tuple(documents), stems, rels, runs_of(documents))


def _known(real: Path, facts: DocumentFacts, root: str) -> NamedDocument:
    path = real.as_posix().removeprefix(root)
    folder, _, name = path.rpartition("/")
    title, aliases, ids = "", [], []
    for definition in facts.defs:
        if definition.kind == "title":
            title = title or definition.name
        elif definition.kind == "alias":
            aliases.append(definition.name)
        else:
            ids.append(definition.name)
    stem = name.rpartition(".")[0] or name
    names = (stem, title, *aliases, *ids, path)
    folded = tuple("\n".join(names).casefold().split("\n"))
    return NamedDocument(real, path, folder, stem, facts.dialect, title, tuple(aliases), tuple(ids), folded)
