"""`missing-payload-hash`: a footer without the hash of the body (Y10, YA2)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.ymj.format import hash_edits
from prosa.dialects.ymj.hashes import payload_hash
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the footer, or at the empty field."""
    model: YmjModel = subject.model
    stored = payload_hash(model)
    if model.footer is None or not model.footer.sound or stored.state != "absent":
        return
    edits = hash_edits(model)
    fix = Fix("write the hash of the body", edits) if edits else None
    span = stored.entry.key.span if stored.entry else model.footer.place.open
    message = "the footer has no `payload_hash`, so nobody can tell whether the body has changed"
    yield Problem("missing-payload-hash", message, span, fix=fix)
