"""The fields of an action's form. In: the contract of an action, an example. Out: fields as plain values.

A field is a text unless its schema is more specific: a number, a choice, a checkbox, a date. The answering site
validates the input; the form only helps.
"""

from __future__ import annotations

from collections.abc import Mapping

from prosa.data import Value
from prosa.render.json import dump
from prosa.schema import Schema
from prosa.site.contract import Contract

MAX_FIELDS = 60
MAX_CHOICES = 200
_SCALARS = ("string", "number", "integer", "boolean")
_DATE = r"\d{4}-\d{2}-\d{2}"

Field = dict[str, Value]


def fields_of(contract: Contract, example: Mapping[str, Value], prefix: str) -> list[Field]:
    """Return the fields in the order path, query, body; ``prefix`` starts their ids."""
    made = [_field("path", name, {}, True, _part(example, "path").get(name)) for name in contract.path_names]
    given = _part(example, "query")
    for name in contract.parameters:
        schema = contract.described.get(name)
        described = schema if isinstance(schema, Mapping) else {}
        made.append(_field("query", name, described, name in contract.required, given.get(name)))
    made += _body_fields(contract, example.get("body"))
    return [{**each, "id": f"{prefix}:{number}"} for number, each in enumerate(made[:MAX_FIELDS], 1)]


def _part(example: Mapping[str, Value], name: str) -> Mapping[str, Value]:
    part = example.get(name)
    return part if isinstance(part, Mapping) else {}


def _body_fields(contract: Contract, example: Value) -> list[Field]:
    if not contract.media_type or not contract.changes_state:
        return []
    schema = contract.body_schema.raw if contract.body_schema else None
    properties = flat_properties(schema)
    if properties is None or not (example is None or isinstance(example, Mapping)):
        text = example if isinstance(example, str) else dump(example if example is not None else {}, indent=2)
        about = schema.get("description") if isinstance(schema, Mapping) else ""
        return [
            _made(
                "body",
                "",
                "json" if "json" in contract.media_type else "text",
                True,
                text,
                label="Body",
                kind="area",
                about=about,
            )
        ]
    required = schema.get("required") if isinstance(schema, Mapping) else ()
    names = required if isinstance(required, list | tuple) else ()
    given = example or {}
    return [_field("body", name, each, name in names, given.get(name)) for name, each in properties.items()]


def flat_properties(schema: Value) -> Mapping[str, Mapping[str, Value]] | None:
    """Return the properties of an object that holds nothing but single values; None for any other schema."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not 0 < len(properties) <= MAX_FIELDS:
        return None
    flat = all(
        isinstance(each, Mapping) and (_type(each) in _SCALARS or _choices(each)) for each in properties.values()
    )
    return {str(name): each for name, each in properties.items()} if flat else None


def _type(schema: Mapping[str, Value]) -> str:
    found = schema.get("type", "")
    if isinstance(found, list | tuple):
        found = next((each for each in found if each != "null"), "")
    return found if isinstance(found, str) else ""


def _choices(schema: Mapping[str, Value]) -> list[Value]:
    found = schema.get("enum")
    return [each for each in found if _is_scalar(each)][:MAX_CHOICES] if isinstance(found, list | tuple) else []


def _is_scalar(value: Value) -> bool:
    return isinstance(value, str | int | float | bool)


def _field(place: str, name: str, schema: Mapping[str, Value], required: bool, example: Value) -> Field:
    kind, items = _type(schema), schema.get("items")
    value = example if example is not None else schema.get("default")
    many = kind == "array" and isinstance(items, Mapping)
    choices = _choices(items if many and isinstance(items, Mapping) else schema)
    more: Field = {"about": schema.get("description"), "hint": ""}
    if kind == "boolean" and not choices:
        if value is not True:
            return _made(place, name, "boolean", False, "", kind="box", **more)
        choices = [True, False]
    if choices:
        written = [(_choice(place, each), _text(each)) for each in choices]
        chosen = [_choice(place, each) for each in (value if isinstance(value, list) else [value]) if each is not None]
        typed = "json" if place == "body" else "text"
        return _made(place, name, typed, required, "", kind="choice", choices=written, chosen=chosen, many=many, **more)
    if kind in ("integer", "number"):
        limits = {"least": _number(schema.get("minimum")), "most": _number(schema.get("maximum"))}
        step = "1" if kind == "integer" else "any"
        return _made(place, name, "number", required, _text(value), kind="number", step=step, **limits, **more)
    if schema.get("format") == "date":
        more["hint"], more["pattern"] = "YYYY-MM-DD", _DATE
    return _made(place, name, "text", required, _text(value), kind="line", **more)


def _made(
    place: str, name: str, typed: str, required: bool, value: str, *, kind: str, about: Value = "", **more: Value
) -> Field:
    plain: Field = {
        "label": name,
        "hint": "",
        "pattern": "",
        "least": "",
        "most": "",
        "step": "",
        "choices": [],
        "chosen": [],
        "many": False,
    }
    told = about if isinstance(about, str) else ""
    return {
        **plain,
        "place": place,
        "name": name,
        "typed": typed,
        "required": required,
        "value": value,
        "kind": kind,
        "about": told,
        **more,
    }


def _choice(place: str, value: Value) -> str:
    return dump(value) if place == "body" else _text(value)


def _text(value: Value) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dump(value)


def _number(value: Value) -> str:
    return dump(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def sample(schema: Schema | None) -> Value:
    """Return a body that shows the shape of a schema: its defaults and choices, else the names of types."""
    properties = flat_properties(schema.raw if schema else None)
    return {name: _sample(each) for name, each in properties.items()} if properties else {}


def _sample(schema: Mapping[str, Value]) -> Value:
    if "default" in schema:
        return schema["default"]
    choices = _choices(schema)
    return choices[0] if choices else {"integer": 1, "number": 1, "boolean": True}.get(_type(schema), "…")
