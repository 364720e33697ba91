"""`conflicting-hashes`: header and footer have different hashes of one body (YA4)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.ymj.fields import is_sha256
from prosa.dialects.ymj.hashes import header_hash, payload_hash
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the hash of the header, which is the deprecated one."""
    model: YmjModel = subject.model
    old, new = header_hash(model), payload_hash(model)
    if old.entry is None or new.entry is None or old.text == new.text:
        return
    if is_sha256(old.text) and is_sha256(new.text):
        message = "`payload_sha256` of the header and `payload_hash` of the footer differ"
        there = (Annotation(new.entry.value.span, "the footer's hash"),)
        yield Problem("conflicting-hashes", message, old.entry.value.span, annotations=there)
