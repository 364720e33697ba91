"""The normal form of a MAGI document by span edits: pure JSON in ai-script blocks, relationships in backticks, lists
as lists, dates as ISO 8601 (MA1, MA8, MA16, MA17, X22). Nothing else moves; a second formatting finds nothing to do.
Names in another case stay: other programs may read them, so only an unsafe fix renames a field (MA21).

`sentences` renders the footnotes for people, like the list `relationships` of the front matter (M21, MA19). The author
may use other words: a sentence in another form only has to share a word with a footnote. `--sync` (MA19b) rewrites the
list, unless it is equal already, holds more than sentences, or the change would affect something else: a comment, an
anchor that another field uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, Value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.dialect import FormatOptions
from prosa.dialects.front import FrontReading
from prosa.dialects.magi.fields import REL_TYPES, squashed
from prosa.dialects.magi.model import MagiModel, Relationship
from prosa.dialects.magi.read import read_front_fields
from prosa.dialects.words import words
from prosa.regex import regex
from prosa.source import Edit, SourceText, Span, apply_edits

FIELD = "relationships"

_WORD_BREAK = regex(r"[-_]+")


class Disagreement(Struct, frozen=True):
    """``wrong`` are the sentences in the form of `sentence` that no footnote makes, ``foreign`` those in other words
    that share none with any footnote, ``left_out`` the relationships that a list of nothing but made sentences does
    not have."""

    wrong: tuple[Scalar, ...] = ()
    foreign: tuple[Scalar, ...] = ()
    left_out: tuple[Relationship, ...] = ()


def sentence(relationship: Relationship) -> str:
    """Return `Extends: What it adds to the plan`: the type, then the description, else the target; empty without a
    type."""
    fields = relationship.fields
    summary = next((text for name in ("rel-desc", "doc-id", "source-url") if (text := _line(fields.text(name)))), "")
    kind = _line(_WORD_BREAK.sub(" ", fields.text("rel-type") or ""))
    return f"{kind[:1].upper()}{kind[1:]}: {summary}" if kind and summary else ""


def sentences(model: MagiModel) -> tuple[str, ...]:
    """Return the sentences of all footnotes in their order, each once."""
    return tuple(dict.fromkeys(made for relationship in model.relationships if (made := sentence(relationship))))


def listed(model: MagiModel) -> Entry | None:
    """Return the field as written, valid or not; the first of several spellings (MA21)."""
    entries = model.front.fields.entries if model.front.fields is not None else ()
    return next((entry for entry in entries if squashed(entry.key.text) == FIELD), None)


def items_of(value: Node) -> tuple[Scalar, ...] | None:
    """Return the sentences of the field; None where it holds anything else. A single text is a list of one (MA17)."""
    if isinstance(value, Mapping):
        return None
    items = value.items if isinstance(value, Sequence) else (value,)
    scalars = tuple(item for item in items if isinstance(item, Scalar))
    if len(scalars) != len(items):
        return None
    return tuple(item for item in scalars if item.value is not None)


def disagreement(model: MagiModel) -> Disagreement:
    """Return where the list and the footnotes disagree; nowhere without a list."""
    entry = listed(model)
    items = items_of(entry.value) if entry is not None else None
    if items is None:
        return Disagreement()
    made = frozenset(sentences(model))
    other = [item for item in items if _line(item.text) not in made]
    kinds = _kinds(model)
    free = [item for item in other if _kind(item.text) not in kinds]
    known = frozenset(word for relationship in model.relationships for word in _words_of(relationship))
    written = frozenset(("", *(_line(item.text) for item in items)))
    return Disagreement(
        wrong=tuple(item for item in other if _kind(item.text) in kinds),
        foreign=tuple(item for item in free if known and known.isdisjoint(words(item.text))),
        left_out=()
        if free
        else tuple(relationship for relationship in model.relationships if sentence(relationship) not in written),
    )


def _kinds(model: MagiModel) -> frozenset[str]:
    """Return what may stand before the colon of a made sentence."""
    own = (relationship.fields.text("rel-type") or "" for relationship in model.relationships)
    return frozenset(map(_folded, (*REL_TYPES, *own))) - {""}


def _words_of(relationship: Relationship) -> Iterator[str]:
    fields, context = relationship.fields, relationship.context
    for name in ("rel-type", "rel-desc", "doc-id", "source-url"):
        yield from words(fields.text(name) or "")
    for name in ("section", "relevance"):
        yield from words(context.text(name) or "")
    yield from words(relationship.label)


def _kind(text: str) -> str:
    """Return what stands before the colon of a made sentence, as it is compared."""
    kind, colon, _ = _line(text).partition(": ")
    return _folded(kind) if colon else ""


def _folded(kind: str) -> str:
    return _line(_WORD_BREAK.sub(" ", kind)).casefold()


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


_FENCE = regex(r"---[ \t]*(?:\r\n|\n|\r)?\Z")
_AFTER = regex(r"[ \t]*(?:\r\n|\n|\r|\Z)")


def sync_edits(model: MagiModel) -> tuple[Edit, ...]:
    """Return the edit that makes the list agree with the footnotes. A list that is not there is added where there is
    anything to say and a front matter to say it in."""
    wanted = list(sentences(model))
    entry = listed(model)
    edit = _replaced(model.source, entry, wanted) if entry is not None else _added(model, wanted)
    return (edit,) if edit is not None and _says(model.front, edit, entry, wanted) else ()


def _replaced(source: SourceText, entry: Entry, wanted: list[str]) -> Edit | None:
    """Return the lines of the entry; None where it agrees, where it holds no plain sentences, or a comment would go."""
    items = items_of(entry.value)
    if items is None or [item.text for item in items] == wanted:
        return None
    start, end = entry.key.span.start, _end(source, entry)
    written = source.text[start:end]
    if "#" in _without(written, start, items) or not _AFTER.match(source.text, end):
        return None
    key = source.slice(entry.key.span)
    return Edit(Span(start, end), key + write_yaml({FIELD: wanted}).removeprefix(FIELD).rstrip("\n"))


def _end(source: SourceText, entry: Entry) -> int:
    """Return where the last line of the value ends, without its line end."""
    end = max(entry.value.span.end, entry.key.span.end)
    end = entry.key.span.start + len(source.text[entry.key.span.start : end].rstrip())
    colon = re.compile(r"[ \t]*:").match(source.text, end) if end == entry.key.span.end else None
    return colon.end() if colon else end


def _without(written: str, start: int, items: tuple[Scalar, ...]) -> str:
    """Return the text of the entry between its sentences."""
    between: list[str] = []
    at = 0
    for item in items:
        between.append(written[at : max(at, item.span.start - start)])
        at = max(at, item.span.end - start)
    return "".join((*between, written[at:]))


def _added(model: MagiModel, wanted: list[str]) -> Edit | None:
    """Return a line above the closing fence; None where there is nothing to say."""
    if not wanted:
        return None
    text, end = model.source.text, model.front.body.start
    fence = _FENCE.search(text, model.front.anchor.end, end) if model.front.fields is not None else None
    if fence is None or text[fence.start() - 1] not in "\r\n":
        return None
    return Edit(Span(fence.start(), fence.start()), write_yaml({FIELD: wanted}))


def _says(front: FrontReading, edit: Edit, entry: Entry | None, wanted: list[str]) -> bool:
    """Return whether the edited front matter reads as before, but for the list."""
    name = entry.key.text if entry is not None else FIELD
    after = front.reread(apply_edits(front.source.text, (edit,)))
    return not after.problems and _fields(after) == {**_fields(front), name: wanted}


def _fields(front: FrontReading) -> dict[str, Value]:
    return front.value or {}


_RUN = regex(r"`+")
_BLANK_LINES = regex(r"(?:\r\n|\n|\r)(?:[ \t>]*(?:\r\n|\n|\r))+")
_NORMAL_FIELDS = frozenset({"scalar-for-list", "unusual-date-form"})


def format_edits(model: MagiModel, options: FormatOptions) -> tuple[Edit, ...]:
    """Return the edits, in no particular order; they do not overlap. MAGI stores no hashes: ``rehash`` changes
    nothing."""
    synced = sync_edits(model) if options.sync else ()
    edits = [
        edit
        for problem in read_front_fields(model.front)[1]
        if problem.rule in _NORMAL_FIELDS and problem.fix is not None
        for edit in problem.fix.edits
        if not any(edit.span.start < change.span.end and change.span.start < edit.span.end for change in synced)
    ]
    edits += (edit for script in model.scripts for edit in script.pure)
    bare = (relationship for relationship in model.relationships if relationship.form == "bare")
    edits += (edit for relationship in bare for edit in backtick_edits(model.source, relationship))
    return (*synced, *edits)


def backtick_edits(source: SourceText, relationship: Relationship) -> tuple[Edit, ...]:
    """Return the edits that put backticks around a bare object (MA8); blank lines inside it would end the code and go.

    One or two backticks, whichever the text has no run of: three may open a fence. Where it has both, the backticks
    in its strings become JSON escapes.
    """
    span = relationship.span
    text = source.slice(span)
    runs = {len(run) for run in _RUN.findall(text)}
    ticks = "`" if 1 not in runs else "``"
    inner = [(match.span(), _last_line_end(match[0])) for match in _BLANK_LINES.finditer(text)]
    if runs >= {1, 2}:
        ticks = "`"
        inner += [(match.span(), "\\u0060" * len(match[0])) for match in _RUN.finditer(text)]
    edits = (Edit(Span(*place).shift(span.start), replacement) for place, replacement in inner)
    return (Edit(Span(span.start, span.start), ticks), *edits, Edit(Span(span.end, span.end), ticks))


def _last_line_end(text: str) -> str:
    return re.findall(r"\r\n|\n|\r", text)[-1] if text else ""
