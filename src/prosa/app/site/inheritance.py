"""Inheritance from meta files, read from the files themselves (MA18, X23): pages need it before the index is built.

In: a scan of the files. Out: the meta files, read again when they change; the facets of a document with inherited
values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from msgspec import Struct, field

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.read import decode
from prosa.corpus.extract import footer_of
from prosa.corpus.extracted import Facets, FieldRow
from prosa.corpus.facets import by_name, facets_of, field_rows, guarded
from prosa.corpus.found import FoundDocument, Scan, Stamp
from prosa.data import Value
from prosa.dialects.dialect import Hints
from prosa.dialects.magi.meta import Inherited, MetaFile, effective_fields, inherited_by
from prosa.dialects.reading import DialectReading, open_document
from prosa.dialects.table import MAGI
from prosa.source import FileProblem, SourceText

FieldMetaFile: TypeAlias = MetaFile[Sequence[FieldRow]]
"""A meta file with the rows of its fields."""

_GLOBS = "globs"

SUFFIX = ".mda"
"""Meta files end so, but for those that the settings of the project make MAGI documents."""


class MetaFiles(Struct):
    """The meta files of a site."""

    files: RootedFiles
    _known: dict[str, tuple[Stamp, FieldMetaFile | None]] = field(default_factory=dict)
    _said: dict[str, MetaFile[Value]] = field(default_factory=dict)

    def know(self, others: Mapping[str, Stamp]) -> None:
        """Take in the paths of documents that are no meta files, which need not be read while they have these
        stamps."""
        self._known |= {path: (stamp, None) for path, stamp in others.items() if path not in self._known}

    def of(self, scan: Scan) -> tuple[FieldMetaFile, ...]:
        """Return the meta files among the documents that were found."""
        candidates = [
            document for document in scan.documents if document.hint == "magi" or document.path.lower().endswith(SUFFIX)
        ]
        self._known = {candidate.path: self._read(candidate) for candidate in candidates}
        return tuple(meta for _, meta in self._known.values() if meta is not None)

    def _read(self, document: FoundDocument) -> tuple[Stamp, FieldMetaFile | None]:
        known = self._known.get(document.path)
        if known is not None and known[0] == document.stamp:
            return known
        return document.stamp, self._meta(document)

    def _meta(self, document: FoundDocument) -> FieldMetaFile | None:
        place = Path(document.place)
        try:
            data = self.files.data(place)
            if _GLOBS.encode() not in data:  # as good as every document
                return None
            source = SourceText(decode(place, data), str(place), "")
        except FileProblem:
            return None
        reading = open_document(source, Hints(glob="magi" if document.hint == "magi" else None))
        model = reading.model_of(MAGI)
        globs = model.fields.texts(_GLOBS) if model is not None else ()
        if not globs:
            return None
        self._said[document.path] = MetaFile(PurePosixPath(document.path), globs, reading.front_matter or {})
        return MetaFile(PurePosixPath(document.path), tuple(globs), by_name(_rows(reading)))

    def inherited(
        self, reading: DialectReading[object], path: str, shown: Callable[[str], bool]
    ) -> dict[str, Inherited[Value]]:
        """Return what a document at ``path`` inherits, as far as it may be ``shown``: unpublished meta files are never
        revealed (X33, X23)."""
        metas = [file for name, (_, meta) in self._known.items() if meta and (file := self._said.get(name))]
        fields = inherited_by(reading, path, metas) if metas else {}
        open_ = {by for by in {str(value.by) for value in fields.values()} if shown(by)}
        return {name: value for name, value in fields.items() if str(value.by) in open_}


def facets_of_meta_file(path: str, meta_files: Sequence[FieldMetaFile]) -> Facets | None:
    """Return the facets of a meta file itself, with what it inherits; None if there is none at the path."""
    meta = next((file for file in meta_files if str(file.path) == path), None)
    if meta is None:
        return None
    fields = effective_fields(meta.fields, meta.path, meta_files)
    return facets_of(row for some in fields.values() if some is not None for row in some)


def facets_at(reading: DialectReading[object], path: str, meta_files: Sequence[FieldMetaFile]) -> Facets:
    """Return the facets of a document at ``path`` with inherited values, as in the index."""
    rows = _rows(reading)
    if not meta_files:
        return facets_of(rows)
    own = by_name(rows)
    url = own.get("source-url")
    fields = effective_fields(own, PurePosixPath(path), meta_files, url=url[0].text if url else None)
    return facets_of(row for some in fields.values() if some is not None for row in some)


def _rows(reading: DialectReading[object]) -> Sequence[FieldRow]:
    rows, _ = field_rows(reading.front.fields, footer_of(reading))
    return guarded(rows, reading.front.source.text, has_footer=reading.name == "ymj")
