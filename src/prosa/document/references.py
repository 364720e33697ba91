"""References and definitions: what a document points at, and what other documents can point at in it.

Dialects emit them; only `graph/resolve.py` makes edges of them. Both are plain values, cheap to compare and to send to
another process. `link_references` returns the references of any Markdown document, for all dialects.
"""

# Without postponed annotations: a decoder of what is cached compiles each of those when it is made.

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from prosa.regex import regex
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.document.document import Document

Origin: TypeAlias = Literal[
    "footnote", "front-matter", "inline", "wikilink", "ops.graph", "ops.ticket", "ops.trace", "import", "include"
]
"""Where a reference is written; interface.md, `graph`."""

RefKind: TypeAlias = Literal["id", "path", "url", "stem", "name", "capability"]
"""What a target is: a document's id; a path relative to the document; an absolute URL; a file name without suffix; the
name that a document gives itself; what a host has, which is no document."""

DefKind: TypeAlias = Literal["id", "title", "alias"]

MADE_LATER = regex(r"[{}<>|*$`\\]")
"""Signs of placeholders that something fills in before a path or a name is one."""

_NAMED_LATER = regex(r"[{}|*$`\\]")
"""The same in a wikilink: a file name may contain an angle bracket."""

_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_WEB = regex(r"https?://|//", re.IGNORECASE)


class Ref(Struct, frozen=True):
    """A reference. ``target`` is as written, without its fragment and percent-decoded where it is a path; ``fragment``
    is what followed `#`. ``rel``, ``strength``, ``bidirectional`` and ``range``, which are the versions that are meant,
    are set by the dialect."""

    origin: Origin
    target: str
    kind: RefKind
    span: Span
    rel: str | None = None
    strength: float | None = None
    bidirectional: bool = False
    fragment: str = ""
    range: str = ""


class Def(Struct, frozen=True):
    """Something that can be pointed at: a document by its id, its title or another name."""

    kind: DefKind
    name: str
    span: Span


def is_named_later(target: str) -> bool:
    """Return whether the target of a wikilink holds a placeholder, so that it names nothing yet."""
    return _NAMED_LATER.search(target) is not None


def link_references(document: "Document") -> tuple[Ref, ...]:
    """Return what the links and wikilinks of a document point at, in document order.

    Left out are links within the document, addresses that are no documents (`mailto:`), and images, which are part of
    the document that shows them. The span is the destination as written, of a reference link the link itself.
    """
    return tuple(sorted((*_links(document), *_wikilinks(document)), key=lambda ref: ref.span.start))


def address_references(document: "Document") -> Iterator[Ref]:
    """Yield what the addresses in running text point at, but for those of mail and those with a placeholder."""
    for start, end, url in document.addresses:
        if not url.startswith("mailto:") and not MADE_LATER.search(url):
            target, _, fragment = url.partition("#")
            yield Ref("inline", target, "url", Span(start, end), fragment=fragment)


def _links(document: "Document") -> Iterator[Ref]:
    for link in document.links:
        span = link.span if link.destination_span is None else link.destination_span
        if _WEB.match(link.destination):
            target, _, fragment = link.destination.partition("#")
            yield Ref("inline", target, "url", span, fragment=fragment)
        elif not _SCHEME.match(link.destination):
            path, _, fragment = link.destination.partition("#")
            path = path.partition("?")[0]
            if path:
                yield Ref("inline", _decoded(path), "path", span, fragment=_decoded(fragment))


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote  # only here: few texts need it

    return unquote(text)


def _wikilinks(document: "Document") -> Iterator[Ref]:
    for link in document.wikilinks:
        if link.target:
            yield Ref("wikilink", link.target, "stem", link.span, fragment=link.fragment or "")
