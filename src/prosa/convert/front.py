"""Forms whose documents are front matter and a body: one reader and one writer for all, driven by tables.

A row maps a field to a slot, and converts its value to that of the slot and back. Unknown fields, and values in the
author's own wording, stay private fields of the form. The order of fields is that of the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import cast

from msgspec import Struct

from prosa.convert.form import At, NotConvertible
from prosa.convert.neutral import Carry, FormName, Piece, TextKind, carry_of, is_slot, same
from prosa.data import Entry, Node, Scalar, Value, format_pointer, to_value
from prosa.data import Mapping as Fields
from prosa.data import Sequence as Items
from prosa.data.front_matter import split_front_matter
from prosa.data.yaml_write import write_yaml
from prosa.dialects.front import FrontReading, front_under, read_front
from prosa.document import Document, parse
from prosa.regex import regex
from prosa.source import SourceText, Span

CARRY = "prosa"
"""The field that holds a carry."""

WORDED = "=front"
"""The front matter as its author wrote it, where a new one would be written otherwise."""


def text_in(node: Node) -> Value:
    """Return the source text of a scalar (X1)."""
    return node.text if isinstance(node, Scalar) and node.value is not None else None


def texts_in(node: Node) -> Value:
    """Return the texts of a list, or of a text with commas between them."""
    if isinstance(node, Items):
        texts = [text_in(item) for item in node.items]
        return None if None in texts else texts
    text = text_in(node)
    return None if text is None else [part.strip() for part in str(text).split(",") if part.strip()]


def any_in(node: Node) -> Value:
    """Return plain data."""
    return to_value(node)


def as_is(value: Value) -> Value:
    """Return the value itself."""
    return value


def joined_by(separator: str) -> Callable[[Value], Value]:
    """Return the writer of a list of texts as one text."""
    return lambda texts: separator.join(cast("list[str]", texts))  # `is_slot` has checked it


class Row(Struct, frozen=True):
    """One field and its slot."""

    field: str
    slot: str
    read: Callable[[Node], Value] = text_in
    write: Callable[[Value], Value] = as_is


class FrontPart(Struct, frozen=True):
    """The content of the front matter of a source, and where its body starts."""

    slots: dict[str, Value]
    own: dict[str, Value]
    places: dict[str, At]
    carry: Value
    body: str
    offset: int
    bare: bool


def read_part(source: SourceText, form: FormName, rows: Iterable[Row], *, loose: bool = False) -> FrontPart:
    """Front matter and body. Raises `NotConvertible` where the front matter cannot be read whole."""
    front = front_under(source, "plain") if loose else read_front(source)
    require_whole(front)
    by_field = {row.field: row for row in rows}
    slots: dict[str, Value] = {}
    own: dict[str, Value] = {}
    places: dict[str, At] = {}
    carry: Value = None
    for entry in front.fields or ():
        name = entry.key.text
        at = At(entry.key.span.start, format_pointer((name,)))
        if name == CARRY and carry_of(to_value(entry.value)) is not None:
            carry = to_value(entry.value)
            continue
        row = by_field.get(name)
        value = row.read(entry.value) if row else None
        if row and value is not None and is_slot(row.slot, value) and row.slot not in slots:
            slots[row.slot] = value
            places[row.slot] = at
            if not same(row.write(value), _worded(entry.value, row)):
                own[name] = to_value(entry.value)
        else:
            own[name] = to_value(entry.value)
        places[f"own/{form}/{name}"] = at
    places["text/0"] = At(front.body.start)
    body = source.slice(front.body)
    fields = own_and_slots(Piece(form, slots, (), own={form: own}), form, rows, slots)
    worded = _wording(front, fields)
    if worded is not None:
        own[WORDED] = worded
        places[f"own/{form}/{WORDED}"] = At(front.anchor.start)
    return FrontPart(slots, own, places, carry, body, front.body.start, not front.present)


def require_whole(front: FrontReading) -> None:
    """Refuse front matter of which a part is unread. Raises `NotConvertible`."""
    problem = next(iter(front.problems), None)
    if problem is not None and (front.fields is None or not front.complete or problem.rule == "duplicate-key"):
        raise NotConvertible(
            problem.message, problem.span.start, "correct the front matter first: prosa check shows it"
        )


def _worded(node: Node, row: Row) -> Value:
    """Return a field as the writer would have to word it; a text is its source text."""
    return text_in(node) if row.read is text_in else to_value(node)


def own_and_slots(piece: Piece, form: FormName, rows: Iterable[Row], slots: Mapping[str, Value]) -> dict[str, Value]:
    """Return the fields to write: those of the table, in the author's wording if it means the same, then the others."""
    own = dict(piece.own_of(form))
    fields: dict[str, Value] = {}
    for row in rows:
        worded = own.pop(row.field, None) if row.slot in slots else None
        value = slots.get(row.slot)
        if worded is not None and same(row.read(node_of(worded)), value):
            fields[row.field] = worded
        elif value is not None:
            fields[row.field] = row.write(value)
    return fields | {
        name: value for name, value in own.items() if name not in (*fields, CARRY) and not name.startswith("=")
    }


