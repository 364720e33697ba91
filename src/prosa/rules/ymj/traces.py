"""Recordings of runs (X27): the form of what `prosa run --record` writes."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Scalar
from prosa.diagnostics import Severity
from prosa.dialects.fields import shown
from prosa.dialects.ymj.attachments import text_in
from prosa.dialects.ymj.fields import RECORDING
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.trace import SCHEMA, digest_faults, read_trace
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject
from prosa.rules.ymj import RULES

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
