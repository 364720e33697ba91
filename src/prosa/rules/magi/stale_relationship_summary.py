"""`stale-relationship-summary`: `relationships` that no longer say what the footnotes say (M21, MA19)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import shown
from prosa.dialects.magi.format import disagreement, listed
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject

MAX_FOUND = 20
"""Sentences of one document that are reported; after so many it is clear that the list is old."""

MAX_NAMED = 3
"""Footnotes that the message names."""

_NOTE = "`prosa fmt --sync` writes the list anew from the footnotes"


def check(subject: Subject) -> Iterator[Problem]:
    """At the sentence, or at the field for what it leaves out. Sentences in the author's own words are information
    only: they may say the same in words that no footnote has."""
    yield from islice(_problems(subject.model), MAX_FOUND)


def _problems(model: MagiModel) -> Iterator[Problem]:
    found, entry = disagreement(model), listed(model)
    for item in found.wrong:
        message = f"no footnote says `{shown(item.text)}`"
        yield Problem("stale-relationship-summary", message, item.span, (_NOTE,))
    for item in found.foreign:
        message = f"`{shown(item.text)}` shares no word with any relationship in the footnotes"
        yield Problem("stale-relationship-summary", message, item.span, (_NOTE,), severity=Severity.INFO)
    if found.left_out and entry is not None:
        labels = ", ".join(f"`[^{shown(each.label)}]`" for each in found.left_out[:MAX_NAMED])
        more = ", …" if len(found.left_out) > MAX_NAMED else ""
        message = f"`{entry.key.text}` says nothing of {labels}{more}"
        yield Problem("stale-relationship-summary", message, entry.key.span, (_NOTE,))
