"""A document as a node of a site, the source of all its forms (H2, H7, HA2). Plain values.

`identity` makes it from a document of any dialect: required fields that the author did not write are derived. Nothing
is served, looked up or run here.
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

    ``path`` is the file below the root of the site, with `/`; empty for a node without a file. ``url`` is its `md_url`
    without the prefix of the site. ``derived`` are the added front matter fields, in order, empty for an MDH node;
    ``fields`` all fields of the resulting front matter. ``markdown`` are the bytes of its Markdown form, ``body`` the
    text below its front matter. ``reading`` is None for a node without a file. ``lent`` is inherited from meta files:
    `value` and `by`, by field. ``layout`` is the name of a class for its page; ``tags`` are those in its text.
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

    ``url`` is empty if it is not a node. ``rel`` is the relation seen from the node, empty for a plain link. ``note``
    is the author's description. ``external`` marks an absolute URL.
    """

    title: str
    url: str
    rel: str = ""
    note: str = ""
    external: bool = False


class Around(Struct, frozen=True):
    """The connections of a node: typed ``relationships`` both ways, plain ``links`` of its own, ``backlinks`` of
    others, each document once; for a document that represents a folder, what is ``inside``."""

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