def node_of(value: Value) -> Node:
    """Return plain data as a tree without places."""
    nowhere = Span(0, 0)
    if isinstance(value, dict):
        return Fields(tuple(Entry(Scalar(key, key, nowhere), node_of(item)) for key, item in value.items()), nowhere)
    if isinstance(value, list):
        return Items(tuple(map(node_of, value)), nowhere)
    return Scalar(value, value if isinstance(value, str) else write_yaml({"x": value})[3:-1], nowhere)


def document(fields: Mapping[str, Value], body: str, *, bare: bool, worded: Value = None) -> str:
    """Return the text of a document. ``bare`` is true if its body came without front matter and needs a blank line
    before it, ``worded`` is the author's front matter, used if it means the same. Lines end as those of the author."""
    if not fields and not worded and not body.removeprefix("\ufeff").startswith(("---", "–", "—", " ")):
        return body
    gap = "\n" if bare and body and not body.startswith(("\n", "\r")) else ""
    own = {name: value for name, value in fields.items() if name != CARRY}
    if isinstance(worded, str) and _says(worded, own):
        carry = write_yaml({CARRY: fields[CARRY]}) if CARRY in fields else ""
        start, end = with_ends_of(worded or body, "---\n", f"{carry}---\n{gap}")
        return f"{start}{worded}{end}{body}"
    (front,) = with_ends_of(body, f"---\n{write_yaml(fields)}---\n{gap}")
    return front + body


def with_ends_of(text: str, *parts: str) -> tuple[str, ...]:
    """Return parts whose lines end with LF with the line end of the first line of a text, LF or CRLF."""
    first, separator, _ = text.partition("\n")
    crlf = bool(separator) and first.endswith("\r")
    return tuple(part.replace("\n", "\r\n") for part in parts) if crlf else parts


def is_bare(piece: Piece) -> bool:
    """Return whether the text of a piece never stood behind front matter: then a blank line goes between."""
    return piece.bare and not any(WORDED in own for own in piece.own.values())


def _says(worded: str, fields: Mapping[str, Value]) -> bool:
    """Return whether an author's front matter means these fields and cannot break out of its block."""
    if not worded.endswith(("\n", "\r")) and worded:
        return False
    front = read_front(SourceText(f"---\n{worded}---\n"))
    return front.body.start == len(worded) + 8 and not front.problems and same(front.value, dict(fields))


def with_carry(fields: dict[str, Value], carry: Carry) -> dict[str, Value]:
    """Return the fields with the carry behind them: as data where YAML can hold it, else as JSON."""
    if not carry:
        return fields
    data = carry.data()
    return fields | {CARRY: data if _is_tame(data, 0) else json.dumps(data, ensure_ascii=False)}


MAX_KEY, MAX_NESTED = 1000, 40
"""A key in YAML ends within 1,024 characters; and a carry may be carried again, nested deeper."""


