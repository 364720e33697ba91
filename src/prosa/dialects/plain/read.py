"""Read plain Markdown: a front reading and a document in, a `PlainModel` out. Its front matter may hold anything, so
nothing in it is wrong; what is wrong in any document is found by rules."""

from __future__ import annotations

from prosa.data import Node, Scalar, Sequence
from prosa.diagnostics import Problem
from prosa.dialects.front import FrontReading
from prosa.dialects.plain.model import PlainModel
from prosa.document import Def, Document
from prosa.document.foreign import mdx_spans, shortcode_spans
from prosa.source import Span


def read(front: FrontReading, document: Document) -> tuple[PlainModel, tuple[Problem, ...]]:
    """The model; there are never problems."""
    title = front.fields.get("title") if front.fields else None
    aliases = front.fields.get("aliases") if front.fields else None
    return PlainModel(document, _title(title, document), _aliases(aliases)), ()


def masked(front: FrontReading) -> tuple[Span, ...]:
    """What is no Markdown in the body: the JavaScript of an MDX file, TOML in shortcodes."""
    text = front.source.slice(front.body)
    if front.source.path.lower().endswith(".mdx"):
        found = mdx_spans(text)
    else:
        found = shortcode_spans(text) if "{{<" in text and "[[" in text else iter(())
    return tuple(each.shift(front.body.start) for each in found)


def _title(node: Node | None, document: Document) -> Def | None:
    if isinstance(node, Scalar) and node.text.strip():
        return Def("title", node.text, node.span)
    first = next((each for each in document.headings if each.level == 1 and not each.nested and each.plain), None)
    return Def("title", first.plain, first.content) if first else None


def _aliases(node: Node | None) -> tuple[Def, ...]:
    """The items of a list; a single value is a list of one."""
    items = node.items if isinstance(node, Sequence) else (node,)
    return tuple(Def("alias", item.text, item.span) for item in items if isinstance(item, Scalar) and item.text.strip())
