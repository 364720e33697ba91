"""A renamed heading, with every fragment that names it updated, in all documents and notations.

In: the heading, its new text, a `DocumentStore`. Out: `Change`s, or `MoveRefused`. The number after an anchor, which
distinguishes equal headings, may change with it: links to those are updated too. So are wikilinks that name the
document by its title, if the heading is the title.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from prosa.corpus.moves.checks import Note, check_problems, effects
from prosa.corpus.moves.move import Move, MoveRefused, NameRefused
from prosa.corpus.moves.places import Mention, own_places, places_of
from prosa.corpus.moves.plan import Change, edited, mentions, stems, touched
from prosa.corpus.moves.rewrite import text_for, unwritable
from prosa.corpus.moves.world import DocumentStore, World
from prosa.corpus.moves.writing import percent_encoded, write
from prosa.dialects.reading import DialectReading
from prosa.document.anchors import section_number, sounding
from prosa.document.model import Section
from prosa.graph.record import Record
from prosa.graph.records import record_of
from prosa.regex import regex
from prosa.source import Edit, Span, apply_edits

MAX_TEXT = 500
"""Characters of a heading."""

_ATTRIBUTES = regex(r"(?<![ \t])[ \t]*+\{[^{}\r\n]*\}[ \t]*+\Z")
_MESSAGE = regex(r"(?://[ \t]*)?@")
_FRAGMENT = regex(r"(?<!&)#")
_WIKILINK = regex(r"(!?\[\[[^\]|#^]*+#)(.*?)((?:(?<!\s)\s*+|(?=[\\|\]]))(?:\\?\||\]\])(?s:.*))\Z")
_NO_WIKILINK = regex(r"[\[\]|#^\\]+")


class HeadingMove(Struct, frozen=True):
    """A request to rename the heading at an offset of the document at ``path`` to ``text``."""

    path: str
    start: int
    text: str


class _Renamed(Struct, frozen=True):
    """The sections of a document, before and after, in the same order."""

    before: Sequence[Section]
    after: Sequence[Section]

    def named(self, fragment: str) -> str | None:
        """Return the new fragment of the same section; None if it may stay unchanged."""
        number = section_number(self.before, fragment)
        if number is None:
            return None
        old, new = self.before[number], self.after[number]
        prefix = "user-content-" if fragment.startswith("user-content-") else ""
        if fragment.removeprefix(prefix) == old.anchor:
            return f"{prefix}{new.anchor}" if new.anchor != old.anchor else None
        if new.heading.plain == old.heading.plain:
            return None
        as_text = fragment != fragment.lower() or " " in fragment
        return _bare(new.heading.plain) if as_text else new.anchor


def heading_name(reading: DialectReading[object], section: Section) -> Span | None:
    """Return the part of a heading that is its name; None for one that cannot be renamed: an empty one, one of several
    lines, one that a template fills in, the heading of a message."""
    span = section.heading.content
    text = span.of(reading.front.source.text)
    if (match := _ATTRIBUTES.search(text)) is not None and match.start() > 0:
        text = text[: match.start()]
    message = reading.name == "prapti" and _MESSAGE.match(text) is not None
    if not text.strip() or "\n" in text or "\r" in text or "{{" in text or message:
        return None
    return Span(span.start, span.start + len(text))


def heading_changes(move: HeadingMove, store: DocumentStore) -> tuple[dict[str, Change], tuple[Note, ...]]:
    """Return what becomes of every document that names a heading, by path, in order; and notes. Raises `MoveRefused`,
    and `FileProblem` for a document that cannot be read."""
    before, reading = store.world(), store.reading(move.path)
    span, renamed, again = _renamed(move, reading, store)
    titles = _title(reading), _title(again)
    moved = Move(move.path, move.path, title=titles if titles[0] != titles[1] else ("", ""))
    expected = before.with_records({move.path: record_of(again, move.path)})
    consequences = effects(moved, before, expected, touched(before, expected, moved.paths))
    consequences.refuse()
    changes: dict[str, Change] = {}
    for path in sorted({move.path, *consequences.referring, *_referring(move.path, before, store)}):
        one = reading if path == move.path else store.reading(path)
        edits = dict(_edits(path, one, moved, renamed, before, expected))
        if path == move.path:
            edits[span] = move.text
        text = edited(store, path, one, [Edit(where, written) for where, written in sorted(edits.items())])
        changes[path] = Change(path, path, one.front.source, text, tuple(Edit(*pair) for pair in sorted(edits.items())))
    after = {path: store.reread(path, change.after) for path, change in changes.items()}
    _check(moved, before, renamed, {path: store.reading(path) for path in changes}, after)
    return {path: change for path, change in changes.items() if change.after != change.before.text}, consequences.notes


def _renamed(
    move: HeadingMove, reading: DialectReading[object], store: DocumentStore
) -> tuple[Span, _Renamed, DialectReading[object]]:
    """Return the name of the heading, the sections before and after, and the reading of the document with the new
    text."""
    sections = reading.document.sections
    number = next((at for at, section in enumerate(sections) if section.heading.span.start == move.start), None)
    span = heading_name(reading, sections[number]) if number is not None else None
    if number is None or span is None:
        raise MoveRefused("this heading cannot be renamed")
    if not move.text or len(move.text) > MAX_TEXT or not move.text.isprintable() or not sounding(move.text):
        raise NameRefused("a heading is one line with letters or digits", "choose another text")
    if span.of(reading.front.source.text) == move.text:
        raise NameRefused(f"the heading is `{move.text}` already")
    again = store.reread(move.path, apply_edits(reading.front.source.text, [Edit(span, move.text)]))
    after = again.document.sections
    levels = [(section.level, at == number or section.heading.plain) for at, section in enumerate(sections)]
    text = after[number].heading.text if number < len(after) else ""
    if not text.startswith(move.text) or levels != [
        (section.level, at == number or section.heading.plain) for at, section in enumerate(after)
    ]:
        raise NameRefused(f"`{move.text}` would not read back as the text of a heading", "choose another text")
    sound = sounding(after[number].heading.plain)
    if sound != sounding(sections[number].heading.plain):
        others = (section for at, section in enumerate(after) if at != number)
        twin = next((section for section in others if sound == sounding(section.heading.plain)), None)
        if twin is not None:
            raise NameRefused(
                f"the document has a heading `{twin.heading.plain}` already, and links could not tell them apart",
                "choose another text",
            )
    return span, _Renamed(sections, after), again


def _title(reading: DialectReading[object]) -> str:
    return next((definition.name for definition in reading.definitions() if definition.kind == "title"), "")


def _referring(path: str, before: World, store: DocumentStore) -> Iterator[str]:
    """Yield the documents that may name a heading of a document."""
    for record in before.asking(before.keys(path)):
        if any(reference.fragment and before.resolve(record, reference).to == path for reference in record.references):
            yield record.path
    mentioned = mentions(stems(path))
    for other, text in store.texts(stems(path)):
        if "#" in text and mentioned(text) and other in before.records:
            yield other


def _edits(
    path: str, reading: DialectReading[object], moved: Move, renamed: _Renamed, before: World, after: World
) -> Iterator[tuple[Span, str]]:
    """Yield the places of a document that name the heading, or the document by its title, with their new text."""
    old, new = before.records[path], after.records[path]
    own = own_places(reading) if path == moved.path else ()
    for place in chain(places_of(reading, old), own):
        text = place.text
        if place.reference.target:
            if before.resolve(old, place.reference).to != moved.path:
                continue
            text = text_for(place, old, new, moved, before, after) or text
        text = _refragmented(place, text, renamed, old)
        raw = place.span.of(reading.front.source.text)
        if text != place.text:
            written = write(place.syntax, raw, text)
            if written is None:
                raise unwritable(place, old)
            yield place.span, written


def _refragmented(place: Mention, text: str, renamed: _Renamed, record: Record) -> str:
    """Return the text of a place with another fragment in it."""
    fragment = place.reference.fragment
    if not fragment:
        return text
    if place.form == "wikilink":
        parts = [part.strip() for part in fragment.split("#")]
        made = "#".join(_bare(renamed.named(part) or part) for part in parts)
        match = _WIKILINK.match(text)
        if made == "#".join(parts):
            return text
        if match is None:
            raise unwritable(place, record)
        return f"{match[1]}{made}{match[3]}"
    name = renamed.named(fragment)
    at = _FRAGMENT.search(text) if name is not None and place.form in ("href", "edge") else None
    if name is None or at is None:
        return text
    if place.form == "href":
        name = percent_encoded(name, text[at.end() :], spaces=place.spaces)
    return f"{text[: at.end()]}{name}"


def _bare(text: str) -> str:
    """Return a heading as a wikilink can name it."""
    return " ".join(_NO_WIKILINK.sub(" ", text).split())


def _check(
    moved: Move,
    before: World,
    renamed: _Renamed,
    was: Mapping[str, DialectReading[object]],
    now: Mapping[str, DialectReading[object]],
) -> None:
    """Every reference leads where it target before, to the same heading."""
    records = {path: record_of(reading, path) for path, reading in now.items()}
    after = before.with_records(records)
    sections = now[moved.path].document.sections
    if len(sections) != len(renamed.after):
        raise MoveRefused(f"{moved.path} would not read back with the same headings", "choose another text")
    for path, record in records.items():
        check_problems(path, was[path], now[path])
        old = before.records[path]
        if len(old.references) != len(record.references):
            raise MoveRefused(f"{path} would not read back with the same references", "choose another text")
        for one, two in zip(old.references, record.references, strict=True):
            target = before.resolve(old, one)
            same = target.paths == after.resolve(record, two).paths
            if same and target.to == moved.path and one.fragment:
                last = one.fragment.rpartition("#")[2], two.fragment.rpartition("#")[2]
                number = section_number(renamed.before, last[0])
                same = number is None or number == section_number(sections, last[1])
            if not same:
                raise MoveRefused(
                    f"{path}:{one.line}: the reference `{one.target}` cannot be written so that it leads to the same "
                    "place afterwards",
                    "choose another text, or write that reference in another way first",
                )
