"""The handling options of a record, below `ops`."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, Scalar
from prosa.diagnostics import Fix, Severity
from prosa.dialects.fields import shown
from prosa.dialects.ymj.edits import removed
from prosa.dialects.ymj.fields import end_of
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.payload import agrees
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject
from prosa.rules.ymj import RULES


@RULES.document("YM041", "deprecated-payload-mime", Severity.WARNING)
def deprecated_payload_mime(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find `ops.payload_mime`, which `ops.body_format` has replaced (Y12). The finding points at the key; the fix
    removes it where `body_format` says the same."""
    model = subject.model
    entry, ops = model.ops.get("payload_mime"), model.entries.get("ops")
    mime, body_format = model.option("payload_mime"), model.option("body_format")
    if entry is None or mime is None or ops is None or not isinstance(ops.value, Mapping):
        return
    same = body_format is not None and agrees(mime, body_format)
    fix = Fix("remove it", tuple(removed(ops.value, ("payload_mime",)))) if same else None
    notes = () if body_format else ("write `body_format` instead",)
    message = "`ops.payload_mime` is deprecated; `ops.body_format` says what the payload is"
    yield Finding(message, entry.key.span, notes, fix=fix)


@RULES.document("YM042", "payload-mime-mismatch", Severity.WARNING, strict=Severity.ERROR)
def payload_mime_mismatch(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find `ops.payload_mime` and `ops.body_format` that name different formats (Y12). The finding points at the media
    type, which is ignored."""
    model = subject.model
    entry, mime, body_format = model.ops.get("payload_mime"), model.option("payload_mime"), model.option("body_format")
    if entry is None or mime is None or body_format is None or agrees(mime, body_format):
        return
    message = f"`payload_mime` says `{shown(mime)}` and `body_format` says `{body_format}`, which counts"
    yield Finding(message, entry.value.span)


@RULES.document("YM043", "routes-beside-page", Severity.WARNING)
def routes_beside_page(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find both names of one directive (YA19). The finding points at `routes`."""
    model = subject.model
    entry = model.ops.get("routes")
    if entry is not None and "page" in model.ops:
        message = "`ops.routes` and `ops.page` are two names of one directive; `page` counts"
        yield Finding(message, entry.key.span, ("join them under `page`",))


_CHUNK_NOTE = "`chunk_id` says which of `total` chunks this one is"


@RULES.document("YM044", "impossible-chunk", Severity.WARNING, strict=Severity.ERROR)
def impossible_chunk(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a chunk number outside of the number of chunks (Y12). The finding points at the impossible number. Chunks
    may be counted from 0 or from 1."""
    model = subject.model
    chunking = model.ops_map("chunking")
    if chunking is None:
        return
    number, total = _whole(chunking, "chunk_id"), _whole(chunking, "total")
    if total is not None and total[0] < 1:
        yield _impossible(f"there are {total[0]} chunks in all, and this is one of them", total[1])
    elif number is not None and number[0] < 0:
        yield _impossible(f"a chunk cannot have the number {number[0]}", number[1])
    elif number is not None and total is not None and number[0] > total[0]:
        yield _impossible(f"chunk {number[0]} of {total[0]} cannot be", number[1])


def _whole(mapping: Mapping, name: str) -> tuple[int, Scalar] | None:
    node = mapping.get(name)
    if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, int):
        return None
    return node.value, node


def _impossible(message: str, at: Scalar) -> Finding:
    return Finding(message, at.span, (_CHUNK_NOTE,))


@RULES.document("YM045", "past-expiry", Severity.WARNING)
def past_expiry(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a record whose retention has expired (Y12). The finding points at `expiry`, once the day, month or moment
    in it has passed."""
    model = subject.model
    retention = model.ops_map("retention")
    expiry = retention.get("expiry") if retention is not None else None
    if not isinstance(expiry, Scalar) or not isinstance(expiry.value, str):
        return
    end = end_of(expiry.value)
    if end is not None and subject.now is not None and end <= subject.now:
        message = f"the record was to be kept until {expiry.value.strip()}, and that is over"
        yield Finding(message, expiry.span, ("remove the record, or give it a later `expiry`",))
