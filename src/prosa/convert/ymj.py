"""YMJ records: a YAML header, a Markdown body and a JSON footer with the hash of the body (Y2, Y7–Y12).

A chat is a record of the kind `trace` whose body is the chat unchanged (Y18). The hash is recomputed; one that was
wrong, or of a trimmed body, stays unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec.structs import replace

from prosa.convert.body import read_body, write_body
from prosa.convert.form import At, Form, FormReading, NewDocument, NotConvertible, TargetContext
from prosa.convert.front import WORDED, Row, described, document, own_and_slots, read_part, with_carry
from prosa.convert.markdown import entitled, mark_unsound, well_formed
from prosa.convert.neutral import NO_CARRY, Carry, Marks, Note, Piece, carry_of
from prosa.data import Value
from prosa.dialects.front import read_front
from prosa.dialects.ymj.fields import HEADER, LATEST
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.read import read as read_record
from prosa.dialects.ymj.sections import CANONICAL_CLOSE, CANONICAL_OPEN, MAX_SUMMARY, normalised, sha256_of
from prosa.document import parse
from prosa.source import SourceText

ROWS = (
    Row("doc_summary", "description"),
    Row("version", "version"),
    Row("subject", "title"),
    Row("maintained_by", "author"),
    Row("created", "created"),
    Row("updated", "updated"),
    Row("language", "lang"),
)
FOOTER, HASH, CHAT = "=footer", "=hash", "chat"
OWNER = "unknown"
"""The maintainer of a record without one."""


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the record. Raises `NotConvertible`."""
    part = read_part(source, "ymj", ROWS)
    front = read_front(source)
    model, problems = read_record(front, parse(source, body=front.body))
    footer = model.footer_value
    if model.footer is not None and not model.footer.sound:
        problem = next(candidate for candidate in problems if candidate.span.start >= model.body.end)
        raise NotConvertible(problem.message, problem.span.start)
    notes, own, slots = _tail(model), dict(part.own), dict(part.slots)
    text = source.slice(model.body) if footer is not None else part.body
    if footer is not None:
        tags = texts_in_list(footer)
        if tags is not None:
            slots["tags"] = tags
        own |= _footer(footer, text, tags)
    else:
        own[FOOTER] = None
    mark_unsound(slots, own, ROWS, HEADER)
    carry = carry_of(part.carry) or NO_CARRY
    marks = marks or carry.marks
    if _is_chat(own, slots) and not carry:
        marks = replace(marks, chat=True)
    reading = read_body(normalised(text) if footer is not None else text, marks)
    places = part.places | {"tags": At(model.body.end, ""), f"own/ymj/{FOOTER}": At(model.body.end, "")}
    piece = Piece(
        "ymj", slots, reading.said, reading.template, {**reading.others, "ymj": {**own, **reading.own}}, part.bare
    )
    return FormReading(piece, carry, places, notes)


def _is_chat(own: Mapping[str, Value], slots: Mapping[str, Value]) -> bool:
    tags = slots.get("tags")
    return own.get("kind") == "trace" and isinstance(tags, list) and CHAT in tags


def texts_in_list(footer: Mapping[str, Value]) -> list[Value] | None:
    """Return the tags of a footer; None where they are no texts."""
    index = footer.get("index")
    tags = index.get("tags") if isinstance(index, dict) else None
    return tags if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags) else None


def _footer(footer: Mapping[str, Value], text: str, tags: Value) -> dict[str, Value]:
    """Return what of a footer is the record's own: all but its tags and a hash that is right."""
    kept = {key: value for key, value in footer.items() if key != "payload_hash"}
    index = footer.get("index")
    if tags is not None and isinstance(index, dict):
        kept["index"] = {key: value for key, value in index.items() if key != "tags"}
    computed = sha256_of(normalised(text))
    stored_hash = footer.get("payload_hash")
    return {FOOTER: kept} | ({} if stored_hash == computed else {HASH: stored_hash})


