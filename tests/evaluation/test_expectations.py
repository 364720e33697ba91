"""X28: expectations. Objects match in part, all else exactly; queries and matchers; a failure has a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.evaluation.expectations import Failure, match, mistakes
from prosa.evaluation.matchers import MATCHERS, is_matcher

OUTPUT = {
    "team": "billing",
    "urgent": True,
    "reason": "charged twice, rent is due",
    "score": 0.75,
    "tags": ["money", "rent"],
    "items": [{"name": "a", "price": 1}, {"name": "b", "price": 2.5}],
    "none": None,
}

MET = [
    {"team": "billing"},
    {},
    {"score": 0.75, "none": None},
    {"tags": ["money", "rent"]},
    {"items": [{"name": "a"}, {"price": 2.5}]},
    {"$.urgent": True},
    {"$": {"team": "billing"}},
    {"$.items[*].name": ["a", "b"]},
    {"$.items[0].price": 1.0},
    {"$..price": {"length": 2}},
    {"$.items[?@.price > 2].name": ["b"]},
    {"$.items[?match(@.name, 'a|c')].price": [1]},
    {"$.gone": {"absent": True}},
    {"gone": {"absent": True}, "none": {"absent": False}},
    {"team": {"equals": "billing"}},
    {"team": {"one-of": ["care", "billing"]}},
    {"reason": {"contains": "twice", "length": {"max": 200}}},
    {"reason": {"contains": ["twice", "rent"], "not-contains": "angry"}},
    {"tags": {"contains": "money", "not-contains": ["x", "y"], "length": 2}},
    {"items": {"contains": {"name": "a", "price": 1}}},
    {"reason": {"matches": "^charged .* due$"}},
    {"score": {"approx": {"value": 0.7, "within": 0.1}}},
    {"score": {"approx": 0.75}},
    {"items": {"schema": {"type": "array", "maxItems": 2}}},
    {"tags": {"sorted-equals": ["rent", "money"]}},
    {"items": {"sorted-equals": [{"price": 2.5, "name": "b"}, {"price": 1.0, "name": "a"}]}},
    {"schema": {"required": ["team"]}},
    {"tags": [{"matches": "mon"}, {"length": {"min": 1}}]},
]

UNMET = [
    ({"team": "care"}, "/team", '"care"', '"billing" (string)'),
    ({"gone": 1}, "/gone", "1", "nothing"),
    ({"none": {"absent": True}}, "/none", "nothing there", "null"),
    ({"gone": None}, "/gone", "null", "nothing"),
    ({"urgent": 1}, "/urgent", "1", "true (boolean)"),
    ({"tags": ["x", "rent"]}, "/tags/0", '"x"', '"money" (string)'),
    ({"tags": ["money"]}, "/tags", '["money"]', '["money", "rent"] (array)'),
    ({"team": {"name": "x"}}, "/team", "an object", '"billing" (string)'),
    ({"$.gone": 1}, "$.gone", "1", "nothing"),
    ({"$.items[1].price": 2}, "/items/1/price", "2", "2.5 (number)"),
    ({"$.items[*].price": {"contains": 7}}, "$.items[*].price", "something that contains 7", "[1, 2.5] (array)"),
    ({"items": [{"name": "a"}, {"price": 2}]}, "/items/1/price", "2", "2.5 (number)"),
    ({"team": {"equals": {"contains": "b"}}}, "/team", '{"contains": "b"}', '"billing" (string)'),
    ({"team": {"one-of": ["care", "x"]}}, "/team", 'one of "care" or "x"', '"billing" (string)'),
    ({"reason": {"contains": ["twice", "hi"]}}, "/reason", 'something that contains "hi"', None),
    ({"reason": {"not-contains": "rent"}}, "/reason", 'something that does not contain "rent"', None),
    ({"score": {"not-contains": "rent"}}, "/score", "a text, a list or a mapping", None),
    ({"reason": {"matches": "^rent"}}, "/reason", 'a text that matches "^rent"', None),
    ({"score": {"approx": {"value": 1, "within": 0.1}}}, "/score", "a number within 0.1 of 1", "0.75 (number)"),
    ({"reason": {"length": {"max": 5}}}, "/reason", "a length of at most 5, not 26", None),
    ({"tags": {"length": {"min": 3, "max": 4}}}, "/tags", "a length of 3 to 4, not 2", None),
    ({"tags": {"sorted-equals": ["rent", "x"]}}, "/tags", '["rent", "x"] in any order', None),
    ({"gone": {"schema": True}}, "/gone", "a value that satisfies the schema", "nothing"),
    ({"gone": {"absent": False}}, "/gone", "anything", "nothing"),
    ({"gone": {"python": "def check(i, o, c): return True"}}, "/gone", "a value for the check", "nothing"),
]


@pytest.mark.parametrize("expected", MET, ids=str)
def test_x28_met(expected):
    assert list(mistakes(expected)) == []
    assert match(expected, OUTPUT).failures == ()


@pytest.mark.parametrize(("expected", "pointer", "wanted", "found"), UNMET, ids=lambda each: str(each)[:40])
def test_x28_unmet_names_place_expected_and_found(expected, pointer, wanted, found):
    assert list(mistakes(expected)) == []
    (failure,) = match(expected, OUTPUT).failures
    assert (failure.pointer, failure.expected) == (pointer, wanted)
    assert found is None or failure.found == found


def test_a_failure_is_a_sentence():
    (failure,) = match({"team": "care"}, OUTPUT).failures
    assert str(failure) == '/team: expected "care", found "billing" (string)'
    assert str(Failure("", "1", "2")) == "output: expected 1, found 2"


def test_every_word_is_tried_here():
    tried = {word for expected in MET for value in expected.values() if is_matcher(value) for word in value}
    assert tried | {"python", "schema"} == set(MATCHERS)


def test_a_scalar_or_a_list_is_a_whole_output():
    assert match("hello", "hello").failures == ()
    assert match([1, {"a": 1}], [1, {"a": 1, "b": 2}]).failures == ()
    assert match({"contains": "ell"}, "hello").failures == ()
    assert match("hello", "bye").failures[0].pointer == ""
    assert match({"team": "x"}, "hello").failures[0].expected == "an object"


def test_a_check_in_python_is_handed_on_with_its_value():
    code = "def check(input, output, calls):\n    return output > 0.5"
    found = match({"score": {"python": code}, "$.tags": {"python": code}}, OUTPUT)
    assert [(each.pointer, each.value) for each in found.checks] == [("/tags", ["money", "rent"]), ("/score", 0.75)]
    assert match({"team": "care", "score": {"python": code}}, OUTPUT).checks == ()  # a failure is enough


WRONG = [
    ({"a": {"one-of": "x"}}, "bad-matcher", "/a/one-of", "`one-of` takes a list of values"),
    ({"a": {"one-of": []}}, "bad-matcher", "/a/one-of", "`one-of` takes a list of values"),
    ({"a": {"matches": "("}}, "bad-matcher", "/a/matches", '`matches` "(" is not a pattern of RE2: missing ): ('),
    ({"a": {"matches": 3}}, "bad-matcher", "/a/matches", "`matches` takes a pattern of RE2"),
    ({"a": {"approx": "x"}}, "bad-matcher", "/a/approx", "`approx` takes a number, or `{value: …, within: …}`"),
    ({"a": {"approx": {"value": 1, "within": -1}}}, "bad-matcher", "/a/approx/within", "positive number"),
    ({"a": {"length": -1}}, "bad-matcher", "/a/length", "takes a whole number"),
    ({"a": {"length": {"min": 3, "max": 1}}}, "bad-matcher", "/a/length/min", "is more than `max`"),
    ({"a": {"length": {"max": "x"}}}, "bad-matcher", "/a/length/max", "needs a whole number that is not negative"),
    ({"a": {"length": {"most": 1}}}, "bad-matcher", "/a/length", "`{min: …, max: …}`"),
    ({"a": {"schema": {"type": "strin"}}}, "bad-matcher", "/a/schema/type", "is not a JSON Schema"),
    ({"a": {"sorted-equals": 1}}, "bad-matcher", "/a/sorted-equals", "takes a list"),
    ({"a": {"absent": "yes"}}, "bad-matcher", "/a/absent", "takes true or false"),
    ({"a": {"absent": True, "length": 1}}, "bad-matcher", "/a/absent", "excludes all other conditions"),
    ({"a": {"python": "x = 1"}}, "bad-matcher", "/a/python", "defines `check(input, output, calls)`"),
    ({"a": {"python": "def check(i, o, c): pass" + " " * 30000}}, "bad-matcher", "/a/python", "is longer than 20,000"),
    ({"a": {"contains": "x", "lenght": 3}}, "unknown-matcher", "/a/lenght", "did you mean `length`?"),
    ({"$.a[": 1}, "bad-query", "/$.a[", "is not a JSONPath query of RFC 9535"),
    ({"$" + ".a" * 600: 1}, "bad-query", "/$" + ".a" * 600, "is longer than 1,000 characters"),
    ({"$..a..b..c": 1}, "bad-query", "/$..a..b..c", "more than 2 times"),
]


@pytest.mark.parametrize(("expected", "kind", "pointer", "words"), WRONG, ids=lambda each: str(each)[:40])
def test_x28_a_mistake_has_a_place_and_a_sentence(expected, kind, pointer, words):
    (mistake,) = mistakes(expected)
    assert (mistake.kind, mistake.pointer) == (kind, pointer)
    assert words in mistake.message


def test_a_query_that_finds_too_much_is_a_failure():
    (failure,) = match({"$..*": {"length": 1}}, {"a": list(range(20_000))}).failures
    assert "finds more than 10,000 values" in failure.found


def test_a_pattern_in_a_query_takes_linear_time():
    long = {"a": ["a" * 50_000 + "!"]}
    assert match({"$.a[?search(@, '(a+)+$')]": []}, long).failures == ()
    assert match({"$.a[?match(@, '(')]": []}, long).failures == ()


def test_a_dot_in_a_pattern_of_a_query_matches_no_line_end():
    lines = ["x\ny", "x\ry", "x\u2028y", "x.y", "xzy"]
    assert match({"$[?match(@, 'x.y')]": ["x\u2028y", "x.y", "xzy"]}, lines).failures == ()
    assert match({"$[?search(@, 'x.')]": ["x\u2028y", "x.y", "xzy"]}, lines).failures == ()
    assert match({"$[?match(@, 'x[.]y')]": ["x.y"]}, lines).failures == ()
    assert match({"$[?match(@, 'x\\\\.y')]": ["x.y"]}, lines).failures == ()


def test_white_space_stands_where_the_specification_allows_it():
    assert match({"$ .a [0]": 1}, {"a": [1]}).failures == ()
    assert [each.kind for each in mistakes({"$.a ": 1})] == ["bad-query"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def _has_words(value) -> bool:
    if isinstance(value, dict):
        return any(key in MATCHERS or key.startswith("$") or _has_words(each) for key, each in value.items())
    return isinstance(value, list) and any(map(_has_words, value))


@given(values.filter(lambda each: not _has_words(each)))
def test_x28_every_value_matches_itself(value):
    assert match(value, value) == match({"equals": value}, value) == match({"sorted-equals": [value]}, [value])
    assert match(value, value).failures == ()


@given(values, values)
def test_x28_matching_and_looking_for_mistakes_never_fail(expected, value):
    if not list(mistakes(expected)):
        assert all(str(each) for each in match(expected, value).failures)
