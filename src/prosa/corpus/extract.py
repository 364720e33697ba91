"""The data that the index stores about a document, from its text. The only place where a dialect's reading becomes
rows (Y31).

In: a source, its path below the root of the corpus, and the project's hints about its dialect. Out: `Extracted`. Never
fails on any text: of broken front matter the index has the readable part. Opens nothing and runs nothing (X6).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prosa.corpus.extracted import CarriedVector, Extracted, SectionRow
from prosa.corpus.facets import facets_of, field_rows, guarded
from prosa.corpus.similar import to_bytes
from prosa.corpus.snippet import seen_of
from prosa.corpus.words import is_cjk
from prosa.data import Mapping
from prosa.dialects import DialectName
from prosa.dialects.dialect import Hints
from prosa.dialects.magi.parts import unseen
from prosa.dialects.reading import DialectReading, failed_reading, open_document, open_documents
from prosa.dialects.relations import Relations
from prosa.dialects.table import MAGI, YMJ
from prosa.document.document import Document
from prosa.graph.records import record_of
from prosa.regex import regex
from prosa.source import SourceText, Span


def extract(
    source: SourceText,
    path: str,
    *,
    explicit: DialectName | None = None,
    by_glob: DialectName | None = None,
    vault: bool = False,
    relations: Relations = (),
) -> Extracted:
    """Return the rows of a document. ``explicit``, ``by_glob`` and ``vault`` are `Hints`, ``relations`` are those of
    the project."""
    return extracted(open_document(source, Hints(explicit, by_glob, vault=vault), relations), path)


def extract_all(sources: Sequence[tuple[SourceText, str, Hints]], relations: Relations = ()) -> list[Extracted]:
    """Extract many documents, each given as source, path, and hints."""
    readings = open_documents([(source, hints) for source, _, hints in sources], relations)
    return [extracted(reading, path) for reading, (_, path, _) in zip(readings, sources, strict=True)]


def extracted(reading: DialectReading[object], path: str) -> Extracted:
    """Return the rows of a document that was read already."""
    try:
        return _extracted(reading, path)
    except Exception as error:
        return _extracted(failed_reading(reading.front.source, error), path)


def _extracted(reading: DialectReading[object], path: str) -> Extracted:
    source, footer = reading.front.source, footer_of(reading)
    fields, tags = field_rows(reading.front.fields, footer, reading.inline_tags())
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
    """Return what of the body is not for readers (M42)."""
    model = reading.model_of(MAGI)
    if model is None:
        return ()
    return unseen(model)


def footer_of(reading: DialectReading[object]) -> Mapping | None:
    """Return the footer of a YMJ record as a tree; None where there is none."""
    model = reading.model_of(YMJ)
    return model.footer.node if model is not None and model.footer is not None else None


def _globs(reading: DialectReading[object]) -> tuple[str, ...] | None:
    """Return the patterns of a meta file, None for a document of another kind."""
    model = reading.model_of(MAGI)
    return (model.fields.texts("globs") or None) if model is not None else None


def _carried(reading: DialectReading[object], footer: Mapping | None) -> CarriedVector | None:
    """Return the vector in a footer, None where there is none."""
    index = footer.get("index") if footer is not None else None
    model = reading.model_of(YMJ)
    if model is None or not isinstance(index, Mapping) or index.entry("embedding") is None:
        return None
    from prosa.dialects.ymj.embedding import embedding_of

    embedding = embedding_of(model)
    if embedding is None:
        return None
    vector = to_bytes(embedding.vector)
    return CarriedVector(embedding.model_name, len(embedding.vector), vector, model.body_sha256, embedding.fresh)


# The sections of a document, which a search ranks and shows. In: a document. Out: rows that cover its body once. A
# heading inside a quotation, a list or a table starts no section: it belongs to the text around it.

BETWEEN = " › "
"""Between the headings of a path."""

MAX_HEADING = 300
"""Characters of one heading that count; a longer one is a paragraph that was marked by mistake."""


_VISIBLE = regex(r"[^\r\n]")


def section_rows(document: Document, hidden: Sequence[Span] = ()) -> tuple[SectionRow, ...]:
    """Return the sections of a document, at least one: the text above the first heading is left out if it is blank and
    there are others. ``hidden`` are invisible ranges in order: they become blank space, so that every offset stays
    valid."""
    return tuple(_rows(document, _blanked(document.source.text, hidden)))


def _blanked(text: str, hidden: Sequence[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for span in hidden:
        pieces += (text[done : span.start], _blank(text[span.start : span.end]))
        done = span.end
    return "".join((*pieces, text[done:])) if pieces else text


def _blank(text: str) -> str:
    if "\r" in text:
        return _VISIBLE.sub(" ", text)
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _rows(document: Document, text: str) -> Iterator[SectionRow]:
    body, cjk = document.body, not text.isascii() and is_cjk(document.source.uncommon)
    named = zip(document.outline, document.heading_texts, document.heading_anchors, strict=True)
    sections = [entry for entry in named if not entry[0].nested]
    starts = [*(heading.start for heading, _, _ in sections), body.end]
    above: list[tuple[int, str]] = []
    first = _row(document, text, 0, 0, "", "", body.start, starts[0], cjk=cjk)
    if first.text or not sections:
        yield first
    for number, (heading, plain, anchor) in enumerate(sections, start=1):
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, plain.strip()[:MAX_HEADING]))
        path = BETWEEN.join([name for _, name in above if name])
        yield _row(document, text, number, heading.level, path, anchor, *starts[number - 1 : number + 1], cjk=cjk)


def _row(
    document: Document, shown: str, number: int, level: int, path: str, anchor: str, start: int, end: int, *, cjk: bool
) -> SectionRow:
    """Return a row with its text stripped of blank space. ``cjk`` is true if it contains such text."""
    whole = shown[start:end]
    text = whole.strip()
    start += whole.index(text[0]) if text else 0
    line = document.source.lines.line(start)
    cjk = cjk and (is_cjk(text) or is_cjk(path))
    return SectionRow(number, level, path, anchor, start, start + len(text), line, text, cjk, seen_of(text))
