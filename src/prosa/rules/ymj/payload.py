"""The payload of a record and the selector that finds it (Y27, YA16, YA17), the handling options below `ops`, and
recordings of runs (X27)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, Scalar
from prosa.diagnostics import Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.ymj.edits import removed
from prosa.dialects.ymj.fields import RECORDING, end_of
from prosa.dialects.ymj.model import YmjModel, text_in
from prosa.dialects.ymj.payload import Failure, Payload, agrees
from prosa.dialects.ymj.selectors import SELECTORS, selector_type
from prosa.dialects.ymj.trace import SCHEMA, digest_faults, read_trace
from prosa.rules.rule import Finding, Subject
from prosa.rules.ymj import RULES
from prosa.source import Span


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
        message = f"the retention of the record ended on {expiry.value.strip()}"
        yield Finding(message, expiry.span, ("remove the record, or give it a later `expiry`",))


# The payload of a record, and the selector that finds it in the body (Y27, YA16, YA17).


def failed(model: YmjModel, failure: Failure) -> tuple[Payload, Span] | None:
    """Return the payload and the span of its selector, or of its format without a selector, if this is the failure."""
    payload = model.payload
    if payload is None or payload.failure != failure:
        return None
    names = ("body_encoding",) if failure == "encoding" else ("body_selector", "body_format", "body_encoding")
    entry = next((model.ops[name] for name in names if name in model.ops), None)
    return payload, entry.value.span if entry else model.anchor


@RULES.document("YM050", "unknown-selector", Severity.WARNING, strict=Severity.ERROR)
def unknown_selector(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a selector of a type that is not in the registry (Y27). The finding points at the selector."""
    failure = failed(subject.model, "unknown")
    if failure is None:
        return
    payload, span = failure
    guess = nearest(payload.reason, [row.name for row in SELECTORS])
    known = ", ".join(f"`{row.form}`" for row in SELECTORS)
    note = f"did you mean `{guess}`?" if guess else f"known are {known}"
    message = f"`{shown(payload.reason)}` is not a type of selector"
    meant = Misspelling(payload.reason, guess) if guess else None
    yield Finding(message, span, (note,), misspelling=meant)


@RULES.document("YM051", "bad-selector", Severity.ERROR)
def bad_selector(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a selector that cannot mean anything, such as a pattern that RE2 does not take (Y27, YA16, X20). The finding
    points at the selector."""
    failure = failed(subject.model, "bad")
    if failure is not None:
        payload, span = failure
        yield Finding(f"the selector `{shown(payload.selector or '')}` {payload.reason}", span)


@RULES.document("YM052", "missing-selector-target", Severity.WARNING, strict=Severity.ERROR)
def missing_selector_target(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a selector that matches nothing in the body (Y27, YA17). The finding points at the selector, or at the
    format whose default selector finds nothing."""
    failure = failed(subject.model, "missing")
    if failure is not None:
        payload, span = failure
        message = f"nothing in the body matches the selector `{shown(payload.selector or '')}`"
        notes = () if payload.explicit else ("without `body_selector` the first fence of the format is looked for",)
        yield Finding(message, span, notes)


@RULES.document("YM053", "pattern-selector", Severity.HINT, strict=Severity.WARNING)
def pattern_selector(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a selector with a regular expression, where a structured one would last longer (Y27). The finding points at
    the selector."""
    model = subject.model
    entry, text = model.ops.get("body_selector"), model.option("body_selector")
    row = selector_type(text) if text else None
    if entry is not None and row is not None and row.pattern:
        message = f"`{row.name}:` depends on the wording of the body and breaks when it is edited"
        note = "prefer `first_fenced:`, `nth_fenced:` or `block_id:`"
        yield Finding(message, entry.value.span, (note,))


@RULES.document("YM054", "costly-selector", Severity.WARNING, strict=Severity.ERROR)
def costly_selector(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a pattern that is not tried because the body is too large for it (YA16). The finding points at the
    selector."""
    failure = failed(subject.model, "costly")
    if failure is not None:
        payload, span = failure
        yield Finding(payload.reason, span, ("use a simpler pattern or a structured selector",))


@RULES.document("YM055", "undecodable-payload", Severity.ERROR)
def undecodable_payload(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a payload that is not in the encoding its record names (YA22). The finding points at `body_encoding`."""
    failure = failed(subject.model, "encoding")
    if failure is not None:
        payload, span = failure
        yield Finding(f"the payload cannot be decoded: {payload.reason}", span)


_AGAIN = "record the run again: prosa run FILE --record DIR"


@RULES.document("YM090", "trace-form", Severity.ERROR)
def trace_form(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find what makes a recording unplayable (X27): an unknown schema, blocks that are not calls, are out of order or
    have broken references, digests that do not match their requests. The finding points at the opening line of the
    block, or at the schema. Other records are not recordings, whatever their kind."""
    model = subject.model
    if all(text_in(item, "name") != RECORDING for item in model.ops_items("handlers")):
        return
    schema = model.entries.get("schema")
    if schema is not None and isinstance(schema.value, Scalar) and schema.value.text != SCHEMA:
        message = f"recordings with the schema `{shown(schema.value.text)}` are not known here, only `{SCHEMA}`"
        yield Finding(message, schema.value.span, ("a newer Prosa may have written it",))
        return
    trace = read_trace(model.source.text, model.body)
    if not trace.blocks and not trace.faults:
        yield Finding("the recording holds no call", model.anchor, (_AGAIN,))
    faults = trace.faults or tuple(digest_faults(trace))
    for fault in faults:
        yield Finding(fault.message, fault.span, (_AGAIN,))
