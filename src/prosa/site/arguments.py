"""``KEY=VALUE`` from a command line, put where the action wants it. In: pairs of text and the contract. Out: an input
for `build_request`, or `RequestError` with every name that is not declared.

A name of the path goes into the path, a declared parameter into the query, the rest into the body, typed by its schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.schema import ArgumentProblem, Schema, typed_arguments
from prosa.site.contract import Contract
from prosa.site.problems import RequestError, RequestProblem


def arranged(
    contract: Contract,
    pairs: Iterable[tuple[str, str]],
    base: Mapping[str, Value] | None = None,
    *,
    schema: Schema | None = None,
    allow_undeclared: bool = False,
) -> dict[str, Value]:
    """Return the input that pairs describe, over ``base``, an input of its own; pairs win, inside objects key by key.

    ``schema`` is the fetched one of an action that names it by URL. A repeated key is a list.
    """
    schema = contract.body_schema or schema
    known = (*contract.path_names, *contract.parameters, *_properties(schema))
    path: dict[str, list[str]] = {}
    query: dict[str, list[str]] = {}
    body: list[tuple[str, str]] = []
    problems: list[RequestProblem] = []
    for name, text in pairs:
        if name in contract.path_names:
            path.setdefault(name, []).append(text)
        elif name in contract.parameters:
            query.setdefault(name, []).append(text)
        elif _fits_body(contract, schema, name):
            body.append((name, text))
        elif allow_undeclared:
            query.setdefault(name, []).append(text)
        else:
            problems.append(RequestProblem("input", name, _undeclared(name, known)))
    typed = _typed(schema, body, problems)
    if problems:
        raise RequestError(problems)
    return _over(dict(base or {}), {"path": _single(path), "query": _single(query), "body": typed if body else None})


def _properties(schema: Schema | None) -> tuple[str, ...]:
    raw = schema.raw if schema else None
    found = raw.get("properties") if isinstance(raw, Mapping) else None
    return tuple(found) if isinstance(found, Mapping) else ()


def _fits_body(contract: Contract, schema: Schema | None, name: str) -> bool:
    """Return whether a name belongs to the body: its schema has it or allows others, or there is no schema (HA16)."""
    if not contract.changes_state or not contract.media_type:
        return False
    declared = _properties(schema)
    if schema is None or name in declared or name.partition(".")[0] in declared:
        return True
    others = schema.raw.get("additionalProperties") if isinstance(schema.raw, Mapping) else None
    return others is True or isinstance(others, Mapping) or (not declared and others is None)


def _typed(schema: Schema | None, body: list[tuple[str, str]], problems: list[RequestProblem]) -> Value:
    try:
        return typed_arguments(schema.raw if schema else {}, body)
    except ArgumentProblem as error:
        problems.append(RequestProblem("body", error.key, error.message))
        return None


def _single(grouped: Mapping[str, list[str]]) -> dict[str, Value]:
    return {name: texts if len(texts) > 1 else texts[0] for name, texts in grouped.items()}


def _over(base: dict[str, Value], given: Mapping[str, Value]) -> dict[str, Value]:
    for name, value in given.items():
        below = base.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            base[name] = _over(dict(below), value)
        elif value is not None and value != {}:
            base[name] = value
    return base


def _undeclared(name: str, known: tuple[str, ...]) -> str:
    near = nearest(name, known)
    if near:
        return f"is not declared by the action; did you mean `{near}`?"
    names = ", ".join(f"`{each}`" for each in known)
    return "is not declared by the action" + (f"; expected one of {names}" if names else ", which takes no input")
