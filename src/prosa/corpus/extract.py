"""What the index keeps of a document, from its text. The one place where a dialect's reading becomes rows (Y31).

In: a source, its path below the root of the corpus, and what the project says of its dialect. Out: `Extracted`. Never
fails for what a text says: of a front matter that is broken the index has what could be read of it. Opens nothing and
runs nothing (X6).
"""

from __future__ import annotations

from collections.abc import Sequence

from prosa.corpus.extracted import CarriedVector, Extracted
from prosa.corpus.facets import facets_of
from prosa.corpus.fields import field_rows
from prosa.corpus.published import guarded
from prosa.corpus.sections import section_rows
from prosa.corpus.vectors import to_bytes
from prosa.data import Mapping
from prosa.dialects.detect import Hints
from prosa.dialects.dialect import DialectName
from prosa.dialects.reading import DialectReading, open_document, open_documents
from prosa.dialects.relations import Relations
from prosa.dialects.table import MAGI, YMJ
from prosa.graph.records import record_of
from prosa.source import SourceText, Span


def extract(
    source: SourceText,
    path: str,
    *,
    explicit: DialectName | None = None,
    by_glob: DialectName | None = None,
    relations: Relations = (),
) -> Extracted:
    """The rows of a document. ``explicit`` and ``by_glob`` are `Hints`, ``relations`` are those of the
    project."""
    return extracted(open_document(source, Hints(explicit, by_glob), relations), path)


def extract_all(
    sources: Sequence[tuple[SourceText, str, DialectName | None]], relations: Relations = ()
) -> list[Extracted]:
    """The same for many documents: source, path, and the dialect that the project's settings give it, of each."""
    readings = open_documents([(source, Hints(glob=by_glob)) for source, _, by_glob in sources], relations)
    return [extracted(reading, path) for reading, (_, path, _) in zip(readings, sources, strict=True)]


def extracted(reading: DialectReading[object], path: str) -> Extracted:
    """The rows of a document that was read already."""
    source, footer = reading.front.source, footer_of(reading)
    fields, tags = field_rows(reading.front.fields, footer)
    fields, text = guarded(fields, source.text, has_footer=reading.name == "ymj"), source.text
    return Extracted(
        record=record_of(reading, path),
        digest=source.digest,
        fields=fields,
        facets=facets_of(fields),
        tags=tags,
        sections=section_rows(reading.document, _hidden(reading)),
        words=len(source.slice(reading.document.body).split()),
        lines=source.lines.count - (text.endswith(("\n", "\r")) or not text),
        globs=_globs(reading),
        carried=_carried(reading, footer),
    )


def _hidden(reading: DialectReading[object]) -> tuple[Span, ...]:
    """What of the body is not for readers (M42)."""
    model = reading.model_of(MAGI)
    if model is None:
        return ()
    from prosa.dialects.magi.clean import unseen

    return unseen(model)


def footer_of(reading: DialectReading[object]) -> Mapping | None:
    """The footer of a YMJ record as a tree; None where there is none."""
    model = reading.model_of(YMJ)
    return model.footer.node if model is not None and model.footer is not None else None


def _globs(reading: DialectReading[object]) -> tuple[str, ...] | None:
    """The patterns of a meta file, None where the document is none."""
    model = reading.model_of(MAGI)
    return (model.fields.texts("globs") or None) if model is not None else None


def _carried(reading: DialectReading[object], footer: Mapping | None) -> CarriedVector | None:
    """The vector in a footer, None where there is none."""
    index = footer.get("index") if footer is not None else None
    model = reading.model_of(YMJ)
    if model is None or not isinstance(index, Mapping) or index.entry("embedding") is None:
        return None
    from prosa.dialects.ymj.embedding import embedding_of

    found = embedding_of(model)
    if found is None:
        return None
    vector = to_bytes(found.vector)
    return CarriedVector(found.model_name, len(found.vector), vector, model.body_sha256, found.fresh)
