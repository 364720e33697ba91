"""Actions that several nodes of a site declare, by id (H11, HA13)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from prosa.diagnostics import Severity
from prosa.dialects.fields import shown
from prosa.rules.mdh import RULES
from prosa.rules.mdh.site import Page, neighbours, span_of
from prosa.rules.rule import Finding
from prosa.rules.subject import Corpus
from prosa.source import Span


class Declared(NamedTuple):
    """One declaration. ``contract`` maps the parts beyond method and URL to JSON."""

    page: Page
    id: str
    method: str
    url: str
    contract: dict[str, str]
    span: Span

    def seen_from(self, other: Declared) -> str:
        """Return the place of a declaration, relative to another one."""
        return "this node too" if self.page is other.page else self.page.facts.path


def repeated(corpus: Corpus) -> Iterator[tuple[Declared, Declared]]:
    """Yield the first declaration of an id in a site with each later one."""
    for pages in neighbours(corpus):
        first: dict[str, Declared] = {}
        for page in pages:
            for name, method, url, contract, span in page.facts.extra.get("actions", ()):
                later = Declared(page, name, method, url, dict(contract), span_of(span))
                earlier = first.setdefault(name, later)
                if earlier is not later:
                    yield earlier, later


def same_call(one: Declared, other: Declared) -> bool:
    """Return whether method and URL are equal, so that it is one action declared twice (HA13)."""
    return one.method == other.method and one.url.lstrip("/") == other.url.lstrip("/")


@RULES.corpus("MH054", "conflicting-action", Severity.ERROR)
def conflicting_action(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find two actions of one id that call different things (H11, HA13). The finding points at the id of the later
    one."""
    for first, later in repeated(corpus):
        if same_call(first, later):
            continue
        message = (
            f"the action id `{shown(later.id)}` stands for `{later.method} {shown(later.url)}` here and for"
            f" `{first.method} {shown(first.url)}` in {first.seen_from(later)}"
        )
        notes = ("an action id is unique in its site; give one of them another id",)
        yield later.page.real, Finding(message, later.span, notes)


@RULES.corpus("MH055", "drifting-action", Severity.WARNING)
def drifting_action(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find one action declared twice with different contracts (HA13, HW8). The finding points at the id of the later
    one. A part that only one of them has does not count: a short form may leave it out."""
    for first, later in repeated(corpus):
        parts = _differ(first, later) if same_call(first, later) else []
        if parts:
            names = ", ".join(f"`{part}`" for part in parts)
            message = f"the action `{shown(later.id)}` differs in {names} from the one in {first.seen_from(later)}"
            notes = ("an agent takes whichever it met last; make them alike",)
            yield later.page.real, Finding(message, later.span, notes)


def _differ(first: Declared, later: Declared) -> list[str]:
    return [part for part, value in later.contract.items() if first.contract.get(part, value) != value]
