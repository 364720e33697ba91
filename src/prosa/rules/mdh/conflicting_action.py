"""`conflicting-action`: two actions of one id that call different things (H11, HA13)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.mdh.declared_actions import repeated, same_call
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the id of the later one."""
    for first, later in repeated(corpus):
        if same_call(first, later):
            continue
        message = (
            f"the action id `{shown(later.id)}` stands for `{later.method} {shown(later.url)}` here and for"
            f" `{first.method} {shown(first.url)}` in {first.seen_from(later)}"
        )
        notes = ("an action id is unique in its site; give one of them another id",)
        yield later.page.real, Problem("conflicting-action", message, later.span, notes)
