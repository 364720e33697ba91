"""X28, B6: an expectation that the output schema forbids is found before anything runs, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.evaluation.contradictions import contradictions
from prosa.evaluation.expectations import match
from prosa.schema import Schema

SCHEMA = {
    "type": "object",
    "properties": {
        "team": {"type": "string", "enum": ["billing", "care"]},
        "urgent": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "maxItems": 3},
        "who": {"$ref": "#/$defs/who"},
        "any": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "free": True,
    },
    "required": ["team"],
    "additionalProperties": False,
    "$defs": {
        "tag": {"type": "string", "pattern": "^[a-z]+$"},
        "who": {"type": "object", "properties": {"name": {"type": "string"}, "boss": {"$ref": "#/$defs/who"}}},
    },
}

FORBIDDEN = [
    ({"team": "biling"}, "/team", "never be"),
    ({"team": 3}, "/team", "never be 3 here"),
    ({"urgnt": True}, "/urgnt", "did you mean `urgent`?"),
    ({"zzz": True}, "/zzz", "it has team, urgent"),
    ({"team": {"name": "x"}}, "/team", "an object is expected, and the output has the type string here"),
    ({"tags": "x"}, "/tags", "never be"),
    ({"tags": ["ok", "Not"]}, "/tags/1", "never be"),
    ({"tags": ["a", "b", "c", "d"]}, "/tags", "at most 3"),
    ({"score": {"matches": "x"}}, "/score/matches", "`matches` cannot hold: the output has the type integer or number"),
    ({"urgent": {"length": 3}}, "/urgent/length", "cannot hold"),
    ({"team": {"one-of": ["billing", "sales"]}}, "/team/one-of/1", '"sales"'),
    ({"team": {"equals": "sales"}}, "/team/equals", '"sales"'),
    ({"team": {"approx": 1}}, "/team/approx", "cannot hold"),
    ({"team": {"absent": True}}, "/team", "is required"),
    ({"tags": {"sorted-equals": ["x", 3]}}, "/tags/sorted-equals/1/equals", "never be 3"),
    ({"who": {"name": 1}}, "/who/name", "never be 1"),
    ({"who": {"boss": {"boss": {"name": 1}}}}, "/who/boss/boss/name", "never be 1"),
    ({"$.team": "sales"}, "/$.team", "never be"),
    ({"$.tags[0]": "UP"}, "/$.tags[0]", "never be"),
    ({"$.team.name": "x"}, "/$.team.name", "the output has the type string where `name` is looked for"),
    ({"$.zzz": 1}, "/$.zzz", "never has a field `zzz`"),
    ({"$.tags.name": 1}, "/$.tags.name", "never finds anything"),
    ([1], "", "a list is expected"),
    ("x", "", "never be"),
    ({"any": 1.5}, "/any", "never be 1.5"),
]

ALLOWED = [
    {"team": "care", "score": 1, "tags": ["a"]},
    {"urgent": {"absent": True}},
    {"$.zzz": {"absent": True}},
    {"$.team.name": {"absent": True}},
    {"zzz": {"absent": True}},
    {"any": {"matches": "x"}},
    {"any": {"contains": "x"}},
    {"any": 3},
    {"free": {"what": "ever"}},
    {"who": {"age": 3}},
    {"$..name": "x"},
    {"$.who.other": 3},
    {"tags": {"length": 2, "contains": "a"}},
    {},
]


@pytest.mark.parametrize(("expected", "pointer", "words"), FORBIDDEN, ids=lambda each: str(each)[:40])
def test_b6_what_the_schema_forbids(expected, pointer, words):
    (mistake,) = contradictions(expected, SCHEMA)
    assert mistake.pointer == pointer
    assert words in mistake.message


@pytest.mark.parametrize("expected", ALLOWED, ids=str)
def test_b6_what_the_schema_allows(expected):
    assert list(contradictions(expected, SCHEMA)) == []


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"$ref": "#"},
        {"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#"}}},
        {"type": "object", "allOf": [True]},
    ],
    ids=str,
)
def test_b6_what_cannot_be_followed_forbids_nothing(schema):
    assert list(contradictions({"a": {"b": [1, {"matches": "x"}]}, "$.c": 1}, schema)) == []


def test_b6_a_name_that_needs_escaping():
    schema = {"type": "object", "properties": {"a/b %": {"type": "string"}}, "additionalProperties": False}
    assert [each.pointer for each in contradictions({"a/b %": 1}, schema)] == ["/a~1b %"]


leaves = st.sampled_from(["billing", "care", "x", 0, 1, 0.5, True, None])
outputs = st.fixed_dictionaries(
    {"team": st.sampled_from(["billing", "care"])},
    optional={
        "urgent": st.booleans(),
        "score": st.floats(0, 1),
        "tags": st.lists(st.sampled_from(["a", "b"]), max_size=3),
        "who": st.fixed_dictionaries({}, optional={"name": st.just("n"), "age": leaves}),
        "any": st.sampled_from(["x", 2]),
        "free": leaves,
    },
)
wanted = st.one_of(
    leaves,
    st.lists(leaves, max_size=4),
    st.sampled_from([{"absent": True}, {"matches": "."}, {"length": {"min": 0}}, {"approx": 0.5}, {"contains": "a"}]),
    st.builds(lambda each: {"one-of": [each]}, leaves),
    st.builds(lambda each: {"sorted-equals": each}, st.lists(leaves, max_size=2)),
)
expectations = st.dictionaries(
    st.sampled_from(
        ["team", "urgent", "score", "tags", "who", "any", "free", "zzz", "$.team", "$.tags[0]", "$.who.name"]
    ),
    wanted,
    max_size=3,
)


@given(expectations, outputs)
def test_x28_whatever_an_output_meets_is_not_forbidden(expected, output):
    assert Schema(SCHEMA).valid(output)
    if not match(expected, output).failures and not any("one-of" in str(each) for each in expected.values()):
        assert list(contradictions(expected, SCHEMA)) == []