def _is_tame(value: Value, depth: int) -> bool:
    if isinstance(value, dict):
        keys = all(len(key) <= MAX_KEY for key in value)
        return keys and depth < MAX_NESTED and all(_is_tame(item, depth + 1) for item in value.values())
    return not isinstance(value, list) or (depth < MAX_NESTED and all(_is_tame(item, depth + 1) for item in value))


def _wording(front: FrontReading, fields: Mapping[str, Value]) -> str | None:
    """Return the author's front matter without its carry; None if it would be written identically."""
    parts = split_front_matter(front.source.text)[0]
    if parts is None or front.fields is None:
        return None
    text, start, end = front.source.text, parts.yaml.start, parts.yaml.end
    entries = front.fields.entries
    for at, entry in enumerate(entries):
        if entry.key.text == CARRY and CARRY not in fields:
            after = entries[at + 1].key.span.start if at + 1 < len(entries) else end
            text, end = text[: entry.key.span.start] + text[after:], end - (after - entry.key.span.start)
            break
    raw = text[start:end]
    if (raw,) == with_ends_of(front.source.slice(front.body), write_yaml(fields)):
        return None
    return raw if _says(raw, fields) or _is_worded(front) else None


def _is_worded(front: FrontReading) -> bool:
    """Return whether the YAML holds more than its data: a comment, or a number in another notation."""
    return front.fields is not None and (_has_comment(front) or any(map(_is_odd, _scalars(front.fields))))


def _is_odd(node: Scalar) -> bool:
    if not isinstance(node.value, int | float) or isinstance(node.value, bool):
        return False
    return write_yaml({"x": node.value})[3:-1] != node.text


def _has_comment(front: FrontReading) -> bool:
    """Return whether there is a comment between keys and values."""
    text, at = front.source.text, front.anchor.end
    spans = sorted(
        (scalar.span.start, scalar.span.end) for scalar in _scalars(front.fields or Fields((), front.anchor))
    )
    for start, end in (*spans, (front.body.start, front.body.start)):
        if text.find("#", at, start) >= 0:
            return True
        at = max(at, end)
    return False


def _scalars(node: Node) -> Iterable[Scalar]:
    """Yield the keys and the scalars of a tree."""
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Items):
        for item in node.items:
            yield from _scalars(item)
    else:
        for entry in node.entries:
            yield entry.key
            yield from _scalars(entry.value)


# A title and a description from a Markdown text, for forms that need them.

_LOOKED_AT = 16_384
"""Characters in which a title and a first paragraph are sought."""

MAX_DESCRIBED = 300
_SENTENCE = regex(r"(?<=[.!?])\s")


def _head(text: str) -> Document:
    part = text[:_LOOKED_AT]
    front = split_front_matter(part)[0]
    start = front.body.start if front else 0
    return parse(SourceText(part), body=Span(start, len(part)))


def titled(text: str, template: TextKind = "text") -> str:
    """Return the first heading; empty if there is none. In a template, headings with an action are skipped."""
    texts = (heading.plain for heading in _head(text).headings if not heading.nested)
    return " ".join(_first(texts, template).split())[:120].strip()


def described(text: str, template: TextKind = "text") -> str:
    """Return the first paragraph on one line, a long one cut after a sentence; empty if there is none. In a template,
    paragraphs with an action are skipped."""
    first = _first((paragraph.text for paragraph in _head(text).paragraphs if not paragraph.nested), template)
    line = "".join(char if char.isprintable() else " " for char in " ".join(first.split()))
    if len(line) <= MAX_DESCRIBED:
        return line
    sentence = _SENTENCE.split(line, 1)[0]
    return sentence if len(sentence) <= MAX_DESCRIBED else f"{line[: MAX_DESCRIBED - 1].rstrip()}…"


def _first(texts: Iterable[str], template: TextKind) -> str:
    return next((text for text in texts if text.strip() and (template == "text" or "{{" not in text)), "")
