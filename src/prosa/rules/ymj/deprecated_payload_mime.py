"""`deprecated-payload-mime`: `ops.payload_mime`, which `ops.body_format` has replaced (Y12)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping
from prosa.diagnostics import Fix, Problem
from prosa.dialects.ymj.edits import removed
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.payload import agrees
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the key; the fix removes it where `body_format` says the same."""
    model: YmjModel = subject.model
    entry, ops = model.ops.get("payload_mime"), model.entries.get("ops")
    mime, body_format = model.option("payload_mime"), model.option("body_format")
    if entry is None or mime is None or ops is None or not isinstance(ops.value, Mapping):
        return
    same = body_format is not None and agrees(mime, body_format)
    fix = Fix("remove it", tuple(removed(ops.value, ("payload_mime",)))) if same else None
    notes = () if body_format else ("write `body_format` instead",)
    message = "`ops.payload_mime` is deprecated; `ops.body_format` says what the payload is"
    yield Problem("deprecated-payload-mime", message, entry.key.span, notes, fix=fix)
