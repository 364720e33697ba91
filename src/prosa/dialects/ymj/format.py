"""The Strict form of a record, by span edits (Y25, X22), and the hashes of its body (Y10, Y18, YA2–YA4).

LF, no byte-order mark, `doc_summary` on the second line, exact fences, no mirrors that only repeat the header, a hash
of the body in the footer. A matching hash stays, also one of a trimmed body, which other tools expect. One that does
not match is evidence and stays; `--rehash` writes the hash of the whole body in place of both. A mirror, a key of
`index` that repeats the header (Y13, YA1), is never read as identity and never written; one that differs stays. Only
the line ends of the body change. An edit that would not read back as the same record is not made.

`payload_hash` stands in the footer, the deprecated `payload_sha256` in the header; both mean the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Entry, Mapping, Node, Scalar, Value, read_json, to_value
from prosa.dialects.dialect import FormatOptions
from prosa.dialects.ymj.edits import inserted, removal_edit, removed, replaced, summary_edits
from prosa.dialects.ymj.fields import is_sha256
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import CANONICAL_CLOSE, CANONICAL_OPEN, find_footer
from prosa.regex import regex
from prosa.source import Edit, Span, apply_edits

MIRRORS = {"title": "subject", "summary": "doc_summary", "owner": "maintained_by"}
"""Key of `index` → field of the header that it repeats."""


class Mirror(Struct, frozen=True):
    """One mirror; ``equal`` is true if it repeats the header exactly, so that removing it loses nothing."""

    entry: Entry
    field: str
    equal: bool


def index_of(model: YmjModel) -> Mapping | None:
    """Return the `index` object of the footer as written, well-formed or not."""
    node = model.footer.node.get("index") if model.footer else None
    return node if isinstance(node, Mapping) else None


def mirrors(model: YmjModel) -> Iterator[Mirror]:
    """Yield every mirror of the record, in the order of the footer."""
    for entry in index_of(model) or ():
        field = MIRRORS.get(entry.key.text)
        if field is not None:
            yield Mirror(entry, field, _same(entry, model.header.get(field) if model.header else None))


def _same(entry: Entry, other: Node | None) -> bool:
    return isinstance(entry.value, Scalar) and isinstance(other, Scalar) and entry.value.text == other.text


_CR = regex(r"\r\n?")


def format_edits(model: YmjModel, options: FormatOptions) -> tuple[Edit, ...]:
    """Return the edits that bring the record to Strict form, ordered, without overlap."""
    edits = [*_header_edits(model, options), *_footer_edits(model, options)]
    plain = (*mark_edits(model), *line_end_edits(model))
    if edits and not _keeps(model, _combined(edits, plain)):
        edits = []
    return _combined(edits, plain)


def after_fix(before: YmjModel, after: YmjModel) -> tuple[Edit, ...]:
    """Return the edit of ``after`` that keeps a hash true which was true before the body changed by a fix, in its form
    (X22)."""
    was, stored = payload_hash(before), payload_hash(after)
    if not was.verified or stored.entry is None or stored.text != was.text:
        return ()
    wanted = in_the_form_of(was, before, after)
    return (replaced(stored.entry, wanted),) if wanted != stored.text else ()


def mark_edits(model: YmjModel) -> tuple[Edit, ...]:
    """Return the byte-order mark, removed. Where a second one follows, which would then be one, both stay."""
    text = model.source.text
    return (Edit(Span(0, 1), ""),) if text.startswith("\ufeff") and not text.startswith("\ufeff", 1) else ()


def line_end_edits(model: YmjModel) -> tuple[Edit, ...]:
    """Return every CRLF and lone CR as LF."""
    matches = _CR.finditer(model.source.text)
    return tuple(Edit(Span(*match.span()), "\n") for match in matches)


def fence_edits(model: YmjModel) -> tuple[Edit, ...]:
    """Return the fence lines of the footer as Strict form writes them."""
    if model.footer is None or model.footer.place.is_canonical(model.source.text):
        return ()
    place = model.footer.place
    wanted = ((place.open, CANONICAL_OPEN), (place.close, CANONICAL_CLOSE))
    return tuple(Edit(span, line) for span, line in wanted if model.source.slice(span) != line)


def mirror_edits(model: YmjModel, keys: Iterable[str]) -> tuple[Edit, ...]:
    """Return these mirrors, taken out."""
    index = index_of(model)
    return tuple(removed(index, frozenset(keys))) if index is not None else ()


def hash_edits(model: YmjModel, *, rehash: bool = False) -> tuple[Edit, ...]:
    """Return the edits for the hash of the body as X22 specifies: added if absent, in the form of a verified one in
    the header; with ``rehash`` the hash of the whole body replaces any other."""
    stored, other = payload_hash(model), header_hash(model)
    if model.footer is None or not model.footer.sound or not model.footer.claimed or stored.state == "matches":
        return ()
    if not rehash and (stored.state != "absent" or other.state == "differs"):
        return ()
    wanted = other.text if other.verified and not rehash else model.body_sha256
    if stored.entry is not None:
        return (replaced(stored.entry, wanted),)
    node = model.footer.node
    return (inserted(model.source.text, node, "payload_hash", wanted, after="schema"),)


def header_hash_edits(model: YmjModel, *, rehash: bool = False) -> tuple[Edit, ...]:
    """Return the edits that remove the deprecated hash, once it is verified and the footer has it (YW6)."""
    stored, other = payload_hash(model), header_hash(model)
    will_have = stored.verified or bool(hash_edits(model, rehash=rehash))
    if other.entry is None or not will_have or not (other.verified or rehash):
        return ()
    edit = removal_edit(model, other.entry)
    return (edit,) if edit else ()


def _header_edits(model: YmjModel, options: FormatOptions) -> Iterator[Edit]:
    if model.header is not None and not model.front.problems:
        yield from summary_edits(model)
        yield from header_hash_edits(model, rehash=options.rehash)


def _footer_edits(model: YmjModel, options: FormatOptions) -> Iterator[Edit]:
    if model.footer is not None and model.footer.sound and model.footer.claimed:
        yield from fence_edits(model)
        yield from mirror_edits(model, [mirror.entry.key.text for mirror in mirrors(model) if mirror.equal])
        yield from hash_edits(model, rehash=options.rehash)


def _combined(edits: Iterable[Edit], plain: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return both kinds in order; a line end inside a replaced range goes with it, and new text has LF."""
    larger = sorted((Edit(edit.span, _CR.sub("\n", edit.replacement)) for edit in edits), key=lambda edit: edit.span)
    combined = list(larger)
    at = 0
    for edit in plain:
        while at < len(larger) and larger[at].span.end <= edit.span.start:
            at += 1
        if at == len(larger) or edit.span.end <= larger[at].span.start:
            combined.append(edit)
    return tuple(sorted(combined, key=lambda edit: edit.span))


