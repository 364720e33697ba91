"""The typed reading of a node (H9–H15). Everything carries its span; absent fields are None.

The model holds what is written, not what is allowed: the reader reports and leaves out a field of the wrong shape.
"""

from __future__ import annotations

from msgspec import Struct

from prosa.data import Mapping, Node, Scalar, Value
from prosa.dialects.fields import shown
from prosa.dialects.mdh.fields import METHODS
from prosa.source import SourceText, Span


class Text(Struct, frozen=True):
    """A text of the front matter and where it stands. ``span`` covers its quotes too."""

    text: str
    span: Span

    @classmethod
    def of(cls, scalar: Scalar) -> Text:
        """Return the source text of a scalar (X1)."""
        return cls(scalar.text, scalar.span)


class LinkModel(Struct, frozen=True):
    """An entry of `links` (H10). ``target`` is a node id or `url:…` (HA4); ``href`` a URL path (HA9)."""

    rel: Text | None
    target: Text | None
    href: Text | None
    span: Span


class InlineLink(Struct, frozen=True):
    """A link of the body (H3). ``href`` is its destination; ``span`` the place of the destination, else of the link;
    ``start`` the offset of the link.

    Images, code and links of other formats do not count (HA5).
    """

    href: str
    span: Span
    start: int


class WikilinkModel(Struct, frozen=True):
    """`[[target#fragment|label]]` in the body: earlier versions had them, no client follows them (HA22)."""

    target: str
    label: str | None
    fragment: str | None
    embed: bool
    span: Span


class AuthModel(Struct, frozen=True):
    """`auth` of an action (H12). ``place`` and ``name`` are `in` and `name` of an api_key (HA15)."""

    type: Text | None
    token_help: Text | None
    place: Text | None
    name: Text | None
    token_url: Text | None
    node: Mapping


class QueryModel(Struct, frozen=True):
    """`query` of an action (H13, HA11). ``described`` are the keys of `properties`."""

    required: tuple[Text, ...]
    optional: tuple[Text, ...]
    described: tuple[Text, ...]

    @property
    def names(self) -> frozenset[str]:
        """Every declared parameter; one that is only described is optional."""
        return frozenset(text.text for text in (*self.required, *self.optional, *self.described))


class PaginationModel(Struct, frozen=True):
    """`pagination` of an action (H15). The paths are JSONPath texts as written."""

    type: Text | None
    cursor_param: Text | None
    limit_param: Text | None
    next_cursor: Text | None
    prev_cursor: Text | None
    next_link: Text | None
    self_link: Text | None
    span: Span


class SchemaRef(Struct, frozen=True):
    """`body_schema`: a URL, or a schema with its plain value (HA16). ``valid`` is true if it compiles."""

    url: Text | None
    node: Node
    value: Value
    valid: bool


class ActionModel(Struct, frozen=True):
    """A callable HTTP operation (H5, H11). ``anchor`` is its first key, ``path_names`` the names in its URL (HA10)."""

    node: Mapping
    anchor: Span
    id: Text | None
    title: Text | None
    method: Text | None
    url: Text | None
    path_names: tuple[str, ...]
    accept: Text | None
    content_type: Text | None
    auth: AuthModel | None
    query: QueryModel | None
    body_schema: SchemaRef | None
    response_schema: Text | None
    pagination: PaginationModel | None
    examples: tuple[Node, ...]

    @property
    def verb(self) -> str:
        """The method in upper case, valid or not; empty if there is none."""
        return self.method.text.upper() if self.method else ""

    @property
    def changes_state(self) -> bool:
        """Whether the method is one of those that change something (H5)."""
        return self.verb in METHODS and self.verb != "GET"

    @property
    def title_for_people(self) -> str:
        """What to call it in a message."""
        named = self.id or self.title or self.url
        return f"the action `{shown(named.text)}`" if named else "an action without id"


class NodeModel(Struct, frozen=True):
    """A node: one document of a site (H2, H9)."""

    source: SourceText
    fields: Mapping | None
    anchor: Span
    body: Span
    id: Text | None
    type: Text | None
    title: Text | None
    summary: Text | None
    updated: Text | None
    canonical_url: Text | None
    aliases: tuple[Text, ...]
    tags: tuple[Text, ...]
    links: tuple[LinkModel, ...]
    actions: tuple[ActionModel, ...]
    inline_links: tuple[InlineLink, ...]
    wikilinks: tuple[WikilinkModel, ...]
