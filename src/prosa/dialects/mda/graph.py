"""What an MDA document points at, and can be pointed at by (X21): relationships by `doc-id`, dependencies by name with
their ranges, and what a host has to have."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, Scalar, Sequence
from prosa.dialects.fields import text_of
from prosa.dialects.mda.model import MdaModel, Relation
from prosa.document import Def, Ref, link_references
from prosa.document.references import DefKind
from prosa.regex import regex

DEPENDS, REQUIRES = "depends-on", "requires"

_CAPABILITY = regex(r"([^\s<>=~^!]+)\s*(.*)")
_NEEDS = ("runtime", "tools", "packages")


def references(model: MdaModel) -> tuple[Ref, ...]:
    """Return the relationships, from the footnotes, else from the front matter; the dependencies; and what a host has
    to have, which is no document. Links of the text count as in any Markdown."""
    relations = model.relations or model.listed or ()
    refs = [ref for relation in relations if (ref := _relation(relation)) is not None]
    refs += (
        Ref("front-matter", dependency.name, "name", dependency.span, DEPENDS, range=dependency.range)
        for dependency in model.dependencies
        if dependency.name
    )
    return (*refs, *_capabilities(model), *link_references(model.document))


def definitions(model: MdaModel) -> tuple[Def, ...]:
    """Return the id, the title and the name of the document."""
    kinds: tuple[tuple[str, DefKind], ...] = (("doc-id", "id"), ("title", "title"), ("name", "alias"))
    return tuple(Def(kind, text, model.span(name)) for name, kind in kinds if (text := model.text(name)))


def _relation(relation: Relation) -> Ref | None:
    node = relation.node
    target, rel, strength = node.entry("doc-id"), text_of(node.entry("rel-type")), node.get("rel-strength")
    if target is None or not (name := text_of(target)):
        return None
    both = node.get("bi-directional")
    value = strength.value if isinstance(strength, Scalar) else None
    return Ref(
        origin="footnote" if relation.definition is not None else "front-matter",
        target=name,
        kind="id",
        span=target.value.span,
        rel=rel,
        strength=float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None,
        bidirectional=isinstance(both, Scalar) and both.value is True,
    )


def _capabilities(model: MdaModel) -> Iterator[Ref]:
    requires = model.extended.get("requires")
    node = requires.value if requires is not None else None
    for name in _NEEDS if isinstance(node, Mapping) else ():
        listed = node.get(name) if isinstance(node, Mapping) else None
        for item in listed.items if isinstance(listed, Sequence) else ():
            match = _CAPABILITY.fullmatch(item.text.strip()) if isinstance(item, Scalar) else None
            if match is not None:
                target, limits = (match[1], match[2]) if name != "tools" else (match[0], "")
                yield Ref("front-matter", target, "capability", item.span, REQUIRES, range=limits)
