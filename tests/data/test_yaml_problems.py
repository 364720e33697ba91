"""What YAML is refused, where, and what is read nevertheless (X1, X9)."""

from __future__ import annotations

import pytest

from prosa.data import Reading, read_yaml, to_value
from prosa.data.limits import MAX_ALIAS_NODES, MAX_DEPTH, MAX_PROBLEMS
from tests.work import PART, is_quick


def found(reading: Reading, text: str, offset: int = 0) -> list[tuple[str, str]]:
    return [
        (problem.rule, text[problem.span.start - offset : problem.span.end - offset]) for problem in reading.problems
    ]


@pytest.mark.parametrize(
    ("text", "problems", "value"),
    [
        ("a: 1\nb: 2\na: 3\n", [("duplicate-key", "a")], {"a": 1, "b": 2}),
        ("a: {x: 1, x: {y: 2}}\n", [("duplicate-key", "x")], {"a": {"x": 1}}),
        ('1: a\n"1": b\n', [("duplicate-key", '"1"')], {"1": "a"}),
        ("a: !vec [1]\n", [("custom-tag", "!vec")], {"a": [1]}),
        ("a: !foo bar\n", [("custom-tag", "!foo")], {"a": "bar"}),
        ("a: &x !foo bar\n", [("custom-tag", "!foo")], {"a": "bar"}),
        ("a: !!binary aGk=\n", [("custom-tag", "!!binary")], {"a": "aGk="}),
        ("a: !!python/object:os.system x\n", [("custom-tag", "!!python/object:os.system")], {"a": "x"}),
        ("a: !!timestamp 2024-01-01\n", [("custom-tag", "!!timestamp")], {"a": "2024-01-01"}),
        ("a: !!seq {b: 1}\n", [("custom-tag", "!!seq")], {"a": {"b": 1}}),
        ("a: !!int x\n", [("yaml-syntax", "!!int x")], {"a": "x"}),
        ("<<: {a: 1}\nb: 2\n", [("merge-key", "<<")], {"<<": {"a": 1}, "b": 2}),
        ("x: &x {a: 1}\ny:\n  <<: *x\n", [("merge-key", "<<")], {"x": {"a": 1}, "y": {"<<": {"a": 1}}}),
        ('"<<": 1\n', [], {"<<": 1}),
        ("a: 1\n---\nb: 2\n", [("several-documents", "---")], {"a": 1}),
        ("? [1, 2]\n: x\nb: 1\n", [("complex-key", "[1, 2]")], {"b": 1}),
        ("a: {{ .x }}\nb: 1\n", [("complex-key", "{ .x }")], {"a": {}, "b": 1}),
        ("a: *x\nb: 1\n", [("yaml-syntax", "*x")], {"a": None, "b": 1}),
        ("a: &x [*x]\n", [("alias-bomb", "*x")], {"a": [None]}),
        ("a: b: c\n", [("yaml-syntax", ":")], {"a": "b"}),
        ("a: 1\nb: @x\nc: 2\n", [("yaml-syntax", "@")], {"a": 1}),
        ("a: 1\nb: `x`\n", [("yaml-syntax", "`")], {"a": 1}),
        ("a: %x\n", [("yaml-syntax", "%")], {}),
        ("a: 1\nb: 'x\nc: 2\n", [("yaml-syntax", "'")], {"a": 1}),
        ('a: "x\\q"\n', [("yaml-syntax", "\\q")], {}),
        ("a: [1, 2\nb: 3\n", [("yaml-syntax", ":")], {"a": [1, "2 b"]}),
        ("a: 1\n  b: 2\n", [("yaml-syntax", ":")], {"a": "1 b"}),
        ("a:\n\tb: 1\n", [("yaml-syntax", "\t")], {}),
        ("a: 'x' y\n", [("yaml-syntax", "y")], {"a": "x"}),
        ("a: x\x07y\n", [("yaml-syntax", "\x07")], {"a": "x\x07y"}),
        ("a: x\x00\nb: 1\n", [("yaml-syntax", "\x00")], {"a": "x\x00", "b": 1}),
        ("%YAML 3.0\n---\na: 1\n", [("yaml-syntax", "%")], None),
    ],
)
def test_x1_a_problem_has_its_place_and_the_rest_is_read(
    text: str, problems: list[tuple[str, str]], value: object
) -> None:
    reading = read_yaml(text)
    assert found(reading, text) == problems
    assert (None if reading.node is None else to_value(reading.node)) == value


