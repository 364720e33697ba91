"""`drifting-action`: one action said twice with different contracts (HA13, HW8)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.mdh.declared_actions import Declared, repeated, same_call
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the id of the later one. A part that only one of them has is no difference: a short form may leave it out."""
    for first, later in repeated(corpus):
        parts = _differ(first, later) if same_call(first, later) else []
        if parts:
            names = ", ".join(f"`{part}`" for part in parts)
            message = f"the action `{shown(later.id)}` differs in {names} from the one in {first.seen_from(later)}"
            notes = ("an agent takes whichever it met last; make them alike",)
            yield later.page.real, Problem("drifting-action", message, later.span, notes)


def _differ(first: Declared, later: Declared) -> list[str]:
    return [part for part, value in later.contract.items() if first.contract.get(part, value) != value]
