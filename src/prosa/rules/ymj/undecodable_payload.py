"""`undecodable-payload`: a payload that is not in the encoding its record names (YA22)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import Subject
from prosa.rules.ymj.place_of_payload import failed


def check(subject: Subject) -> Iterator[Problem]:
    """At `body_encoding`."""
    found = failed(subject.model, "encoding")
    if found is not None:
        payload, span = found
        yield Problem("undecodable-payload", f"the payload cannot be decoded: {payload.reason}", span)