@pytest.mark.parametrize("offset", [0, 4, 1000])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_x1_spans_are_shifted_to_the_text_around(offset: int, bom: str) -> None:
    text = bom + "a: 1\nb: !x [é, 😀]\na: 2\n"
    reading = read_yaml(text, offset=offset)
    assert found(reading, text, offset) == [("custom-tag", "!x"), ("duplicate-key", "a")]
    first = reading.problems[1].annotations[0].span
    assert (first.start, first.end) == (offset + len(bom), offset + len(bom) + 1)


def test_every_problem_says_what_to_do() -> None:
    texts = (
        "a: b: c",
        "a: @x",
        "a: 'x",
        "a: [1",
        "a:\n\tb: 1",
        'a: "\\q"',
        "? [1]\n: 2",
        "a: {{ .x }}",
        "a: *x y",
        "- 1\nb: 2",
    )
    for text in texts:
        for problem in read_yaml(text).problems:
            assert problem.message
            assert problem.message[0] != " "
            assert "libyaml" not in problem.message
    assert "quotes" in read_yaml("a: {{ .x }}").problems[0].notes[0]


@pytest.mark.parametrize(
    ("text", "message", "note", "began"),
    [
        ("a: [Name] - guide\n", "text after a value that has ended", "ends at its `]`", 3),
        ("a: [Name] guide\n", "text after a value that has ended", "ends at its `]`", 3),
        ("a: [x], y\n", "text after a value that has ended", "ends at its `]`", 3),
        ("a: {x: 1} y\n", "text after a value that has ended", "ends at its `}`", 3),
        ("b: 1\na: 'it's'\n", "text after a quoted value", "of the other kind", 8),
        ('- a: "x" y\n', "text after a quoted value", "whole value in quotes", 5),
        ("- 'x' y\n", "text after a quoted value", "whole value in quotes", 2),
        ("'a' b: 1\n", "text after a quoted value", "whole value in quotes", 0),
        ("a: - b\n", "a list item cannot start here", "after its key", None),
        ("a: 1\nb: [x]\n  c: 1\n", "expected a `key: value` line here", "indented differently", 0),
        ("a: & b\n", "a space cannot follow `*` or `&` here", "alias or anchor", 3),
    ],
)
def test_x1_text_behind_a_value_is_told_from_a_wrong_line(
    text: str, message: str, note: str, began: int | None
) -> None:
    problem = read_yaml(text).problems[0]
    assert problem.message == message
    assert note in problem.notes[0]
    assert [each.span.start for each in problem.annotations] == ([] if began is None else [began])


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("wrap", ["{}", "a: {}", "- {}", "a: &x {}"])
def test_x9_nesting_is_limited(wrap: str) -> None:
    outer = 0 if wrap == "{}" else 1
    assert not read_yaml(wrap.format(nested(MAX_DEPTH - outer))).problems
    reading = read_yaml(wrap.format(nested(MAX_DEPTH - outer + 1)))
    assert [problem.rule for problem in reading.problems] == ["nested-too-deep"]


def test_x9_aliases_do_not_nest_past_the_limit() -> None:
    text = "a: &a " + nested(40) + "\nb: &b " + "[" * 30 + "*a" + "]" * 30 + "\n"
    assert [problem.rule for problem in read_yaml(text).problems] == ["nested-too-deep"]


