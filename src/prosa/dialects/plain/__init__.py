"""Plain Markdown: a document that no other dialect claims. It has links, a title and aliases.

Its front matter may hold anything, so nothing in it is wrong; rules find the problems of any document. Without a
dialect no form of Markdown is preferred, so nothing is formatted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.data import Node, Scalar, Sequence, Value
from prosa.data.yaml_write import write_yaml
from prosa.diagnostics import Problem
from prosa.dialects.dialect import Dialect, FormatOptions
from prosa.dialects.fields import Field
from prosa.dialects.front import FrontReading
from prosa.document import Def, Document, Ref, link_references
from prosa.document.foreign import mdx_spans, shortcode_spans
from prosa.source import Edit, Span

if TYPE_CHECKING:
    from prosa.dialects.facts import PlainFacts

__all__ = [
    "DIALECT",
    "DOCUMENT",
    "PlainModel",
    "definitions",
    "facts",
    "format_edits",
    "masked",
    "read",
    "references",
    "write",
]

DOCUMENT: tuple[Field, ...] = (
    Field("title", "string", about="what others can call the document"),
    Field("aliases", "strings", about="a list of other names by which wikilinks find it"),
)
"""The fields that any document may have."""


class PlainModel(Struct, frozen=True):
    """``title`` is the field `title`, else the heading that names the document (X45), else None.
    ``aliases`` are the items of the field `aliases`."""

    document: Document
    title: Def | None
    aliases: tuple[Def, ...]


def read(front: FrontReading, document: Document) -> tuple[PlainModel, tuple[Problem, ...]]:
    """Return the model; there are never problems."""
    title = front.fields.get("title") if front.fields else None
    aliases = front.fields.get("aliases") if front.fields else None
    return PlainModel(document, _title(title, document), _aliases(aliases)), ()


def masked(front: FrontReading) -> tuple[Span, ...]:
    """Return the parts of the body that are not Markdown: the JavaScript of an MDX file, TOML in shortcodes."""
    text, mdx = front.source.text, front.source.path.lower().endswith(".mdx")
    if not mdx and not ("{" in text and "{{<" in text and "[[" in text):
        return ()  # as most, whose body is not cut out
    body = front.source.slice(front.body)
    return tuple(span.shift(front.body.start) for span in (mdx_spans(body) if mdx else shortcode_spans(body)))


def _title(node: Node | None, document: Document) -> Def | None:
    if isinstance(node, Scalar) and node.text.strip():
        return Def("title", node.text, node.span)
    first = document.title
    return Def("title", first.plain, first.content) if first else None


def _aliases(node: Node | None) -> tuple[Def, ...]:
    """Return the items of a list; a single value is a list of one."""
    items = node.items if isinstance(node, Sequence) else (node,)
    return tuple(Def("alias", item.text, item.span) for item in items if isinstance(item, Scalar) and item.text.strip())


def references(model: PlainModel) -> tuple[Ref, ...]:
    """Return links and wikilinks."""
    return link_references(model.document)


def definitions(model: PlainModel) -> tuple[Def, ...]:
    """Return the title and the aliases."""
    return (*((model.title,) if model.title else ()), *model.aliases)


def facts(_: PlainModel) -> PlainFacts:
    """No further keys."""
    return {"dialect": "plain"}


def format_edits(_model: PlainModel, _options: FormatOptions) -> tuple[Edit, ...]:
    """Return no edits: without a dialect no form of Markdown is preferred."""
    return ()


def write(fields: Mapping[str, Value], body: str) -> str:
    """Return the document. Raises ValueError for data nested too deep, TypeError for anything but plain data."""
    text = body.lstrip("\r\n")
    if not fields:
        return text
    return f"---\n{write_yaml(dict(fields))}---\n" + (f"\n{text}" if text else "")


DIALECT: Dialect[PlainModel] = Dialect(
    name="plain",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    masked=masked,
    format_edits=format_edits,
)
