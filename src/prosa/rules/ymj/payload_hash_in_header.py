"""`payload-hash-in-header`: the deprecated `payload_sha256`, which has moved to the footer (Y8, YW6)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.ymj.format import hash_edits, header_hash_edits
from prosa.dialects.ymj.hashes import header_hash
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the key; the fix moves a hash that is right, never one that is not."""
    model: YmjModel = subject.model
    entry = header_hash(model).entry
    if entry is None:
        return
    moved = header_hash_edits(model)
    fix = Fix("move it to the footer", (*moved, *hash_edits(model))) if moved else None
    message = "`payload_sha256` is deprecated; the hash of the body is `payload_hash` of the footer"
    yield Problem("payload-hash-in-header", message, entry.key.span, fix=fix)
