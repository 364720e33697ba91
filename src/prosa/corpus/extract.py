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
from prosa.dialects.detect import detect
from prosa.dialects.dialect import DialectName
from prosa.dialects.front import read_front
from prosa.dialects.reading import DialectReading, read_as
from prosa.dialects.relations import Relations
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
    """The rows of a document. ``explicit`` and ``by_glob`` are as for `dialects.detect`, ``relations`` are those of the
    project."""
    front = read_front(source)
    return extracted(read_as(front, detect(front, explicit=explicit, by_glob=by_glob).dialect, relations), path)


def extract_all(
    sources: Sequence[tuple[SourceText, str, DialectName | None]], relations: Relations = ()
) -> list[Extracted]:
    """The same for many documents: source, path, and the dialect that the project's settings give it, of each.

    They go from stage to stage together, so that the code of a stage stays where the processor finds it: a seventh of
    the time.
    """
    fronts = [read_front(source) for source, _, _ in sources]
    named = [detect(front, by_glob=by_glob).dialect for front, (_, _, by_glob) in zip(fronts, sources, strict=True)]
    readings = [read_as(front, name, relations) for front, name in zip(fronts, named, strict=True)]
    return [extracted(reading, path) for reading, (_, path, _) in zip(readings, sources, strict=True)]


def extracted(reading: DialectReading, path: str) -> Extracted:
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


def _hidden(reading: DialectReading) -> tuple[Span, ...]:
    """What of the body is not for readers (M42)."""
    if reading.name != "magi":
        return ()
    from prosa.dialects.magi.clean import unseen

    return unseen(reading.model)


def footer_of(reading: DialectReading) -> Mapping | None:
    """The footer of a YMJ record as a tree; None where there is none."""
    footer = reading.model.footer if reading.name == "ymj" else None
    return footer.node if footer is not None else None


def _globs(reading: DialectReading) -> tuple[str, ...] | None:
    """The patterns of a meta file, None where the document is none."""
    return (reading.model.fields.texts("globs") or None) if reading.name == "magi" else None


def _carried(reading: DialectReading, footer: Mapping | None) -> CarriedVector | None:
    """The vector in a footer, None where there is none."""
    index = footer.get("index") if footer is not None else None
    if not isinstance(index, Mapping) or index.entry("embedding") is None:
        return None
    from prosa.dialects.ymj.embedding import embedding_of

    found = embedding_of(reading.model)
    if found is None:
        return None
    vector = to_bytes(found.vector)
    return CarriedVector(found.model_name, len(found.vector), vector, reading.model.body_sha256, found.fresh)