def test_x1_aliases_resolve_while_the_expanded_size_stays_within_the_limit() -> None:
    few = "a: &a [" + "x, " * 98 + "x]\nb: [" + "*a, " * 97 + "*a]\n"
    reading = read_yaml(few)
    assert not reading.problems
    assert reading.node is not None
    assert len(to_value(reading.node)["b"]) == 98
    many = "a: &a [" + "x, " * 98 + "x]\nb: [" + "*a, " * 98 + "*a]\n"
    (problem,) = read_yaml(many).problems
    assert (problem.rule, problem.span.of(many)) == ("alias-bomb", "*a")
    assert f"{MAX_ALIAS_NODES:,}" in problem.message


def test_x1_without_aliases_there_is_no_such_limit() -> None:
    reading = read_yaml("[" + "x, " * 20_000 + "x]")
    assert not reading.problems
    assert reading.node is not None
    assert len(to_value(reading.node)) == 20_001


def test_x1_many_aliases_of_a_long_text_are_a_bomb_too() -> None:
    text = "a: &a " + "x" * 200_000 + "\nb: [" + "*a, " * 10 + "]\n"
    assert [problem.rule for problem in read_yaml(text).problems] == ["alias-bomb"]


def laughs() -> str:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * 9) + "]" for level in range(1, 10)]
    return "\n".join(lines)


HOSTILE = {
    "billion laughs": laughs(),
    "merge chain": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 25)),
    "brackets": "[" * (100_000 // PART),
    "braces": "{" * (100_000 // PART),
    "dashes": "- " * (100_000 // PART),
    "question marks": "? " * (100_000 // PART),
    "colons": "a: " * (80_000 // PART),
    "tags": "!" * (200_000 // PART),
    "anchors": "&a " * (60_000 // PART),
    "aliases": "- &a b\n" + "- *a\n" * (40_000 // PART),
    "directives": "%a\n" * (60_000 // PART),
    "quotes": '"' * (200_001 // PART),
    "backslashes": '"' + "\\" * (200_001 // PART),
    "lone surrogates": '"' + "\\ud800" * (30_000 // PART) + '"',
    "zeros": "\x00" * (200_000 // PART),
    "line separators": "a: x" + "\u2028" * (200_000 // PART),
    "tabs": "\t" * (200_000 // PART),
    "empty lines": "\n" * (200_000 // PART),
    "duplicate keys": "a: 1\n" * (30_000 // PART),
    "every private character": "".join(map(chr, [*range(0xE000, 0xF900), *range(0xF0000, 0x10FFFE)]))
    + "\u2028 \\ud83d",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_x9_hostile_yaml_is_read_in_linear_time(name: str) -> None:
    readings: list[Reading] = []
    assert is_quick(lambda: readings.append(read_yaml(HOSTILE[name])), 5 / PART)
    reading = readings[0]
    assert len(reading.problems) <= MAX_PROBLEMS
    if reading.node is not None:
        assert len(repr(to_value(reading.node))) < 5_000_000


def test_the_parser_of_pure_python_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    text = "a: [1, {b: 'x'}]\nc: |\n  d\n"
    expected = read_yaml(text)
    monkeypatch.setattr("prosa.data.yaml_events._parser_class", lambda: yaml.SafeLoader)
    pure = read_yaml(text)
    assert expected.node is not None
    assert pure.node is not None
    assert to_value(pure.node) == to_value(expected.node)
    assert [problem.rule for problem in read_yaml("a: @x").problems] == ["yaml-syntax"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n\t- b\n", "a tab cannot indent YAML"),
        ("a: b\n\tc: d\n", "a tab cannot indent YAML"),
        ("a: *.md\n", "`.` cannot follow `*` or `&` here"),
        ("a: @b\n", "`@` cannot start an unquoted value"),
    ],
)
def test_x1_a_syntax_problem_names_what_it_found(text: str, message: str) -> None:
    assert [problem.message for problem in read_yaml(text).problems] == [message]
