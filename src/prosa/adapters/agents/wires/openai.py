"""What Chat Completions and Responses share: refusals of shapes, functions and schemas, errors, and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Required, TypedDict

from prosa.adapters.agents.wires.exchange import CREATED, Refusal
from prosa.adapters.agents.wires.shapes import Misfit, json_kind, open_object
from prosa.data import Value
from prosa.regex import regex

_NAME = regex(r"[a-zA-Z0-9_-]+")
_MOST_NAME: Final = 64
_ARTICLES: Final = {"array": "an array", "object": "an object", "integer": "an integer"}


def misfit_refusal(misfit: Misfit, unknown: str) -> Refusal:
    """Return a misfit as OpenAI says it; ``unknown`` is the sentence for an unknown field."""
    path = misfit.path(dots=False)
    if misfit.problem == "missing":
        return Refusal(f"Missing required parameter: '{path}'.", path, "missing_required_parameter")
    if misfit.problem == "unknown":
        sentence = unknown if len(misfit.place) == 0 else "Unknown parameter: '{}'."
        return Refusal(sentence.format(path), path, "unknown_parameter")
    if misfit.problem == "value":
        message = f"Invalid value: '{misfit.found}'. Supported values are: {misfit.expected}."
        return Refusal(message, path, "invalid_value")
    wanted = _ARTICLES.get(misfit.expected, f"a {misfit.expected}")
    message = f"Invalid type for '{path}': expected {wanted}, but got {json_kind(misfit.found)} instead."
    return Refusal(message, path, "invalid_type")


class Function(TypedDict, total=False):
    """A function that a request offers."""

    name: Required[str]
    description: str
    parameters: dict[str, Value]
    strict: bool


def function_refusal(function: Function, place: str) -> Refusal | None:
    """Return what is wrong with the name or the schema of a function."""
    name = function["name"]
    if not _NAME.fullmatch(name):
        message = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        return Refusal(f"Invalid '{place}.name': {message}", f"{place}.name", "invalid_value")
    if len(name) > _MOST_NAME:
        message = f"string too long. Expected a string with maximum length {_MOST_NAME}."
        return Refusal(f"Invalid '{place}.name': {message}", f"{place}.name", "string_above_max_length")
    schema = function.get("parameters")
    start = f"Invalid schema for function '{name}'"
    if schema and schema.get("type") != "object":
        message = f"{start}: schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
        return Refusal(message, f"{place}.parameters", "invalid_function_parameters")
    if function.get("strict") and (where := open_object(schema)) is not None:
        return Refusal(f"{start}: {_strict(where)}", f"{place}.parameters", "invalid_function_parameters")
    return None


def schema_refusal(wanted: Value, place: str) -> Refusal | None:
    """Return what is wrong with the schema that an answer shall have."""
    definition: Mapping[str, Value] = wanted if isinstance(wanted, Mapping) else {}
    for name in ("name", "schema"):
        if not definition.get(name):
            message = f"Missing required parameter: '{place}.{name}'."
            return Refusal(message, f"{place}.{name}", "missing_required_parameter")
    if definition.get("strict") and (where := open_object(definition["schema"])) is not None:
        return Refusal(f"Invalid schema for response_format '{definition['name']}': {_strict(where)}", place)
    return None


def _strict(where: str) -> str:
    return (
        f"In context={where}, 'required' is required to be supplied and to be an array including every key in "
        "properties, and 'additionalProperties' is required to be supplied and to be false."
    )


_TYPES: Final = {403: "permission_error", 429: "rate_limit_error"}


def error(refusal: Refusal) -> dict[str, Value]:
    """Return the body of an error."""
    kind = _TYPES.get(refusal.status, "server_error" if refusal.status >= 500 else "invalid_request_error")
    return {
        "error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": refusal.code},
    }


def model_entry(name: str) -> dict[str, Value]:
    """Return the entry of a model."""
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "scripted"}


def model_list(names: Sequence[str]) -> dict[str, Value]:
    """Return the list of models."""
    return {"object": "list", "data": [model_entry(name) for name in names]}
