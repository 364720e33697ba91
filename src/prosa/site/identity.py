"""What makes a document of any dialect a node (H2, H9): the fields that every node has, derived where the author wrote
none.

In: a reading, and what the site knows of its document. Out: a `NodeView`. An MDH node stays as it is, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from prosa.data import Scalar, Sequence, Value, are_mappings, split_front_matter, to_value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.front import FrontReading
from prosa.dialects.mdh.facts import action_value
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MDH, YMJ
from prosa.graph.records import record_of
from prosa.regex import regex
from prosa.site.layout import NodeView, TypedLink

if TYPE_CHECKING:
    from prosa.dialects.magi.meta import Inherited

_TYPES = {
    "magi": "document",
    "mda": "document",
    "markdownlang": "program",
    "prapti": "chat",
    "skill_md": "skill",
    "test": "test",
    "ymj": "record",
}
"""The default `type` of a document; of plain Markdown it is `page`."""

_TEXTS = ("id", "type", "title")
_SUMMARIES = ("summary", "description", "purpose")

_CLASS = regex(r"[a-z][a-z0-9-]{0,39}")

_NO_FIELDS: Mapping[str, Inherited[Value]] = MappingProxyType({})

MAX_SUMMARY = 500
"""Maximum length of a summary in a list."""


def view_of(
    reading: DialectReading[object],
    path: str,
    *,
    url: str,
    own_id: str = "",
    links: Iterable[TypedLink] = (),
    actions: Iterable[Mapping[str, Value]] = (),
    inherited: Mapping[str, Inherited[Value]] = _NO_FIELDS,
) -> NodeView:
    """Return the node of a document at ``path`` below the root of the site.

    ``own_id`` is its id in the graph, empty if not known yet; ``links`` and ``actions`` are derived by the site for a
    document of another dialect, and never override the author's. ``inherited`` comes from meta files, separate from
    its own fields, and never used as a name (X33).
    """
    record = record_of(reading, path)
    written = _written(reading)
    own = own_id or next((definition.name for definition in record.definitions if definition.kind == "id"), "") or path
    node_id = _said(reading, "id") or own
    kind = _said(reading, "type") or record.type or type_of(reading.name)
    fields: dict[str, Value] = {
        "id": node_id,
        "type": kind,
        "title": record.title,
        "links": [link._asdict() for link in links],
        "actions": [dict(action) for action in actions],
        **({"lent": {name: field.as_dict() for name, field in inherited.items()}} if inherited else {}),
    }
    derived = {} if reading.name == "mdh" else {name: fields[name] for name in _missing(fields, written)}
    text = spliced(reading.front, derived) if derived else reading.front.source.text
    whole = {**written, **derived}
    return NodeView(
        path=path,
        url=url,
        dialect=reading.name,
        id=node_id,
        type=kind,
        title=record.title,
        summary=summary_of(reading, written),
        layout=_layout(reading),
        markdown=text.encode("utf-8"),
        body=_body(reading, derived),
        fields=whole,
        derived=derived,
        actions=_actions(reading, derived),
        reading=reading,
        inherited=inherited,
        tags=reading.inline_tags(),
    )


def summary_of(reading: DialectReading[object], written: Mapping[str, Value] | None = None) -> str:
    """Return the description of a document: the one for search engines, else the one in its front matter, which is
    ``written`` if known."""
    fields = _written(reading) if written is None else written
    summaries = (_seo(reading), *(_text(fields.get(name)) for name in _SUMMARIES))
    return next(filter(None, summaries), "")[:MAX_SUMMARY]


def _page_of(reading: DialectReading[object], name: str) -> Value:
    """Return the page settings of a record (Y12)."""
    model = reading.model_of(YMJ)
    page = model.ops_map("page") if model is not None else None
    value = to_value(page) if page is not None else None
    return value.get(name) if isinstance(value, Mapping) else None


def _seo(reading: DialectReading[object]) -> str:
    seo = _page_of(reading, "seo")
    return _text(seo.get("description")) if isinstance(seo, Mapping) else ""


def _layout(reading: DialectReading[object]) -> str:
    """Return the layout of a page as the name of a class; empty for an invalid one."""
    name = _text(_page_of(reading, "layout")).lower()
    return name if _CLASS.fullmatch(name) else ""


def type_of(dialect: str) -> str:
    """Return the default `type` of a document of a dialect."""
    return _TYPES.get(dialect, "page")


def _body(reading: DialectReading[object], derived: Mapping[str, Value]) -> str:
    """Return what stands below the front matter of the Markdown form: a block like front matter is part of it."""
    front = reading.front
    if derived and front.present and (front.fields is None or not front.complete):
        return front.source.text.removeprefix("\ufeff")
    return front.source.slice(front.body)


def _missing(fields: Mapping[str, Value], written: Mapping[str, Value]) -> list[str]:
    """Return the fields that the author left out, without empty lists. A document without text has no identity (H9)."""
    return [name for name, value in fields.items() if value != [] and _is_gap(name, written.get(name))]


def _is_gap(name: str, value: Value) -> bool:
    if value is None or name not in _TEXTS:
        return value is None
    return not isinstance(value, str | int | float) or not str(value).strip()


def _written(reading: DialectReading[object]) -> Mapping[str, Value]:
    """Return the front matter, as far as it stays one: a broken one becomes part of the body."""
    whole = reading.front.complete or reading.name == "mdh"
    return (reading.front_matter or {}) if whole else {}


def _said(reading: DialectReading[object], name: str) -> str:
    """Return a field of the front matter as its author typed it, of a list the first; empty for a mapping and for
    nothing."""
    node = reading.front.fields.get(name) if reading.front.fields is not None else None
    while isinstance(node, Sequence) and node.items:
        node = node.items[0]
    return _text(node.text) if isinstance(node, Scalar) and node.value is not None else ""


def _text(value: Value) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _actions(reading: DialectReading[object], derived: Mapping[str, Value]) -> tuple[Mapping[str, Value], ...]:
    if (model := reading.model_of(MDH)) is not None:
        return tuple(map(action_value, model.actions))
    actions = derived.get("actions")
    return tuple(actions) if are_mappings(actions) else ()


# Fields added to a document's front matter, the author's text unchanged around them (H9). Where lines can be added to
# the front matter, they are; where they cannot, as in one that is a single flow mapping or is no YAML, a new one is
# written, and what could not be read becomes part of the body, so that nothing is lost (HW5).


def spliced(front: FrontReading, fields: Mapping[str, Value]) -> str:
    """Return the text of the document with ``fields`` in its front matter. The body keeps every byte."""
    text, lines = front.source.text, write_yaml(fields)
    if "\r\n" in text:
        lines = lines.replace("\n", "\r\n")
    if front.fields is None or not front.complete:
        return _above(text, lines)
    parts, _ = split_front_matter(text)
    if parts is None:
        return _rewritten(front, fields)
    added = text[: parts.close.start] + lines + text[parts.close.start :]
    return added if _says(added, front, fields) else _rewritten(front, fields)


def _above(text: str, lines: str) -> str:
    """Return a front matter of its own above everything that is there."""
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    end = "\r\n" if "\r\n" in lines else "\n"
    return f"{bom}---{end}{lines}---{end}{text[len(bom) :]}"


def _says(text: str, front: FrontReading, fields: Mapping[str, Value]) -> bool:
    """Return whether a text means what its document meant before, and the new fields too."""
    read = front.reread(text)
    if read.fields is None or not read.complete:
        return False
    wanted = {**(front.value or {}), **fields}
    return read.value == wanted and read.source.slice(read.body) == front.source.slice(front.body)


def _rewritten(front: FrontReading, fields: Mapping[str, Value]) -> str:
    """Return the fields of both as a new front matter; its comments are lost, its data is not."""
    assert front.fields is not None
    old = {entry.key.text: to_value(entry.value) for entry in front.fields}
    return _above(front.source.slice(front.body), write_yaml({**old, **fields}))
