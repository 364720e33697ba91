"""The links of a document that lead to files: what is left when everything is passed over that only a server, a
browser or a site generator could resolve.

In: a parsed document. Out: `LocalLink`s. It asks no file system; whether a target is there is asked by the rules of the
corpus, each time, because targets come and go without the document changing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from prosa.document import Document
from prosa.rules.subject import LocalLink
from prosa.source import Span

_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\~@?]")
"""A scheme, a path from the root of a site or of a disk, a home folder, an alias of a bundler, a bare query."""

_MADE_LATER = re.compile(r"[{}<>|*$`\\]")
"""Signs of placeholders that something fills in before the link is a link."""

_OWN_ANCHOR = re.compile(r"\{:?[^{}\n]*#([\w.:-]+)[^{}\n]*\}")
"""`# Heading {#anchor}`, as several generators write it."""

_LABEL = re.compile(r"\(([\w.:-]+)\)=")
"""`(anchor)=` on a line of its own, as MyST writes it."""

_ADDS = ("{{#", "{{<", "{%", "```{", ":::", "--8<--", "<!-- include", "![[")
"""Signs that parts of the page come from somewhere else."""


def local_links(document: Document) -> tuple[LocalLink, ...]:
    """Links and images written in place, and link definitions, in document order."""
    return tuple(sorted(_links(document), key=lambda link: link.start))


def wikilinks(document: Document) -> tuple[LocalLink, ...]:
    """The wikilinks; ``target`` is as written, without what follows `#` or `^`."""
    return tuple(
        LocalLink(link.target.strip(), link.fragment or "", link.span.start, link.span.end)
        for link in document.wikilinks
        if not _MADE_LATER.search(link.target)
    )


def anchors(document: Document) -> frozenset[str]:
    """The fragments that lead somewhere in the document, and `*` where a generator may add to them."""
    own = _OWN_ANCHOR.findall("\n".join(heading.text for heading in document.headings if "{" in heading.text))
    labels: list[str] = []
    if ")=" in document.source.text:  # paragraphs are built only where one can be a label
        labels = [found[1] for each in document.paragraphs if (found := _LABEL.match(each.text))]
    added = ["*"] if any(mark in document.source.text for mark in _ADDS) else []
    return document.anchors.union(own, labels, added)


def _links(document: Document) -> Iterator[LocalLink]:
    written = [each for each in (*document.links, *document.images) if each.form == "inline"]
    places = [(each.destination, each.destination_span or each.span) for each in written]
    places += [(each.destination, each.destination_span or each.span) for each in document.definitions]
    for destination, span in places:
        found = _local(destination, span, document)
        if found is not None:
            yield found


def _local(destination: str, span: Span, document: Document) -> LocalLink | None:
    if not destination or _ELSEWHERE.match(destination) or _MADE_LATER.search(destination):
        return None
    if "{{" in document.source.slice(span):
        return None  # a template action, which the parser saw masked
    path, _, fragment = destination.partition("#")
    path = path.partition("?")[0]
    return LocalLink(_decoded(path), _decoded(fragment), span.start, span.end)


def _decoded(text: str) -> str:
    return unquote(text) if "%" in text else text
