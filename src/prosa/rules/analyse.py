"""One document: read it, run the rules of its dialect that need no other document, and collect the facts for rules
over many documents.

In: a source, and the user's hints about its dialect. Out: an `Analysis`. The user's selection of rules is not applied
here, so that an analysis serves every selection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote

from prosa.diagnostics import INTERNAL, Problem
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import DialectReading, failed_reading, open_documents
from prosa.dialects.table import MARKDOWNLANG
from prosa.document import Document
from prosa.document.links import InlinePlace
from prosa.document.model import Cover
from prosa.document.references import MADE_LATER, is_named_later
from prosa.document.tags import obsidian_comments
from prosa.regex import regex
from prosa.rules.files import RecordingFiles
from prosa.rules.findings import Analysis
from prosa.rules.registry import document_checks, rules_of
from prosa.rules.rule import Environment, LocalLink, ReadFacts, Subject, found_by
from prosa.rules.suppressions import find_suppressions
from prosa.source import Files, SourceText, Span

if TYPE_CHECKING:
    from prosa.dialects.markdownlang import ProgramModel


def analyse(source: SourceText, hints: Hints, files: Files | None = None, now: datetime | None = None) -> Analysis:
    """Return the analysis of a document. Never fails on any text."""
    return analyse_all([(source, hints)], files, now)[0]


def analyse_all(
    sources: Sequence[tuple[SourceText, Hints]], files: Files | None = None, now: datetime | None = None
) -> list[Analysis]:
    """Analyse many documents, each with its hints. They pass from stage to stage together, as in `open_documents`."""
    readings = open_documents(sources)
    hints = [hint for _, hint in sources]
    try:
        return _analysed(readings, hints, files, now)
    except Exception:
        both = zip(readings, sources, strict=True)
        return [_contained(reading, source, its, files, now) for reading, (source, its) in both]


def _analysed(
    readings: Sequence[DialectReading[object]], hints: Sequence[Hints], files: Files | None, now: datetime | None
) -> list[Analysis]:
    environments = [
        Environment(RecordingFiles(files) if files is not None else None, now, agent_place=hint.agents)
        for hint in hints
    ]
    problem_lists = [_problems(*args) for args in zip(readings, environments, strict=True)]
    names = [anchors(reading.document) for reading in readings]
    links = [local_links(reading.document) for reading in readings]
    facts = [_facts(*args) for args in zip(readings, names, links, strict=True)]
    return [_analysis(*args) for args in zip(readings, environments, problem_lists, facts, strict=True)]


def _contained(
    reading: DialectReading[object], source: SourceText, hints: Hints, files: Files | None, now: datetime | None
) -> Analysis:
    """Return the analysis of one document, even if a check of its reading fails."""
    try:
        (analysis,) = _analysed([reading], [hints], files, now)
    except Exception as error:
        (analysis,) = _analysed([failed_reading(source, error)], [hints], files, now)
    return analysis


def _problems(reading: DialectReading[object], environment: Environment) -> tuple[Problem, ...]:
    subject = Subject(reading.front, reading.document, reading.name, reading.model, environment)
    alone = _alone(reading, reading.model_of(MARKDOWNLANG))
    return (*reading.front.problems, *reading.problems, *found_by(document_checks(reading.name), subject), *alone)


def _analysis(
    reading: DialectReading[object], environment: Environment, problems: tuple[Problem, ...], facts: ReadFacts
) -> Analysis:
    source, program = reading.front.source, reading.model_of(MARKDOWNLANG)
    record = environment.files.record if isinstance(environment.files, RecordingFiles) else {}
    if environment.asked_place:
        record[source.path] = source.digest or "unknown"
    return Analysis(
        digest=source.digest,
        facts=facts,
        problems=problems,
        rules=rules_of(problems),
        suppressions=find_suppressions(reading.front, reading.document),
        strict=reading.strictness(),
        depends=record,
        lasting=not environment.asked_time and all(problem.rule != INTERNAL for problem in problems),
        imports=program is not None and bool(program.imports),
        source=source,
        reading=reading,
    )


def _alone(reading: DialectReading[object], program: ProgramModel | None) -> tuple[Problem, ...]:
    """Return the rules of programs, for one that imports nothing."""
    if program is None or program.imports:
        return ()
    from prosa.rules.programs import check_alone

    return check_alone(reading)


_LINKS_ONLY = ("plain", "skill_md", "context")
"""Dialects whose only references are links, which every document's facts have."""


def _facts(reading: DialectReading[object], names: frozenset[str], links: tuple[LocalLink, ...]) -> ReadFacts:
    return ReadFacts(
        path=reading.front.source.path,
        dialect=reading.name,
        refs=() if reading.name in _LINKS_ONLY else reading.references(),
        defs=reading.definitions(),
        anchors=names,
        links=links,
        wikilinks=wikilinks(reading.document),
        extra=reading.corpus_facts(),
    )


_ELSEWHERE = regex(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\~@?]")
"""A scheme, a path from the root of a site or of a disk, a home folder, an alias of a bundler, a bare query."""

_OF_WINDOWS = regex(r"(?:[\w. -]++\\)++[\w. -]*\.[A-Za-z]\w{0,7}(?=[#?]|\Z)")
"""A path to a file as Windows writes it, which no placeholder, formula or expression looks like."""

