"""The payload of a record, and the selector that finds it in the body (Y27, YA16, YA17)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.payload import Failure, Payload
from prosa.dialects.ymj.selectors import SELECTORS, selector_type
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject
from prosa.rules.ymj import RULES
from prosa.source import Span


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
    found = failed(subject.model, "unknown")
    if found is None:
        return
    payload, span = found
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
    found = failed(subject.model, "bad")
    if found is not None:
        payload, span = found
        yield Finding(f"the selector `{shown(payload.selector or '')}` {payload.reason}", span)


@RULES.document("YM052", "missing-selector-target", Severity.WARNING, strict=Severity.ERROR)
def missing_selector_target(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a selector that matches nothing in the body (Y27, YA17). The finding points at the selector, or at the
    format whose default selector finds nothing."""
    found = failed(subject.model, "missing")
    if found is not None:
        payload, span = found
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
    found = failed(subject.model, "costly")
    if found is not None:
        payload, span = found
        yield Finding(payload.reason, span, ("use a simpler pattern or a structured selector",))


@RULES.document("YM055", "undecodable-payload", Severity.ERROR)
def undecodable_payload(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a payload that is not in the encoding its record names (YA22). The finding points at `body_encoding`."""
    found = failed(subject.model, "encoding")
    if found is not None:
        payload, span = found
        yield Finding(f"the payload cannot be decoded: {payload.reason}", span)
