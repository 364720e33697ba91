"""The actions of the nodes that are considered together, by id (H11, HA13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from prosa.rules.mdh.site import Page, neighbours, span_of
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
        """Where it is, for people who look at another declaration."""
        return "this node too" if self.page is other.page else self.page.facts.path


def repeated(corpus: Corpus) -> Iterator[tuple[Declared, Declared]]:
    """The first declaration of an id in a site with each later one."""
    for pages in neighbours(corpus):
        first: dict[str, Declared] = {}
        for page in pages:
            for name, method, url, contract, span in page.facts.extra.get("actions", ()):
                later = Declared(page, name, method, url, dict(contract), span_of(span))
                earlier = first.setdefault(name, later)
                if earlier is not later:
                    yield earlier, later


def same_call(one: Declared, other: Declared) -> bool:
    """Whether method and URL are the same, so that it is one action said twice (HA13)."""
    return one.method == other.method and one.url.lstrip("/") == other.url.lstrip("/")
