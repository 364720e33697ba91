"""Relations that a project declares in front matter: fields of any dialect whose values name other documents.

In: a front matter, and the fields with the type of relationship of each, from `[relations]` in `prosa.toml`. Out:
references. A value is `[[a name]]`, a path, a URL, or the name, the title or the id of a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from prosa.data import Mapping, Node, Scalar, Sequence
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.document.references import Ref
from prosa.regex import regex

Relations: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a field and a type of relationship."""

_WIKILINK = regex(r"!?\[\[([^\[\]|#^]*)(?:[#^]([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
_URL = regex(r"https?://", re.IGNORECASE)


def relation_refs(fields: Mapping | None, relations: Relations) -> Iterator[Ref]:
    """Yield the references of the fields, in the order of the relations; the span is the value."""
    for name, rel in relations if fields is not None else ():
        node = fields.get(name) if fields is not None else None
        yield from (ref for item in _items(node) if (ref := _ref(item, rel)) is not None)


def _items(node: Node | None) -> Iterator[Scalar]:
    """Yield the values of a field: one, or those of a list. Without quotes YAML reads `[[a name]]` as lists in a
    list."""
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _items(item)


def _ref(item: Scalar, rel: str) -> Ref | None:
    text = item.text.strip()
    if item.value is None or not text:
        return None
    if _URL.match(text):
        target, _, fragment = text.partition("#")
        return Ref("front-matter", target, "url", item.span, rel, fragment=fragment)
    if (match := _WIKILINK.fullmatch(text)) is not None:
        target, fragment = match[1].strip(), (match[2] or "").strip()
        return Ref("front-matter", target, "stem", item.span, rel, fragment=fragment) if target else None
    target, _, fragment = text.partition("#")
    if "/" not in target and not target.lower().endswith(DOCUMENT_SUFFIXES):
        return Ref("front-matter", text, "stem", item.span, rel)
    return Ref("front-matter", target, "path", item.span, rel, fragment=fragment) if target else None