def _tail(model: YmjModel) -> tuple[Note, ...]:
    """Return what stands behind a footer is not part of a record."""
    if model.footer is None or not model.footer.place.tail.of(model.source.text).strip():
        return ()
    at = model.footer.place.tail.start
    return (Note("lost", "tail", "text behind the footer is not part of the record", offset=at),)


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the record, in Strict form unless its source has another."""
    notes: list[Note] = []
    own = piece.own_of("ymj")
    slots = well_formed(piece, "ymj", ROWS, HEADER, notes)
    more: dict[str, Value] = {}
    if not own:
        _required(slots, more, piece, context, notes)
    body, marks = write_body(piece, "ymj", guards=False)
    if _is_chat(own, slots) and not carry:
        marks = replace(marks, chat=False)
    fields = own_and_slots(piece, "ymj", ROWS, slots) | more
    ordered: dict[str, Value] = {name: fields[name] for name in ("doc_summary", "kind") if name in fields}
    header = document(with_carry(ordered | fields, carry), "", bare=False, worded=own.get(WORDED))
    if FOOTER in own and own[FOOTER] is None:
        return NewDocument(header + body, marks, tuple(notes))
    text = normalised(body)
    text = text if text.endswith("\n") or not text else f"{text}\n"
    footer = json.dumps(_written_footer(own, slots, text, piece), ensure_ascii=False, indent=2)
    return NewDocument(f"{header}{text}{CANONICAL_OPEN}\n{footer}\n{CANONICAL_CLOSE}\n", marks, tuple(notes))


def _written_footer(own: Mapping[str, Value], slots: Mapping[str, Value], text: str, piece: Piece) -> dict[str, Value]:
    kept = own.get(FOOTER)
    footer: dict[str, Value] = dict(kept) if isinstance(kept, dict) else {"schema": "1", "index": {}}
    tags = slots.get("tags")
    if tags is not None or not own:
        index = footer.get("index")
        footer["index"] = {"tags": tags or _tags(piece), **(index if isinstance(index, dict) else {})}
    if own.get(HASH) is not None or HASH not in own:
        footer["payload_hash"] = own.get(HASH) or sha256_of(text)
    order = ("schema", "payload_hash", "index")
    return {name: footer[name] for name in (*(key for key in order if key in footer), *footer)}


def _tags(piece: Piece) -> list[Value]:
    return ["trace", CHAT] if piece.is_conversation else ["note"]


def _required(
    slots: dict[str, Value], more: dict[str, Value], piece: Piece, context: TargetContext, notes: list[Note]
) -> None:
    """Fill in the required fields of a record."""
    entitled(slots, piece, context, notes)
    summary = str(slots.get("description") or described(_asked(piece), piece.template) or slots["title"])
    line = "".join(char if char.isprintable() else " " for char in " ".join(summary.split()))
    slots["description"] = line if len(line) <= MAX_SUMMARY else f"{line[: MAX_SUMMARY - 1].rstrip()}…"
    if piece.slot("description") is None:
        notes.append(Note("guessed", "description", "the summary is the first paragraph", "/doc_summary"))
    for slot, value in (("version", "1.0.0"), ("author", OWNER)):
        if not str(slots.get(slot) or "").strip():
            slots[slot] = value
            notes.append(Note("guessed", slot, f"`{slot}` is `{value}`: mend this by hand"))
    more["kind"] = "trace" if piece.is_conversation else "note"
    more["ymj_spec"] = LATEST
    notes.append(Note("guessed", "own/ymj/kind", f"the record is of the kind `{more['kind']}`", "/kind"))


def _asked(piece: Piece) -> str:
    """Return the text that best describes the topic of a piece: in a conversation the first message of a user."""
    return next((message.text for message in piece.said if message.role == "user"), piece.text)


FORM = Form(name="ymj", read=read, write=write, carrier="/prosa")
