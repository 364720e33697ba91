"""Twenty programs answered by a very small model: each answer is valid at once, whatever it says (X35, L12)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.schema import Schema
from prosa.schema.lower import is_object_root, wrap
from tests.adapters.embedded.runs import BRIEF, answered, program, ran
from tests.depth import DEEP

DIGIT = {"type": "integer", "minimum": 0, "maximum": 9}


def closed(**properties: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TREE = {
    "type": "object",
    "properties": {"n": DIGIT, "more": {"type": "array", "items": {"$ref": "#/$defs/leaf"}, "maxItems": 2}},
    "required": ["n"],
    "additionalProperties": False,
    "$defs": {"leaf": closed(n=DIGIT)},
}

PROGRAMS: dict[str, Any] = {
    "a text": closed(name=BRIEF),
    "a whole number": closed(euros={"type": "integer"}),
    "a number between two": closed(share={"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.25}),
    "a yes or no": closed(urgent={"type": "boolean"}),
    "a label": closed(mood={"enum": ["positive", "negative", "neutral"]}),
    "a label beside nothing": {"enum": ["bug", "question", "praise"]},
    "a number alone": DIGIT,
    "a list alone": {"type": "array", "items": BRIEF, "maxItems": 2},
    "a pattern": closed(code={"type": "string", "pattern": r"^[A-Z]{2}-\d{3}$"}),
    "an open pattern": closed(code={"type": "string", "pattern": r"\d", "maxLength": 8}),
    "a date": closed(on={"type": "string", "format": "date"}),
    "null or text": closed(name={"type": ["string", "null"], "maxLength": 12}),
    "one of two objects": {"anyOf": [closed(kind={"const": "letter"}), closed(kind={"const": "bill"}, sum=DIGIT)]},
    "exactly one of two": closed(id={"oneOf": [DIGIT, {"type": "string", "pattern": "^[a-z]{3}$"}]}),
    "both of two": {"allOf": [{"type": "object", "required": ["a"], "properties": {"a": DIGIT}}, closed(a=DIGIT)]},
    "a reference": TREE,
    "a list of fixed places": closed(
        pair={"type": "array", "prefixItems": [DIGIT, {"enum": ["EUR", "USD"]}]} | {"items": False, "minItems": 2}
    ),
    "booleans as schemas": {"type": "object", "properties": {"a": True, "b": DIGIT}, "required": ["b"]}
    | {"additionalProperties": False},
    "names by pattern": {"type": "object", "patternProperties": {"^[a-z]{2}$": DIGIT}, "additionalProperties": False}
    | {"minProperties": 1, "maxProperties": 1},
    "what no grammar says": closed(tags={"type": "array", "items": BRIEF, "uniqueItems": True, "maxItems": 1}),
}


RUN = list(PROGRAMS)[:: 1 if DEEP else 5]
"""The programs that are run whole. The prompt, which holds the schema, takes four fifths of a run; `make test` takes a
text, a label alone, a date and a reference, and asks about every schema without it."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_x35_each_of_the_schemas_holds_an_answer(name: str):
    schema = PROGRAMS[name] if is_object_root(PROGRAMS[name]) else wrap(PROGRAMS[name])
    said = answered(schema, "Ada paid 12 euros.", 100)
    assert Schema(schema).valid(json.loads(said)), said


@pytest.mark.parametrize("name", RUN)
def test_x35_the_first_answer_is_valid(name: str, tmp_path: Path, environ: dict[str, str]):
    # What all of them begin with is read by the engine once.
    path = program(tmp_path, "Read the letter.", PROGRAMS[name], name=name.replace(" ", "-"))
    result = ran(path, "Ada paid 12 euros.", environ)
    assert result.summary.iterations == 1
    assert (result.summary.answered_by, result.summary.total_cost) == ("smollm2", 0)


def test_there_are_twenty():
    assert len(PROGRAMS) == 20
