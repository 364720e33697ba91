"""A document as a node of a site: what every form of it is made of (H2, H7, HA2). Plain values.

`identity` makes it of a document of any dialect: the fields that a node must have and the author did not write are
derived. Nothing is served, looked up or run here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

from prosa.data import Value
from prosa.dialects import DialectName
from prosa.dialects.reading import DialectReading

Form: TypeAlias = Literal["markdown", "json", "html"]
"""The forms that one URL has (H8)."""


class TypedLink(NamedTuple):
    """An entry of `links` (H10): the relation, and a node id or `url:…`."""

    rel: str
    target: str


class NodeView(Struct, frozen=True):
    """A node.

    ``path`` is the file below the root of the site, with `/`; empty for a node that no file stands for. ``url`` is its
    `md_url` without the prefix of the site. ``derived`` are the front matter fields that were added, in order, empty
    for an MDH node; ``fields`` everything that its front matter says then. ``markdown`` are the bytes of its Markdown
    form, ``body`` the text below its front matter. ``reading`` is None for a node that no file stands for. ``lent`` is
    what meta files lend it: `value` and `by`, by field. ``layout`` is the name of a class for its page; ``tags`` are
    those in its text.
    """

    path: str
    url: str
    dialect: DialectName | Literal["listing"]
    id: str
    type: str
    title: str
    summary: str
    markdown: bytes
    body: str
    fields: Mapping[str, Value]
    derived: Mapping[str, Value] = field(default_factory=dict)
    actions: tuple[Mapping[str, Value], ...] = ()
    reading: DialectReading[object] | None = None
    lent: Mapping[str, Value] = field(default_factory=dict)
    layout: str = ""
    tags: tuple[str, ...] = ()


class Neighbour(NamedTuple):
    """A document that a node is connected with.

    ``url`` is empty where it leads to no node. ``rel`` is the relation as read from the node, empty for a plain link.
    ``note`` is what the author says of it. ``external`` marks an absolute URL.
    """

    title: str
    url: str
    rel: str = ""
    note: str = ""
    external: bool = False


class Around(Struct, frozen=True):
    """What stands around a node: typed ``relationships`` both ways, plain ``links`` of its own, ``backlinks`` of
    others, each document once; of a document that stands for a folder, what is ``inside``."""

    relationships: tuple[Neighbour, ...] = ()
    links: tuple[Neighbour, ...] = ()
    backlinks: tuple[Neighbour, ...] = ()
    inside: tuple[Neighbour, ...] = ()


class NodeRow(NamedTuple):
    """A node in a list: what the indexes of a site say of it (HA1)."""

    id: str
    type: str
    title: str
    url: str
    path: str
    dialect: str
    updated: str = ""
