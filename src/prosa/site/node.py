"""A node for a client: its identity, links and actions, out of its Markdown or its JSON form (HA8).

Reading never fails: invalid links and actions are left out, and an action that cannot be called is refused at the call.
Tolerated shapes are listed in ``notes``. Targets of links are absolute URLs without fragment (H3, H10, HA4, HA6, HA9).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, TypeAlias
from urllib.parse import urldefrag, urljoin

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Mapping as Fields
from prosa.data import Scalar, Sequence, Value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.front import FrontReading
from prosa.dialects.mdh.facts import action_value
from prosa.dialects.mdh.url import target_of
from prosa.dialects.reading import open_as
from prosa.dialects.table import MDH
from prosa.regex import regex
from prosa.source import SourceText
from prosa.source.url import MAX_URL, is_normal, normal_url, origin_of

Form: TypeAlias = Literal["markdown", "json", "html"]

MAX_LINKS = 10_000
"""Links of one kind that are read of a page."""

_FRONT = ("meta", "front_matter", "frontmatter")
"""Where the JSON of a node may have its front matter, when it is not at the top: the first site's `meta` (HA8)."""

_RAW = ("frontmatter_raw", "front_matter_raw")
_OWN = frozenset({"body", "md_url", *_FRONT, *_RAW})
"""Keys of the JSON of a node that are no front matter."""

NO_FRONT = "the page has no front matter, so it has no id, type and title"
SINGULAR = "`action` is read as `actions` with one entry"
WITH_HREF = "a link has `href`, which is followed in place of its target"
BELOW = "the front matter of the JSON is below `{}`, not at the top"


class SiteNode(Struct, frozen=True):
    """``name`` is its name in messages; ``actions`` are plain data, in their order.

    ``url`` is where it was read, ``md_url`` where its Markdown is; ``form`` the form that was read. ``markdown`` is
    the whole text, made from the fields if the site has none; ``body`` the text after the front matter. ``notes`` list
    tolerated shapes.
    """

    name: str
    actions: tuple[Mapping[str, Value], ...]
    url: str = ""
    md_url: str = ""
    form: Form = "markdown"
    id: str = ""
    type: str = ""
    title: str = ""
    summary: str = ""
    links: tuple[LinkEntry, ...] = ()
    inline_links: tuple[InlineLink, ...] = ()
    body: str = ""
    markdown: str = ""
    notes: tuple[str, ...] = ()

    def action(self, name: str) -> Mapping[str, Value] | None:
        """Return the action of that id, None without one; of several the first."""
        return next((action for action in self.actions if str(action.get("id", "")) == name), None)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its actions."""
        return tuple(str(action["id"]) for action in self.actions if action.get("id"))


def node_of_text(text: str, name: str, *, url: str = "", md_url: str = "", form: Form = "markdown") -> SiteNode:
    """Return the node that a Markdown document is. `action` counts as `actions` with one entry (HA9)."""
    reading = open_as(SourceText(text, name), MDH)
    front, model = reading.front, reading.model
    titles = (model.id, model.type, model.title, model.summary)
    node_id, kind, title, summary = (field.text if field else "" for field in titles)
    links = _links_written(front)
    notes = _notes(no_front=front.fields is None, singular=_has(front, "action"), links=links)
    base = md_url or url
    inline = tuple(
        inline_link(text[link.text_span.start : link.text_span.end], link.destination, base)
        for link in reading.document.links[:MAX_LINKS]
    )
    body = text[front.body.start : front.body.end]
    actions = tuple(map(action_value, model.actions))
    return SiteNode(name, actions, url, base, form, node_id, kind, title, summary, links, inline, body, text, notes)


def node_of_json(value: Value, name: str, *, url: str = "") -> SiteNode:
    """Return the node that a JSON value is: its front matter at the top, or below `meta` (HA8)."""
    whole = value if isinstance(value, Mapping) else {}
    nested = ((key, member) for key in _FRONT if isinstance(member := whole.get(key), Mapping))
    below, fields = ("", whole) if "actions" in whole or "action" in whole else next(nested, ("", whole))
    items = [item for key in ("actions", "action") for item in _many(fields.get(key))]
    actions = tuple(item for item in items if isinstance(item, Mapping))
    md_url = led(url, _text(whole.get("md_url"))) if url and whole.get("md_url") else url
    markdown = _markdown(whole, fields)
    read = node_of_text(markdown, name, url=url, md_url=md_url, form="json")
    links = tuple(_link(item) for item in _many(fields.get("links")) if isinstance(item, Mapping))[:MAX_LINKS]
    empty = not any(key not in _OWN for key in fields)
    notes = _notes(no_front=empty, singular=fields.get("action") is not None, links=links)
    if below:
        notes = (BELOW.format(below), *notes)
    node_id, kind, title, summary = (_text(fields.get(key)) for key in ("id", "type", "title", "summary"))
    read = replace(read, id=node_id, type=kind, title=title, summary=summary)
    return replace(read, actions=actions, links=links, notes=notes)


def is_node_json(value: Value) -> bool:
    """Return whether a JSON value has anything of a node: answers of actions have not."""
    if not isinstance(value, Mapping):
        return False
    known = {"md_url", "actions", "action", *_FRONT, *_RAW}
    return not known.isdisjoint(value) or {"id", "type", "title"} <= set(value)


def _links_written(front: FrontReading) -> tuple[LinkEntry, ...]:
    node = front.fields.get("links") if front.fields is not None else None
    items = node.items if isinstance(node, Sequence) else ()
    return tuple(
        _link({entry.key.text: entry.value.text for entry in item if isinstance(entry.value, Scalar)})
        for item in items[:MAX_LINKS]
        if isinstance(item, Fields)
    )


def _link(fields: Mapping[str, Value]) -> LinkEntry:
    return LinkEntry(*(_text(fields.get(name)) for name in ("rel", "target", "href", "title")))


def _has(front: FrontReading, name: str) -> bool:
    return front.fields is not None and front.fields.get(name) is not None


def _notes(*, no_front: bool, singular: bool, links: tuple[LinkEntry, ...]) -> tuple[str, ...]:
    notes = ((no_front, NO_FRONT), (singular, SINGULAR), (any(link.href for link in links), WITH_HREF))
    return tuple(text for holds, text in notes if holds)


def _markdown(whole: Mapping[str, Value], fields: Mapping[str, Value]) -> str:
    """Return the Markdown of a node that came as JSON: the site's front matter, else made from the fields."""
    body = _text(whole.get("body"))
    raw = next((_text(whole[key]) for key in _RAW if isinstance(whole.get(key), str)), "")
    if raw.strip():
        text = raw.strip("\r\n")
        return f"{text if text.startswith('---') else f'---{chr(10)}{text}{chr(10)}---'}\n{body}"
    kept = {str(key): value for key, value in fields.items() if key not in _OWN or fields is not whole}
    try:
        return f"---\n{write_yaml(kept)}---\n{body}" if kept else body
    except (ValueError, TypeError):
        return body  # nested deeper than any front matter


def _text(value: Value) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _many(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]


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
