"""`payload-hash-mismatch`: the stored hash is not that of the body (Y10, Y18, YA3)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.hashes import header_hash, payload_hash
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import EMPTY_SHA256
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the hash of the footer, or at that of the header where the footer has none. There is no fix: the hash says
    that somebody changed the body, and only the author knows whether that was meant."""
    model: YmjModel = subject.model
    stored = payload_hash(model)
    if stored.state not in ("differs", "matches", "legacy"):
        stored = header_hash(model)
    if stored.state != "differs" or stored.entry is None:
        return
    notes = [f"the body has {model.body_sha256}", "if the body is right: prosa fmt --rehash"]
    if stored.text == EMPTY_SHA256:
        notes.insert(0, "this is the hash of an empty text")
    message = f"`{stored.name}` is not the hash of this body"
    yield Problem("payload-hash-mismatch", message, stored.entry.value.span, tuple(notes))