def _keeps(model: YmjModel, edits: tuple[Edit, ...]) -> bool:
    """Return whether the edited text reads back as the same record: same body, same data but for what was meant to
    go."""
    front = model.front.reread(apply_edits(model.source.text, edits))
    place = find_footer(front.source.text, front.body)
    if front.problems or front.value is None or model.front.value is None or place is None or model.footer is None:
        return place is None and model.footer is None and not front.problems and _same_header(front.value, model)
    reading = read_json(front.source.slice(place.content))
    if reading.problems or not isinstance(reading.node, Mapping):
        return False
    body = front.source.slice(Span(front.body.start, place.open.start))
    footers = to_value(reading.node), model.footer_value
    return body == model.body_text and _same_header(front.value, model) and _bare(footers[0]) == _bare(footers[1])


def _same_header(after: Value, model: YmjModel) -> bool:
    before = model.front.value
    return bool(_identity(after) == _identity(before))


def _identity(header: Value) -> Value:
    if not isinstance(header, dict):
        return header
    kept = {key: value for key, value in header.items() if key != "payload_sha256"}
    summary = kept.get("doc_summary")
    return kept | {"doc_summary": summary.strip() if isinstance(summary, str) else summary}


def _bare(footer: Value) -> Value:
    """Return a footer without what a format may change."""
    if not isinstance(footer, dict):
        return footer
    kept = {key: value for key, value in footer.items() if key != "payload_hash"}
    index = kept.get("index")
    if isinstance(index, dict):
        kept["index"] = {key: value for key, value in index.items() if key not in MIRRORS}
    return kept


# The hashes of a record's body (Y10, Y18, YA2–YA4, X22). Nothing is changed here.

State: TypeAlias = Literal["absent", "placeholder", "matches", "legacy", "differs"]


class StoredHash(Struct, frozen=True):
    """A stored hash: its field, its entry (None if absent), and whether it matches the body."""

    name: str
    entry: Entry | None
    state: State

    @property
    def text(self) -> str:
        """The hash in lower case, or an empty string."""
        value = self.entry.value if self.entry else None
        return value.text.strip().lower() if isinstance(value, Scalar) else ""

    @property
    def verified(self) -> bool:
        """Whether it was computed from this body, whole or trimmed."""
        return self.state in ("matches", "legacy")


def in_the_form_of(stored: StoredHash, before: YmjModel, after: YmjModel) -> str:
    """Return the hash of the body of ``after``, of the whole or of the trimmed one, whichever ``stored`` is of
    ``before``, of which it is verified (X22)."""
    return hash_forms(after)[hash_forms(before).index(stored.text)]


def hash_forms(model: YmjModel) -> tuple[str, ...]:
    """Return the hashes that a verified record may have: that of the whole body first."""
    return model.body_sha256, *model.legacy


def payload_hash(model: YmjModel) -> StoredHash:
    """Return the hash of the footer."""
    return _stored(model, "payload_hash", model.footer.node if model.footer else None)


def header_hash(model: YmjModel) -> StoredHash:
    """Return the deprecated hash of the header."""
    return _stored(model, "payload_sha256", model.header)


def _stored(model: YmjModel, name: str, mapping: Mapping | None) -> StoredHash:
    entry = mapping.entry(name) if mapping is not None else None
    return StoredHash(name, entry, _state(model, entry))


def _state(model: YmjModel, entry: Entry | None) -> State:
    value = entry.value if entry else None
    if value is None or (isinstance(value, Scalar) and (value.value is None or not value.text.strip())):
        return "absent"
    if not isinstance(value, Scalar):
        return "placeholder"
    text = value.text.strip().lower()
    if not is_sha256(text):
        return "placeholder"
    if text == model.body_sha256:
        return "matches"
    return "legacy" if text in model.legacy else "differs"
