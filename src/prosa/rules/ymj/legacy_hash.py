"""`legacy-hash`: a hash that another tool computed from the trimmed body (YA3, YW1)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.ymj.edits import replaced
from prosa.dialects.ymj.hashes import header_hash, payload_hash
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the hash. The fix writes it as the specification says; the tool that trims does not know that one, so the fix
    is unsafe."""
    model: YmjModel = subject.model
    for stored in (payload_hash(model), header_hash(model)):
        if stored.state != "legacy" or stored.entry is None:
            continue
        message = f"`{stored.name}` was computed from the trimmed body; the body is hashed as it is"
        fix = None
        if stored.name == "payload_hash":
            edits = (replaced(stored.entry, model.body_sha256),)
            fix = Fix("write the hash of the whole body", edits, Applicability.UNSAFE)
        yield Problem("legacy-hash", message, stored.entry.value.span, fix=fix)
