"""`unverified-signature`: a signature that nobody has checked, for want of a key (YA23)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the signature."""
    model: YmjModel = subject.model
    entry = model.ops.get("data_signature")
    if entry is not None:
        message = "the signature of the record was not verified: no key was given"
        note = "it signs the text of `payload_hash`; do not rely on it before it is verified"
        yield Problem("unverified-signature", message, entry.key.span, (note,))