_OWN_ANCHOR = regex(r"\{:?(?:[^{}\n#]{0,200}[ \t])?#((?:\\?[\w.:-]){1,200}+)[^{}\n]{0,200}+\}")
"""`{#anchor}` in the text of a heading, a line or a block, as several generators write it."""

_OWN_SIGN = regex(r"#(?<=[{: \t]#)[\w.:\\-]")
"""A part of each: it is found by its first sign, which code has less often than braces."""

_SHORTCODE = regex(r":[a-z0-9_+-]{1,64}:")
"""`:rocket:`, an emoji; generators that draw it leave it out of the anchor."""

_LABEL = regex(r"\(([\w.:-]+)\)=")
_LABEL_END = ")="
"""`(anchor)=` on its own line, as in MyST, and a sign that a text may contain one."""

_COMMENT = "{/*"
"""Start of a comment of MDX."""

_ADDS = ((":", ":::"), ("<", "--8<--"), ("<", "<!-- include"), ("!", "![["))
_BRACED_ADDS = (("{", "{{#"), ("<", "{{<"), ("%", "{%"), ("`", "```{"))
"""Signs that parts of the page come from elsewhere, each behind its rarest character: one character is found thirty
times as fast as two."""


def local_links(document: Document) -> tuple[LocalLink, ...]:
    """Return inline links and images, and link definitions, in document order, except those that only a server, a
    browser or a site generator can resolve. The rules of the corpus check each time whether a target exists. A link
    without text, `[](#name)`, is an author's anchor that cannot be followed."""
    return tuple(sorted(_links(document), key=lambda link: link.start))


def wikilinks(document: Document) -> tuple[LocalLink, ...]:
    """Return the wikilinks; ``target`` is as written, without what follows `#` or `^`. What stands in a comment of
    Obsidian, `%% … %%`, leads no reader anywhere."""
    links = document.wikilinks
    hidden = Cover(obsidian_comments(document)) if links and "%%" in document.source.text else ()
    return tuple(
        LocalLink(link.target.strip(), link.fragment or "", link.span.start, link.span.end)
        for link in links
        if not is_named_later(link.target) and link.span.start not in hidden
    )


def anchors(document: Document) -> frozenset[str]:
    """Return the valid fragments of the document, `^name` for a block, and `*` if a generator may add more."""
    text = document.source.text
    braces = "{" in text
    own = [name.replace("\\", "") for name in _OWN_ANCHOR.findall(text)] if braces and _OWN_SIGN.search(text) else []
    own += [_without_emoji(heading_text) for heading_text in document.heading_texts if ":" in heading_text]
    own += [heading.text for heading in document.headings if "[[" in heading.text] if document.wikilinks else []
    may_label = "=" in text and _LABEL_END in text
    labels = (
        [match[1] for paragraph in document.paragraphs if (match := _LABEL.match(paragraph.text))] if may_label else []
    )
    signs = (*_ADDS, *_BRACED_ADDS) if braces else _ADDS
    added = ["*"] if any(rare in text and sign in text for rare, sign in signs) else []
    blocks = (f"^{name}" for name in document.block_names)
    return document.anchors.union(own, labels, added, blocks) - {""}


def _links(document: Document) -> Iterator[LocalLink]:
    text = document.source.text

    def local(place: InlinePlace) -> LocalLink | None:
        if place.empty and not place.image:
            return None
        if "{" in text[place.start : place.end] and "{{" in text[place.start : place.end]:
            return None  # a template action, which the parser saw masked
        return _local(place.destination, place.start, place.end, place.image)

    written = document.of_places("local links", _is_local, local, _moved)
    for definition in document.definitions:
        if _is_local(definition.destination):
            span = definition.destination_span or definition.span
            if "{{" not in text[span.start : span.end]:
                written.append(_local(definition.destination, span.start, span.end, False))
    if written and "{" in text and _COMMENT in text:
        commented = _commented(text)
        return (link for link in written if link.start not in commented)
    return iter(written)


def _local(destination: str, start: int, end: int, embedded: bool) -> LocalLink:
    path, _, fragment = destination.partition("#")
    path = path.partition("?")[0]
    return LocalLink(_decoded(path), _decoded(fragment), start, end, embedded)


def _moved(links: Sequence[LocalLink | None], by: int) -> list[LocalLink | None]:
    """Return links that lie some characters further on."""
    return [
        LocalLink(link.target, link.fragment, link.start + by, link.end + by, link.embedded) if link else None
        for link in links
    ]


def _is_local(destination: str) -> bool:
    """Return whether a destination may be the path of a file, or a part of this document."""
    if not destination or _ELSEWHERE.match(destination):
        return False
    return not MADE_LATER.search(destination) or _OF_WINDOWS.match(destination) is not None


def _without_emoji(heading: str) -> str:
    return "-".join(_SHORTCODE.sub("", heading).lower().split())


def _commented(text: str) -> Cover:
    """Return the comments of MDX, `{/* … */}`, which Markdown reads as text."""
    spans: list[Span] = []
    start = text.find(_COMMENT)
    while start >= 0 and (end := text.find("*/}", start)) >= 0:
        spans.append(Span(start, end + 3))
        start = text.find(_COMMENT, end)
    return Cover(spans)


def _decoded(text: str) -> str:
    return unquote(text) if "%" in text else text
