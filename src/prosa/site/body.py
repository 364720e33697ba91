"""The body of a request (HA16). In: plain data and the contract. Out: the body and its media type.

A schema is checked first, and all its problems are reported at once. Without a schema any body of the declared type is
accepted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote_plus, urlencode

from prosa.data import Value
from prosa.schema import Schema
from prosa.site.contract import Contract
from prosa.site.problems import RequestProblem
from prosa.site.values import value_text

FORM = "application/x-www-form-urlencoded"


def body_of(
    contract: Contract,
    given: Value,
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
        if given is not None:
            problems.append(RequestProblem("body", "", "a GET request has no body"))
        return None, ""
    if not media_type:
        if given is None:
            return None, ""
        if not allow_undeclared:
            problems.append(RequestProblem("body", "", "the action declares neither `body_schema` nor `content_type`"))
        media_type = "application/json"
    if given is None and schema is None:
        return None, ""
    value = {} if given is None else given
    wrong = (schema or Schema(True)).problems(value)
    problems += [RequestProblem("body", each.pointer, each.message) for each in wrong]
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
        for each in item if isinstance(item, list | tuple) else [item]:
            text = each if isinstance(each, str) else value_text("body", name, each, problems)
            pairs.append((name, text or ""))
    try:
        return urlencode(pairs, quote_via=quote_plus)
    except UnicodeEncodeError:
        problems.append(RequestProblem("body", "", "must not have half a surrogate pair"))
        return ""
