"""The actions of a node as forms (H11–H16). In: a page. Out: plain values for the template and for `actions.js`.

The request is that of `prosa.site.request`. A form never leaves the site: an action that would, or whose contract is
broken, is shown with the reason. An action with side effects is never a working form by default: without JavaScript
there are only the commands to type.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

from prosa.data import Plain, Value
from prosa.render.json import dump
from prosa.render.page.model import Page
from prosa.schema import Schema
from prosa.site.contract import DEFAULT_KEY_NAME, Contract, read_contract
from prosa.site.problems import RequestError
from prosa.source.url import ESCAPED_SAFE, requoted_path

MAX_ACTIONS = 50
_NOWHERE = "https://site.invalid"
_SITE = "https://SITE"


def action_parts(page: Page) -> list[dict[str, Plain]]:
    """Return the actions, in order."""
    return [_action_part(page, action, number) for number, action in enumerate(page.view.actions[:MAX_ACTIONS], 1)]


def _action_part(page: Page, action: Mapping[str, Value], number: int) -> dict[str, Plain]:
    name = _text(action.get("id"))
    shown: dict[str, Plain] = {
        "key": f"action:{number}",
        "name": name,
        "title": _text(action.get("title")) or name or "Action",
        "method": _text(action.get("method")).upper(),
        "url": _text(action.get("url")),
        "about": _text(action.get("description")) or _text(action.get("summary")),
        "problem": "",
        "form": False,
    }
    try:
        contract = read_contract(action)
        where, pairs = _place(page, contract)
    except (RequestError, ValueError) as error:
        return {**shown, "problem": str(error)}
    return {**shown, **_form(page, contract, where, pairs, _example(action), number)}


def _place(page: Page, contract: Contract) -> tuple[str, list[tuple[str, str]]]:
    """Return the path of the action with its `{names}`, and the pairs of its own query. Raises `ValueError`."""
    origin = page.frame.origin or _NOWHERE
    where, _, query = contract.url.partition("?")
    target = urlsplit(urljoin(f"{origin}{page.frame.prefix}/", where))
    root = urlsplit(origin)
    if (target.scheme, target.netloc) != (root.scheme, root.netloc):
        raise ValueError("its URL leads to another origin than this site; such an action is not called")
    if target.path.startswith("//"):
        raise ValueError("its URL begins with two slashes, which a browser takes for another host")
    return quote(target.path or "/", safe=f"{ESCAPED_SAFE}{{}}"), parse_qsl(query, keep_blank_values=True)


def _form(
    page: Page,
    contract: Contract,
    where: str,
    pairs: list[tuple[str, str]],
    example: Mapping[str, Plain],
    number: int,
) -> dict[str, Plain]:
    auth, declared = contract.auth, set(contract.parameters)
    pairs = [pair for pair in pairs if pair[0] not in declared]
    plain = not contract.changes_state and not contract.path_names and not any("{" in value for _, value in pairs)
    fields = _with_later(fields_of(contract, example, f"action:{number}"), plain=plain)
    own = page.frame.signed_in and _is_program(page, where)
    return {
        "method": contract.method,
        "form": page.frame.live,
        "where": where,
        "pairs": pairs,
        "plain": plain,
        "changes": contract.changes_state,
        "fields": fields,
        "later": any(field["later"] for field in fields),
        "media_type": contract.media_type if contract.changes_state else "",
        "accept": contract.accept.strip(),
        "auth": auth.type,
        "auth_place": "cookie" if auth.type == "cookie" else auth.place if auth.type == "api_key" else "header",
        "auth_name": (auth.name or DEFAULT_KEY_NAME[auth.place]) if auth.type == "api_key" else "Authorization",
        "wants_token": auth.wants_token and auth.type != "cookie" and not own,
        "csrf": page.frame.csrf if own else "",
        "help": auth.token_help,
        "call": _call(page, contract),
        "curl": _curl(page, contract, where),
    }


def _with_later(fields: list[Field], *, plain: bool) -> list[Field]:
    """Mark the fields that need the script. Without it, a browser sends empty fields too, which the site may refuse;
    so a form that works without the script only has the required fields, if there are any."""
    waiting = plain and any(field["required"] for field in fields)
    return [{**field, "later": waiting and not field["required"]} for field in fields]


def _is_program(page: Page, where: str) -> bool:
    """Return whether the action is the site's own for this program: only then a reader's session goes with the
    request."""
    return page.view.dialect == "markdownlang" and where == requoted_path(f"{page.frame.prefix}/mdh/run{page.view.url}")


def _example(action: Mapping[str, Plain]) -> Mapping[str, Plain]:
    """Return the request of the first example, `{query, path, body}`."""
    examples = action.get("examples")
    first = examples[0] if isinstance(examples, list | tuple) and examples else None
    request = first.get("request", first) if isinstance(first, Mapping) else None
    return request if isinstance(request, Mapping) else {}


def _call(page: Page, contract: Contract) -> str:
    """Return the line for a shell, with capitals where a value belongs."""
    node = f"{page.frame.origin or _SITE}{page.frame.prefix}{page.view.url}"
    names = (*contract.path_names, *contract.required)
    words = ["prosa", "call", node, contract.id, *(f"{name}={name.upper()}" for name in names)]
    if contract.changes_state and contract.media_type:
        words += ["--input", dump({"body": sample(contract.body_schema)})]
    if contract.auth.wants_token:
        words += ["--token-env", "TOKEN"]
    return shlex.join(words)


def _curl(page: Page, contract: Contract, where: str) -> str:
    words = ["curl", "-X", contract.method, f"{page.frame.origin or _SITE}{where}"]
    if contract.accept.strip():
        words += ["-H", f"Accept: {contract.accept.strip()}"]
    if contract.media_type:
        words += ["-H", f"Content-Type: {contract.media_type}", "--data", dump(sample(contract.body_schema))]
    if contract.auth.type == "api_key" and contract.auth.place == "header":
        words += ["-H", f"{contract.auth.name or DEFAULT_KEY_NAME['header']}: TOKEN"]
    elif contract.auth.type in ("bearer", "oauth2"):
        words += ["-H", "Authorization: Bearer TOKEN"]
    return shlex.join(words)


def _text(value: Plain) -> str:
    return value if isinstance(value, str) else "" if value is None else dump(value)


MAX_FIELDS = 60
MAX_CHOICES = 200
_SCALARS = ("string", "number", "integer", "boolean")
_DATE = r"\d{4}-\d{2}-\d{2}"

Field = dict[str, Plain]


def fields_of(contract: Contract, example: Mapping[str, Plain], prefix: str) -> list[Field]:
    """Return the fields in the order path, query, body; ``prefix`` starts their ids."""
    made = [_field("path", name, {}, True, _example_part(example, "path").get(name)) for name in contract.path_names]
    example_query = _example_part(example, "query")
    for name in contract.parameters:
        schema = contract.described.get(name)
        described = schema if isinstance(schema, Mapping) else {}
        made.append(_field("query", name, described, name in contract.required, example_query.get(name)))
    made += _body_fields(contract, example.get("body"))
    return [{**field, "id": f"{prefix}:{number}"} for number, field in enumerate(made[:MAX_FIELDS], 1)]


def _example_part(example: Mapping[str, Plain], name: str) -> Mapping[str, Plain]:
    part = example.get(name)
    return part if isinstance(part, Mapping) else {}


def _body_fields(contract: Contract, example: Plain) -> list[Field]:
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
    example_values = example or {}
    return [
        _field("body", name, subschema, name in names, example_values.get(name))
        for name, subschema in properties.items()
    ]


def flat_properties(schema: Plain) -> Mapping[str, Mapping[str, Plain]] | None:
    """Return the properties of an object that holds nothing but single values; None for any other schema."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not 0 < len(properties) <= MAX_FIELDS:
        return None
    flat = {
        str(name): subschema
        for name, subschema in properties.items()
        if isinstance(subschema, Mapping) and (_type(subschema) in _SCALARS or _choices(subschema))
    }
    return flat if len(flat) == len(properties) else None


