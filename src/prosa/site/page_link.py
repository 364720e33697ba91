"""The targets of the links of a node (H3, H10, HA4, HA6, HA9). In: destinations as written and the URL of the node.
Out: absolute URLs without their fragment. Nothing is requested here."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urldefrag, urljoin

from msgspec import Struct

from prosa.dialects.mdh.url import target_of
from prosa.regex import regex
from prosa.source.url import MAX_URL, is_normal, normal_url, origin_of

_PLAIN = regex(r"(/|(?:\.\./)*)((?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*/)*[A-Za-z0-9_~-][A-Za-z0-9._~-]*/?)(?:#[!-~]*)?")
"""A path that needs no escape: from the root, or relative; every segment of it is a name."""


class LinkEntry(Struct, frozen=True):
    """An entry of `links`, as texts; absent ones are empty (H10). ``href`` and ``title`` are of later forms."""

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
        """Return its own target: its `href`, or a target that is a URL or path (HA4). Empty for the id of a node."""
        target = target_of(self.target) if self.target else None
        written = self.href or (target.text if target is not None and target.kind != "id" else "")
        return led(base, written) if written else ""


class InlineLink(Struct, frozen=True):
    """A link of the body: its text, its destination as written, the absolute URL, whether that is of the same site.

    ``url`` is empty for schemes other than HTTP, such as `mailto:`.
    """

    text: str
    href: str
    url: str
    same_site: bool


def inline_link(text: str, href: str, base: str) -> InlineLink:
    """Return a link of the body of the node at ``base``."""
    url = led(base, href)
    return InlineLink(" ".join(text.split()), href, url, bool(url) and same_site(url, base))


def led(base: str, href: str) -> str:
    """Return the URL that a destination means, by RFC 3986; empty where that is none of http or https, or
    unreadable."""
    href = href.strip()
    if plain := _PLAIN.fullmatch(href):
        folder = _folder(base, plain[1])
        if folder and len(folder) + len(plain[2]) <= MAX_URL:
            return folder + plain[2]
    try:
        return normal_url(urldefrag(urljoin(base, href))[0])
    except ValueError:
        return ""


@lru_cache(maxsize=256)
def _folder(base: str, up: str) -> str:
    """Return the folder of a URL, or its root, or a folder above it (`../`), with a slash at its end; empty if cutting
    is not enough. Cached, since the links of a page start from few folders."""
    if not is_normal(base):
        return ""
    scheme, _, rest = base.partition("://")
    host, *path = rest.split("/")
    if up == "/":
        path = [""]
    above = up.count("../")
    if "" in path[:-1] or above >= len(path):
        return ""
    return "/".join([f"{scheme}://{host}", *path[: len(path) - 1 - above], ""])


def same_site(url: str, other: str) -> bool:
    """Return whether two URLs have one origin; not where one of them has none."""
    try:
        return origin_of(url) == origin_of(other)
    except ValueError:
        return False
