"""Field tables: what a dialect's mappings may hold, as data. One walk turns a table and a mapping into readings.

In: a mapping of the front matter and its table. Out: the values that have the right shape, and the problems
`missing-field`, `wrong-type`, `wrong-form`, `unknown-value` and `unknown-field`. A field that is wrong, or an item of a
list, is reported and left out, so a reader never meets a value of a shape it did not ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Many
from itertools import islice
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, Value, to_value
from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.source import Span

Kind: TypeAlias = Literal[
    "string",
    "strings",
    "strings-or-mappings",
    "string-or-mapping",
    "string-map",
    "text",
    "texts",
    "text-or-integer",
    "number",
    "numbers",
    "integer",
    "boolean",
    "quantity",
    "mapping",
    "mappings",
    "flag-or-mapping",
    "schema",
    "anything",
]
"""The type of a field. ``string`` is any scalar, read as its source text (X1); ``text``, ``number`` and ``integer`` go
by the value, for JSON, whose author chose the type with the quotes."""

Form: TypeAlias = Callable[[str], str | None]
"""Checks the source text of a scalar; returns the rest of a sentence that begins with the field name, or None."""

WANTED: dict[Kind, str] = {
    "string": "a string",
    "strings": "a list of strings",
    "strings-or-mappings": "a list of strings or mappings",
    "string-or-mapping": "a string or a mapping",
    "string-map": "a mapping of names to strings",
    "text": "a string",
    "texts": "a list of strings",
    "text-or-integer": "a string or a whole number",
    "number": "a number",
    "numbers": "a list of numbers",
    "integer": "a whole number",
    "boolean": "true or false",
    "quantity": "a number, with or without a unit",
    "mapping": "a mapping",
    "mappings": "a list of mappings",
    "flag-or-mapping": "true, false or a mapping",
    "schema": "a JSON Schema: a mapping, true or false",
    "anything": "a value",
}
"""The same for people."""


_TYPES: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    "text-or-integer": (str, int),
    "number": (int, float),
    "integer": (int,),
}

ITEMS: dict[Kind, Kind] = {
    "strings": "string",
    "strings-or-mappings": "string-or-mapping",
    "texts": "text",
    "numbers": "number",
    "mappings": "mapping",
}
"""The kinds of list, and what each item of them is."""

PARTIAL: frozenset[Kind] = frozenset({"strings-or-mappings", "mappings"})
"""The lists that are read without the items that are wrong, so that these hide no finding about another item."""

MAX_UNKNOWN = 100
"""Unknown fields reported for one mapping; each is compared with every known name."""


class Field(Struct, frozen=True):
    """One row of a table.

    ``form`` checks a string or quantity, or each string of a list; ``choices`` closes the set of its values.
    ``required`` fields that are absent or empty are reported as ``missing``, a rule of their own where absence needs
    its own remedy. ``also`` is another spelling of the name. ``wanted`` describes its value where the kind is not
    enough, ``why`` its purpose. ``about`` is the description that the page of the dialect and editors show. ``usual``
    are known values where others are allowed, ``inner`` the fields of a mapping, or of each mapping in a list,
    ``holds`` whether it is a JSON Schema, or a mapping of names to schemas. With ``ruled``, a separate rule checks the
    inside of a mapping.
    """

    name: str
    kind: Kind
    required: bool = False
    form: Form | None = None
    choices: tuple[str, ...] = ()
    missing: str = "missing-field"
    wanted: str = ""
    why: str = ""
    also: str = ""
    about: str = ""
    usual: tuple[str, ...] = ()
    inner: tuple[Field, ...] = ()
    holds: Literal["schema", "schemas"] | None = None
    ruled: bool = False


def _nothing(_: str) -> bool:
    return False


class Owner(Struct, frozen=True):
    """What a mapping is called in messages, and where to point when something is missing from it.

    ``prefix`` goes in front of its fields' names in messages, `python.` for example.
    """

    title: str
    anchor: Span
    prefix: str = ""
    unknown: Severity | None = None
    """The severity of unknown fields that resemble no known one; None where the rule table decides."""
    other: Callable[[str], bool] = _nothing
    """Names that are no fields and that another rule reports."""
    complete: bool = True
    """Whether absence means anything; False after a syntax error that cut the reading short."""


def read_fields(
    mapping: Mapping, table: tuple[Field, ...], owner: Owner
) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    """Return the valid entries of ``mapping`` that ``table`` knows, by name, and the problems."""
    by_name: dict[str, Entry] = {}
    problems: list[Problem] = []
    entries = {entry.key.text: entry for entry in mapping}
    for field in table:
        entry = entries.pop(field.name, None) or entries.pop(field.also, None)
        if entry is None or _is_absent(field, entry.value):
            if field.required and owner.complete:
                problems.append(_missing(field, entry, owner))
            continue
        if _is_right_text(field, entry.value):
            by_name[field.name] = entry
            continue
        wrong = tuple(_complaints(field, entry.value, owner.prefix + field.name))
        problems += wrong
        if not wrong:
            by_name[field.name] = entry
        elif field.kind in PARTIAL and isinstance(entry.value, Sequence):
            by_name[field.name] = _without_wrong_items(field, entry, entry.value)
    if entries:
        names = tuple(field.name for field in table)
        rest = (entry for entry in entries.values() if not owner.other(entry.key.text))
        problems += [_unknown(entry, names, owner) for entry in islice(rest, MAX_UNKNOWN)]
    return by_name, tuple(problems)


def text_of(entry: Entry | None) -> str | None:
    """Return the source text of a string field (X1), or None."""
    return entry.value.text if entry is not None and isinstance(entry.value, Scalar) else None


def declared_value(mapping: Mapping, table: tuple[Field, ...]) -> dict[str, Value]:
    """Return a mapping as plain data. What ``table`` declares as a string is its source text, the rest its value
    (X1)."""
    kinds = {field.name: field.kind for field in table}
    return {entry.key.text: _declared(kinds.get(entry.key.text), entry.value) for entry in mapping}


def _declared(kind: Kind | None, node: Node) -> Value:
    if kind in ("string", "strings") and isinstance(node, Scalar) and node.value is not None:
        return node.text
    if kind in ("strings", "strings-or-mappings") and isinstance(node, Sequence):
        return [_declared("string", item) for item in node.items]
    if kind == "string-map" and isinstance(node, Mapping):
        return {entry.key.text: _declared("string", entry.value) for entry in node}
    return to_value(node)


def _is_right_text(field: Field, node: Node) -> bool:
    """Return whether a value is a string where any is right, as most are."""
    if field.form is not None or field.choices or not isinstance(node, Scalar):
        return False
    return field.kind == "string" or (field.kind == "text" and type(node.value) is str)


def _complaints(field: Field, node: Node, name: str) -> Iterator[Problem]:
    if not _fits(field.kind, node):
        yield _wrong_type(f"`{name}`", WANTED[field.kind], node)
    elif field.kind in ITEMS and isinstance(node, Sequence):
        for item in node.items:
            yield from _item_complaints(field, item, f"an item of `{name}`")
    elif field.kind == "string-map" and isinstance(node, Mapping) and not field.ruled:
        for entry in node:
            if not _is_text(entry.value):
                yield _wrong_type(f"`{name}.{shown(entry.key.text)}`", "a string", entry.value)
    elif isinstance(node, Scalar):
        yield from _form_complaints(field, node, f"`{name}`")


def _without_wrong_items(field: Field, entry: Entry, listed: Sequence) -> Entry:
    right = tuple(item for item in listed.items if not any(_item_complaints(field, item, "")))
    return Entry(entry.key, Sequence(right, listed.span))


def _item_complaints(field: Field, item: Node, name: str) -> Iterator[Problem]:
    kind = ITEMS[field.kind]
    if not _fits(kind, item):
        yield _wrong_type(name, WANTED[kind], item)
    elif isinstance(item, Scalar):
        yield from _form_complaints(field, item, name)


def _form_complaints(field: Field, node: Scalar, name: str) -> Iterator[Problem]:
    if field.choices and node.text not in field.choices:
        guess = nearest(node.text, field.choices)
        notes = (f"did you mean `{guess}`?",) if guess else ()
        allowed = ", ".join(f"`{choice}`" for choice in field.choices)
        message = f"`{shown(node.text)}` is not a value of {name}; it is one of {allowed}"
        meant = Misspelling(node.text, guess) if guess else None
        yield Problem("unknown-value", message, node.span, notes, misspelling=meant)
    complaint = field.form(node.text) if field.form else None
    if complaint:
        yield Problem("wrong-form", f"{name} {complaint}", node.span)


def _fits(kind: Kind, node: Node) -> bool:
    if kind in ("mapping", "string-map"):
        return isinstance(node, Mapping)
    if kind in ITEMS:
        return isinstance(node, Sequence)
    if kind in ("schema", "flag-or-mapping"):
        return isinstance(node, Mapping) or _is_boolean(node)
    if kind == "string-or-mapping":
        return isinstance(node, Mapping) or _is_text(node)
    if kind == "boolean":
        return _is_boolean(node)
    if kind in _TYPES:
        return isinstance(node, Scalar) and isinstance(node.value, _TYPES[kind]) and not _is_boolean(node)
    return kind == "anything" or _is_text(node)


def _is_boolean(node: Node) -> bool:
    return isinstance(node, Scalar) and isinstance(node.value, bool)


def _is_absent(field: Field, node: Node) -> bool:
    """Return whether a field is left empty: it is null, or a required string without a visible character."""
    if not isinstance(node, Scalar):
        return False
    return node.value is None or (field.required and field.kind in ("string", "text") and not node.text.strip())


def _is_text(node: Node) -> bool:
    """Any scalar but null is a string where a string is wanted: the source text counts (X1)."""
    return isinstance(node, Scalar) and node.value is not None


def _wrong_type(name: str, wanted: str, node: Node) -> Problem:
    return Problem("wrong-type", f"{name} must be {wanted}, not {type_name(node, wanted)}", node.span)


def type_name(node: Node, wanted: str = "") -> str:
    """Return what a node is, for people who wanted something else: of a number with a fraction its text, where only
    whole ones are."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if node.value is None:
        return "null"
    if isinstance(node.value, bool) or (isinstance(node.value, float) and "whole number" in wanted):
        return f"`{shown(node.text)}`"
    return "a number" if isinstance(node.value, (int, float)) else "a string"


def shown(text: str, limit: int = 60) -> str:
    """Return a text of the document as part of a message: on one line, and cut."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _missing(field: Field, entry: Entry | None, owner: Owner) -> Problem:
    span = entry.key.span if entry else owner.anchor
    what = "has no value" if entry else "is missing"
    why = (field.why,) if field.why else ()
    return Problem(
        field.missing,
        f"`{owner.prefix}{field.name}` {what}: {owner.title} needs {field.wanted or WANTED[field.kind]}",
        span,
        why,
    )


def _unknown(entry: Entry, names: Many[str], owner: Owner) -> Problem:
    name = entry.key.text
    guess = nearest(name, names)
    message = f"`{shown(name)}` is not a field of {owner.title}"
    if guess:
        notes = (f"did you mean `{guess}`?",)
        return Problem("unknown-field", message, entry.key.span, notes, misspelling=Misspelling(name, guess))
    return Problem("unknown-field", message, entry.key.span, severity=owner.unknown)
