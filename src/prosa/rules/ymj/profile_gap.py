"""`profile-gap`: what records of this kind usually have and this one lacks (Y30). Never more than a hint."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.profiles import lacking, profile_of
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At `kind`, one for the whole record."""
    model: YmjModel = subject.model
    entry, wanted = model.fields.get("kind"), profile_of(model)
    if entry is None or wanted is None or model.footer is None:
        return
    missing = tuple(lacking(model, wanted))
    if missing:
        message = f"records like this one ({wanted.title}) usually also have {', '.join(missing)}"
        yield Problem("profile-gap", message, entry.value.span, (f"see: prosa new ymj --profile {wanted.name}",))