def _type(schema: Mapping[str, Plain]) -> str:
    kind = schema.get("type", "")
    if isinstance(kind, list | tuple):
        kind = next((item for item in kind if item != "null"), "")
    return kind if isinstance(kind, str) else ""


def _choices(schema: Mapping[str, Plain]) -> list[Plain]:
    values = schema.get("enum")
    return [item for item in values if _is_scalar(item)][:MAX_CHOICES] if isinstance(values, list | tuple) else []


def _is_scalar(value: Plain) -> bool:
    return isinstance(value, str | int | float | bool)


def _field(place: str, name: str, schema: Mapping[str, Plain], required: bool, example: Plain) -> Field:
    kind, items = _type(schema), schema.get("items")
    value = example if example is not None else schema.get("default")
    many = kind == "array" and isinstance(items, Mapping)
    options = _choices(items if many and isinstance(items, Mapping) else schema)
    more: Field = {"about": schema.get("description"), "hint": ""}
    if kind == "boolean" and not options:
        if value is not True:
            return _made(place, name, "boolean", False, "", kind="box", **more)
        options = [True, False]
    if options:
        written = [(_choice(place, choice), _text(choice)) for choice in options]
        chosen = [_choice(place, item) for item in (value if isinstance(value, list) else [value]) if item is not None]
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
    place: str, name: str, typed: str, required: bool, value: str, *, kind: str, about: Plain = "", **more: Plain
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
    text = about if isinstance(about, str) else ""
    return {
        **plain,
        "place": place,
        "name": name,
        "typed": typed,
        "required": required,
        "value": value,
        "kind": kind,
        "about": text,
        **more,
    }


def _choice(place: str, value: Plain) -> str:
    return dump(value) if place == "body" else _text(value)


def _number(value: Plain) -> str:
    return dump(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def sample(schema: Schema | None) -> Plain:
    """Return a body that shows the shape of a schema: its defaults and choices, else the names of types."""
    properties = flat_properties(schema.raw if schema else None)
    return {name: _sample(subschema) for name, subschema in properties.items()} if properties else {}


def _sample(schema: Mapping[str, Plain]) -> Plain:
    if "default" in schema:
        return schema["default"]
    options = _choices(schema)
    return options[0] if options else {"integer": 1, "number": 1, "boolean": True}.get(_type(schema), "…")
