"""Values of a caller as texts of a URL (HA10, HA11), and as the body of a request (HA16).

Every problem is collected, none is repaired in silence. A schema is checked first; without one any body of the declared
type is accepted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus, urlencode

from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.schema import ArgumentProblem, Schema, SchemaError, typed_arguments
from prosa.site.contract import Contract
from prosa.site.problems import RequestProblem, Where

MAX_VALUES = 1_000
"""Items of one repeated parameter: no server reads a longer query."""

MAX_BITS = 4_096
"""Maximum digits of a whole number; the language refuses to print much longer ones."""


def query_pairs(
    contract: Contract,
    values: Mapping[str, Value],
    problems: list[RequestProblem],
    *,
    allow_undeclared: bool = False,
    already: str = "",
) -> list[tuple[str, str]]:
    """Return name and text of every parameter: those of the input in their order, then declared defaults. A list
    repeats its name, null omits a parameter (HA11). ``already`` is one that the credential fills."""
    declared = contract.parameters
    pairs: list[tuple[str, str]] = []
    present = {name: value for name, value in values.items() if value is not None}
    for name, value in present.items():
        if name not in declared and not allow_undeclared:
            problems.append(RequestProblem("query", name, _undeclared(name, contract)))
        else:
            pairs += _pairs(name, value, _description(contract, name), problems)
    for name in declared:
        default = _default(contract, name)
        if name in present or name == already:
            continue
        if default is not None:
            pairs += _pairs(name, default, {}, problems)
        elif name in contract.required:
            problems.append(RequestProblem("query", name, "is required, and was not given"))
    return pairs


def path_texts(contract: Contract, values: Mapping[str, Value], problems: list[RequestProblem]) -> dict[str, str]:
    """Return the text of every name in the path, percent-encoded so that it stays one segment (HA10)."""
    texts: dict[str, str] = {}
    none = "the URL has no `{name}`"
    foreign = [name for name in values if name not in contract.path_names]
    problems += [RequestProblem("path", name, _unknown(name, contract.path_names, none)) for name in foreign]
    for name in contract.path_names:
        value = values.get(name)
        if value is None or value == "":
            message = "is required: it is part of the URL" + (", and was not given" if value is None else ", not empty")
            problems.append(RequestProblem("path", name, message))
        elif (text := value_text("path", name, value, problems)) is not None:
            texts[name] = quote(text, safe="")
    return texts


def _pairs(
    name: str, value: Value, description: Mapping[str, Value], problems: list[RequestProblem]
) -> Iterator[tuple[str, str]]:
    value = _fitting(name, value, description, problems)
    items = _items(value)
    if len(items) > MAX_VALUES:
        problems.append(RequestProblem("query", name, f"has {len(items)} values; at most {MAX_VALUES} can be sent"))
        return
    for item in items:
        if (text := value_text("query", name, item, problems)) is not None:
            yield name, text


def _fitting(name: str, value: Value, description: Mapping[str, Value], problems: list[RequestProblem]) -> Value:
    """Return the value where it fits its schema, else an empty list and a problem. Everything in a URL is text, so a
    text that reads as the type fits too, and so does a list of such values. A description that is not a JSON Schema is
    ignored, since sites may extend it (H13)."""
    if not description:
        return value
    try:
        schema = Schema(dict(description))
    except SchemaError:
        return value
    wrong = schema.problems(value)
    if not wrong:
        return value
    if isinstance(value, list | tuple) and "array" not in str(description.get("type", "array")):
        return [item for element in value for item in _items(_fitting(name, element, description, problems))]
    texts = [item for item in _items(value) if isinstance(item, str)]
    if texts and len(texts) == len(_items(value)):
        try:
            value = typed_arguments({"properties": {name: dict(description)}}, [(name, text) for text in texts])[name]
        except ArgumentProblem as error:
            problems.append(RequestProblem("query", name, error.message))
            return []
        wrong = schema.problems(value)
    places = ((f"{problem.pointer}: " if problem.pointer else "", problem.message) for problem in wrong)
    problems += [RequestProblem("query", name, f"{place}{message}") for place, message in places]
    return [] if wrong else value


def _items(value: Value) -> list[Value]:
    return list(value) if isinstance(value, list | tuple) else [value]


def value_text(where: Where, name: str, value: Value, problems: list[RequestProblem]) -> str | None:
    """Return a single value as the text that is sent: true, 7, 0.5, or the text itself."""
    text = _plain(value)
    if text is None:
        kinds = "a text, a number, true or false" + (", or a list of these" if where == "query" else "")
        problems.append(RequestProblem(where, name, f"must be {kinds}"))
    elif wrong := unsendable(text):
        problems.append(RequestProblem(where, name, wrong))
    else:
        return text
    return None


def _plain(value: Value) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return None
    return str(value) if isinstance(value, str | int) else None


def unsendable(text: str) -> str | None:
    """Return why a text cannot be part of a URL or a header, or None. Line ends could start another header (X8)."""
    if "\r" in text or "\n" in text:
        return "must not have line ends"
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        return "must not have NUL or half a surrogate pair"
    return None


def _description(contract: Contract, name: str) -> Mapping[str, Value]:
    description = contract.described.get(name)
    return description if isinstance(description, Mapping) else {}


def _default(contract: Contract, name: str) -> Value:
    return _description(contract, name).get("default")


def _undeclared(name: str, contract: Contract) -> str:
    if name in contract.path_names:
        return "is part of the URL; give it under `path`"
    return _unknown(name, contract.parameters, "the action declares no query parameters")


def _unknown(name: str, known: tuple[str, ...], none: str) -> str:
    near = nearest(name, known)
    if near:
        return f"is not declared; did you mean `{near}`?"
    return (
        f"is not declared; expected one of {', '.join(f'`{option}`' for option in known)}"
        if known
        else f"is not declared; {none}"
    )


FORM = "application/x-www-form-urlencoded"


def body_of(
    contract: Contract,
    body: Value,
    problems: list[RequestProblem],
    *,
    schema: Schema | None = None,
    allow_undeclared: bool = False,
) -> tuple[Value, str]:
    """Return the body and its media type; None and an empty text if there is none.

    ``schema`` is the fetched one of an action that names it by URL. A JSON body is its value, every other a text. If
    an action with a schema gets no body, an empty object is sent if the schema allows it.
    """
    schema, media_type = contract.body_schema or schema, contract.media_type
    if not contract.changes_state:
        if body is not None:
            problems.append(RequestProblem("body", "", "a GET request has no body"))
        return None, ""
    if not media_type:
        if body is None:
            return None, ""
        if not allow_undeclared:
            problems.append(RequestProblem("body", "", "the action declares neither `body_schema` nor `content_type`"))
        media_type = "application/json"
    if body is None and schema is None:
        return None, ""
    value = {} if body is None else body
    wrong = (schema or Schema(True)).problems(value)
    problems += [RequestProblem("body", problem.pointer, problem.message) for problem in wrong]
    if wrong:
        return None, ""
    content = _encoded(value, media_type, problems)
    try:
        body_bytes(content, media_type)
    except UnicodeEncodeError:
        problems.append(RequestProblem("body", "", "must not have half a surrogate pair"))
    return content, media_type


def is_json(media_type: str) -> bool:
    """Return whether a media type is JSON or built on it (RFC 6839)."""
    kind = media_type.partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def body_bytes(body: Value, media_type: str) -> bytes | None:
    """Return the bytes that are sent: UTF-8, JSON without needless spaces."""
    if body is None:
        return None
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")) if is_json(media_type) else str(body)
    return text.encode("utf-8")


def _encoded(value: Value, media_type: str, problems: list[RequestProblem]) -> Value:
    if is_json(media_type):
        return value
    if isinstance(value, str):
        return value
    if media_type.partition(";")[0].strip().lower() == FORM and isinstance(value, Mapping):
        return _form(value, problems)
    problems.append(RequestProblem("body", "", f"must be a text: it is sent as `{media_type}`"))
    return None


def _form(value: Mapping[str, Value], problems: list[RequestProblem]) -> str:
    pairs = []
    for name, item in value.items():
        for subitem in item if isinstance(item, list | tuple) else [item]:
            text = subitem if isinstance(subitem, str) else value_text("body", name, subitem, problems)
            pairs.append((name, text or ""))
    try:
        return urlencode(pairs, quote_via=quote_plus)
    except UnicodeEncodeError:
        problems.append(RequestProblem("body", "", "must not have half a surrogate pair"))
        return ""
