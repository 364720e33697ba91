"""The symbols of a document as a tree, and those of a workspace whose names match a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from itertools import chain, islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import DocumentSpan
from prosa.data import Entry, Mapping, Sequence
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MAGI, MDH, PRAPTI, YMJ
from prosa.document.anchors import slug
from prosa.regex import regex
from prosa.rules.rule import DocumentFacts
from prosa.source import SourceText, Span

SymbolKind: TypeAlias = Literal[
    "heading", "front matter", "field", "script", "relationship", "message", "action", "footer"
]
FoldKind: TypeAlias = Literal["front matter", "section", "code", "comment", "block", "message", "footer"]

MAX_SYMBOLS = 5_000
"""Maximum number of symbols of a document; more make editors slow."""

MAX_FIELDS = 3
"""Mappings inside mappings of front matter that are shown."""


class OutlineSymbol(Struct, frozen=True):
    """A part of a document: ``whole`` is all of it, ``place`` what names it. ``detail`` says more in a few words."""

    name: str
    kind: SymbolKind
    whole: DocumentSpan
    place: DocumentSpan
    detail: str = ""
    children: tuple[OutlineSymbol, ...] = ()


class Fold(Struct, frozen=True, order=True):
    """What can be folded: from the line that stays to the end of the last line that goes."""

    place: DocumentSpan
    kind: FoldKind


class _Part(NamedTuple):
    whole: Span
    span: Span
    name: str
    kind: SymbolKind
    detail: str = ""


def outline(workspace: Workspace, path: Path) -> tuple[OutlineSymbol, ...]:
    """Return the symbols of a document as a tree, in the order of the text."""
    reading = workspace.reading(path)
    if reading is None:
        return ()
    parts = [*islice(_parts(reading), MAX_SYMBOLS)]
    return tuple(_nested(path, sorted(parts, key=lambda part: (part.whole.start, -part.whole.end))))


def _nested(path: Path, parts: list[_Part]) -> list[OutlineSymbol]:
    """Return a tree of parts, which come in the order of the text, the larger of two that begin together first."""
    open_parts: list[tuple[_Part, list[OutlineSymbol]]] = []
    top: list[OutlineSymbol] = []

    def close(end: int) -> None:
        while open_parts and open_parts[-1][0].whole.end <= end:
            part, children = open_parts.pop()
            above = open_parts[-1][1] if open_parts else top
            above.append(_symbol(path, part, children))

    for part in parts:
        close(part.whole.start)
        open_parts.append((part, []))
    while open_parts:
        close(open_parts[-1][0].whole.end)
    return top


def _symbol(path: Path, part: _Part, children: list[OutlineSymbol]) -> OutlineSymbol:
    whole, span = (
        DocumentSpan(path, part.whole.start, part.whole.end),
        DocumentSpan(path, part.span.start, part.span.end),
    )
    return OutlineSymbol(part.name, part.kind, whole, span, part.detail, tuple(children))


def _parts(reading: DialectReading[object]) -> Iterator[_Part]:
    return chain(_front(reading), _messages(reading), _headings(reading), _scripts(reading), _footer(reading))


def _front(reading: DialectReading[object]) -> Iterator[_Part]:
    fields = reading.front.fields
    if fields is None or not fields.entries:
        return
    whole = Span(min(reading.front.anchor.start, fields.span.start), max(reading.front.body.start, fields.span.end))
    whole = _trimmed(reading.front.source, whole)
    yield _Part(whole, Span(whole.start, min(reading.front.anchor.end, whole.end)), "front matter", "front matter")
    yield from _fields(fields, MAX_FIELDS)
    model = reading.model_of(MDH)
    for action in model.actions if model is not None else ():
        names = [text.text for text in (action.id, action.title, action.url) if text is not None]
        span = action.id.span if action.id is not None else action.anchor
        detail = " ".join(filter(None, (action.verb, action.url.text if action.url is not None else "")))
        yield _Part(_with(action.node.span, span), span, names[0] if names else "action", "action", detail)


def _fields(node: Mapping, depth: int) -> Iterator[_Part]:
    for entry in node:
        yield _Part(entry.span, entry.key.span, entry.key.text or "?", "field", _detail(entry))
        if isinstance(entry.value, Mapping) and depth > 1:
            yield from _fields(entry.value, depth - 1)


def _detail(entry: Entry) -> str:
    if isinstance(entry.value, Sequence):
        return f"{len(entry.value.items)} items"
    return "" if isinstance(entry.value, Mapping) else " ".join(entry.value.text.split())[:60]


def _with(whole: Span, span: Span) -> Span:
    return Span(min(whole.start, span.start), max(whole.end, span.end))


def _messages(reading: DialectReading[object]) -> Iterator[_Part]:
    model = reading.model_of(PRAPTI)
    for message in model.messages if model is not None else ():
        if message.heading is not None:
            whole = _trimmed(
                reading.front.source, Span(message.heading.start, max(message.body.end, message.heading.end))
            )
            name = f"@{message.role}" + (f"/{message.name}" if message.name else "")
            detail = "disabled" if message.disabled else "hidden" if message.hidden else ""
            yield _Part(whole, _with(message.role_span, message.role_span), name, "message", detail)


def _headings(reading: DialectReading[object]) -> Iterator[_Part]:
    """Yield the headings with their sections; in a chat none reaches beyond its message."""
    chat = reading.model_of(PRAPTI)
    messages = [message for message in chat.messages if message.heading is not None] if chat is not None else []
    heads = {message.heading.start for message in messages if message.heading is not None}
    for section in reading.document.sections:
        heading = section.heading
        if heading.nested or heading.span.start in heads:
            continue
        within = (message.body for message in messages if message.body.start <= heading.span.start < message.body.end)
        end = min(section.span.end, next((span.end for span in within), section.span.end))
        whole = _trimmed(reading.front.source, Span(section.span.start, max(end, heading.span.end)))
        name = " ".join(heading.plain.split()) or "untitled"
        yield _Part(whole, heading.content, name, "heading")


def _scripts(reading: DialectReading[object]) -> Iterator[_Part]:
    model = reading.model_of(MAGI)
    for script in model.scripts if model is not None else ():
        span = script.fields.span("script-id") or script.opening
        prompt = " ".join((script.fields.text("prompt") or "").split())[:60]
        yield _Part(_with(script.fence.span, span), span, script.address, "script", prompt)
    for relationship in model.relationships if model is not None else ():
        names = [relationship.fields.text(name) for name in ("doc-id", "source-url")]
        target = next((name for name in names if name), "")
        whole = _trimmed(reading.front.source, relationship.definition.span)
        span = Span(whole.start, min(relationship.definition.content.start, whole.end))
        detail = " ".join(filter(None, (relationship.fields.text("rel-type"), target)))
        yield _Part(whole, span, f"[^{relationship.label}]", "relationship", detail)


def _footer(reading: DialectReading[object]) -> Iterator[_Part]:
    model = reading.model_of(YMJ)
    if model is None or model.footer is None:
        return
    node, head = model.footer.node, model.footer.place.open
    whole = _trimmed(model.source, Span(min(head.start, node.span.start), len(model.source.text)))
    yield _Part(whole, Span(head.start, min(head.end, whole.end)), "footer", "footer")
    yield from _fields(node, MAX_FIELDS)


def _trimmed(source: SourceText, span: Span) -> Span:
    text = source.slice(span)
    return Span(span.start, span.start + len(text.rstrip()))


def folds(workspace: Workspace, path: Path) -> tuple[Fold, ...]:
    """Return what can be folded in a document, in the order of the text; only what has several lines."""
    reading = workspace.reading(path)
    if reading is None:
        return ()
    source = reading.front.source
    by_lines: dict[tuple[int, int], Fold] = {}
    for span, kind in islice(_foldable(reading), MAX_SYMBOLS):
        span = _trimmed(source, span)
        lines = source.lines.line(span.start), source.lines.line(span.end)
        if lines[0] < lines[1]:
            by_lines.setdefault(lines, Fold(DocumentSpan(path, span.start, span.end), kind))
    return tuple(sorted(by_lines.values()))


def _foldable(reading: DialectReading[object]) -> Iterator[tuple[Span, FoldKind]]:
    kinds: dict[SymbolKind, FoldKind] = {
        "front matter": "front matter",
        "message": "message",
        "heading": "section",
        "footer": "footer",
    }
    for part in _parts(reading):
        if part.kind in kinds:
            yield part.whole, kinds[part.kind]
        elif part.kind in ("field", "action", "relationship"):
            yield part.whole, "block"
    document = reading.document
    yield from ((fence.span, "code") for fence in document.fences)
    yield from ((span, "code") for span in document.indented_code)
    yield from ((span, "comment") for span in document.comments)
    model = reading.model_of(MAGI)
    yield from ((region.span, "block") for region in (model.regions if model is not None else ()))
    blocks = (*document.quotes, *document.lists, *document.items)
    yield from ((span, "block") for span in blocks)
    yield from ((html.span, "block") for html in document.html if html.block)


def selections(workspace: Workspace, path: Path, offset: int) -> tuple[DocumentSpan, ...]:
    """Return the steps of a growing selection at an offset, the smallest first, each inside the next: the word, the
    link, the paragraph, the blocks around it, the sections, the document."""
    reading = workspace.reading(path)
    if reading is None:
        return ()
    spans = sorted({*_around(reading, offset)}, key=lambda block: (len(block), block.start))
    grown: list[Span] = []
    for span in spans:
        if not grown or (span != grown[-1] and span.start <= grown[-1].start and grown[-1].end <= span.end):
            grown.append(span)
    return tuple(DocumentSpan(path, span.start, span.end) for span in grown)


def _around(reading: DialectReading[object], offset: int) -> Iterator[Span]:
    document, text = reading.document, reading.front.source.text
    links = (span for link in (*document.links, *document.images) for span in (link.text_span, link.span))
    inline = (*(wikilink.span for wikilink in document.wikilinks), *(span.span for span in document.code_spans))
    texts = (*(paragraph.span for paragraph in document.paragraphs), *(fence.span for fence in document.fences))
    blocks = (*document.quotes, *document.lists, *document.items)
    parts = (span for part in _parts(reading) for span in (part.span, part.whole))
    every: Iterable[Span] = chain(links, inline, texts, blocks, parts)
    yield from (span for span in every if span.start <= offset <= span.end and len(span) > 0)
    start = end = min(max(offset, 0), len(text))
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    if start < end:
        yield Span(start, end)
    yield Span(0, len(text))


FoundKind: TypeAlias = Literal["document", "program", "id", "action", "heading"]

MAX_FOUND = 100
"""Maximum number of symbols in an answer; further typing narrows the search."""

MAX_QUERY = 200
"""Characters of a question that count."""

_ORDER: tuple[FoundKind, ...] = ("document", "program", "id", "action", "heading")
_HEADINGS = _ORDER.index("heading")
_HEADING = regex(r"^[ \t>]{0,20}(?:[-*+][ \t]+)?#{1,6}[ \t]+(.{1,1000}?)(?:(?<![ \t#])[ \t#]++)?$")
_PIECES = regex(r"[\W_]+")


class WorkspaceSymbol(Struct, frozen=True):
    """A symbol of a document; ``container`` is the path of the document relative to the root."""

    name: str
    kind: FoundKind
    place: DocumentSpan
    container: str


class _Hit(NamedTuple):
    """A name that fits; of two hits the smaller one fits better."""

    fit: int
    order: int
    length: int
    name: str
    path: str
    start: int
    end: int
    real: Path


def workspace_symbols(workspace: Workspace, query: str, limit: int = MAX_FOUND) -> tuple[WorkspaceSymbol, ...]:
    """Return the symbols in whose names every word of a question occurs, whatever its case, the best first. Without a
    question these are documents."""
    words = tuple(word for word in _PIECES.split(query[:MAX_QUERY].casefold()) if word)
    hits = nsmallest(limit, _hits(workspace, words))
    return tuple(_workspace_symbol(workspace, hit) for hit in hits)


def _hits(workspace: Workspace, words: tuple[str, ...]) -> Iterator[_Hit]:
    spaced, joined = " ".join(words), "-".join(words)
    for real, facts in workspace.entries.items():
        searched = _searched(workspace, real, facts)
        if not all(word in searched for word in words):
            continue
        path = str(real)
        for name, kind, start, end in _named(real, facts):
            folded = name.casefold()
            if all(word in folded for word in words):
                fit = min(_fit(folded, spaced, " "), _fit(folded, joined, "-"))
                yield _Hit(fit, _ORDER.index(kind), len(name), name, path, start, end, real)
        for anchor in facts.anchors if words else ():
            if words[0] in anchor and anchor[0] not in "^*" and all(word in anchor for word in words):
                yield _Hit(_fit(anchor, joined, "-"), _HEADINGS, len(anchor), anchor, path, 0, 0, real)


def _searched(workspace: Workspace, real: Path, facts: DocumentFacts) -> str:
    """Return all names of a document in one text, kept as long as its facts are the same: most documents have none that
    is looked for."""
    kept = workspace.searched.get(real)
    if kept is None or kept[0] is not facts:
        names = (name.casefold() for name, *_ in _named(real, facts))
        kept = workspace.searched[real] = facts, "\n".join((*names, *facts.anchors))
    return kept[1]


def _fit(name: str, whole: str, between: str) -> int:
    """Return how well a name fits: exactly, at its beginning, at that of a word, within one."""
    if name.startswith(whole):
        return 0 if len(name) == len(whole) else 1
    return 2 if f"{between}{whole}" in name else 3


def _named(real: Path, facts: DocumentFacts) -> Iterator[tuple[str, FoundKind, int, int]]:
    title = False
    for definition in facts.defs:
        if definition.kind == "title" and not title:
            title = True
            yield definition.name, "document", 0, 0
        elif definition.kind == "id":
            kind: FoundKind = "program" if facts.dialect == "markdownlang" else "id"
            yield definition.name, kind, definition.span.start, definition.span.end
    if not title:
        yield real.stem, "document", 0, 0
    actions = facts.extra.get("actions") if facts.dialect == "mdh" else None
    for action in actions if isinstance(actions, list | tuple) else ():
        yield str(action[0]), "action", action[4][0], action[4][1]


def _workspace_symbol(workspace: Workspace, hit: _Hit) -> WorkspaceSymbol:
    container = hit.real.relative_to(workspace.root).as_posix()
    if hit.order != _HEADINGS:
        return WorkspaceSymbol(hit.name, _ORDER[hit.order], DocumentSpan(hit.real, hit.start, hit.end), container)
    source = workspace.source(hit.real)
    name, start, end = _heading(source, hit.name) if source is not None else (hit.name, 0, 0)
    return WorkspaceSymbol(name, "heading", DocumentSpan(hit.real, start, end), container)


def _heading(source: SourceText, anchor: str) -> tuple[str, int, int]:
    """Return the heading with an anchor, found in the text without parsing it: the first line that makes this anchor,
    or as many as its number says that make the one without; else the beginning of the document."""
    bare, _, number = anchor.rpartition("-")
    wanted, met = int(number) if number.isascii() and number.isdecimal() else -1, 0
    start = 0
    for line in source.text.splitlines(keepends=True):
        match = _HEADING.match(line.rstrip("\r\n")) if "#" in line else None
        made = slug(match[1]) if match is not None else ""
        if match is not None and made and (made == anchor or (made == bare and met == wanted)):
            return match[1], start + match.start(1), start + match.end(1)
        met += bool(made) and made == bare
        start += len(line)
    return anchor, 0, 0
