"""Where the links of a node lead (H3, H10, HA4, HA6, HA9). In: destinations as written and the URL of the node. Out:
absolute URLs without their fragment. Nothing is asked for here.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

from prosa.dialects.mdh.url import target_of
from prosa.source.url import normal_url, origin_of


@dataclass(frozen=True, slots=True)
class LinkEntry:
    """An entry of `links`, as texts; what is not there is empty (H10). ``href`` and ``title`` are of later forms."""

    rel: str = ""
    target: str = ""
    href: str = ""
    title: str = ""

    @property
    def node_id(self) -> str:
        """The id of the node it leads to; empty where it names a URL."""
        target = target_of(self.target) if self.target else None
        return target.text if target is not None and target.kind == "id" else ""

    def url(self, base: str) -> str:
        """Where it leads by itself: its `href`, or a target that is a URL or path (HA4). Empty for the id of a node."""
        target = target_of(self.target) if self.target else None
        written = self.href or (target.text if target is not None and target.kind != "id" else "")
        return led(base, written) if written else ""


@dataclass(frozen=True, slots=True)
class InlineLink:
    """A link of the body: its text, its destination as written, the absolute URL, whether that is of the same site.

    ``url`` is empty for what is not fetched over HTTP, such as `mailto:`.
    """

    text: str
    href: str
    url: str
    same_site: bool


def inline_link(text: str, href: str, base: str) -> InlineLink:
    """A link of the body of the node at ``base``."""
    url = led(base, href)
    return InlineLink(" ".join(text.split()), href, url, bool(url) and same_site(url, base))


def led(base: str, href: str) -> str:
    """The URL that a destination means, by RFC 3986; empty where that is none of http or https, or unreadable."""
    try:
        return normal_url(urldefrag(urljoin(base, href.strip()))[0])
    except ValueError:
        return ""


def same_site(url: str, other: str) -> bool:
    """Whether two URLs have one origin; not where one of them has none."""
    try:
        return origin_of(url) == origin_of(other)
    except ValueError:
        return False
