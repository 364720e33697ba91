"""`identity-mirror`: a key of `index` that repeats a field of the header (Y13, YA1)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.ymj.format import mirror_edits, mirrors
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the key. Taking out a mirror that says something else is left to the author (X22)."""
    model: YmjModel = subject.model
    for each in mirrors(model):
        name = each.entry.key.text
        applicability = Applicability.SAFE if each.equal else Applicability.UNSAFE
        fix = Fix(f"remove `index.{name}`", mirror_edits(model, [name]), applicability)
        other = "" if each.equal else ", and says something else"
        message = f"`index.{name}` repeats `{each.field}` of the header{other}; it is ignored"
        yield Problem("identity-mirror", message, each.entry.key.span, fix=fix)
