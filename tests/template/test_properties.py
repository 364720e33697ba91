"""What holds for every text and every value: nothing but `TemplateError`, linear work, a limit for everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.template import Template, TemplateError, action_spans, undeclared, value_text
from prosa.template import exec as execution
from prosa.template.exec import MAX_LEVELS
from prosa.template.pipeline import MAX_DEPTH
from tests.depth import DEEP, examples
from tests.template.vectors import CASES
from tests.work import PART, is_linear, is_quick

QUICK = settings(max_examples=examples(200), deadline=None)

PIECES = [
    "{{", "}}", "{{-", "-}}", "{{- ", " -}}", "/*", "*/", "(", ")", "|", ".", "$", "$x", ":=", "=", ",", '"', "'", "`",
    "\\", "\n", " ", ".a", ".b.c", "if ", "else ", "end", "range ", "with ", 'define "t"', 'template "t" ',
    'block "t" ', "break", "continue", "nil", "true", "1", "-1", "1.5", "0x", "1e9", "'a'", '"s"', "%d", "len ",
    "index ", "print ", "printf ", "eq ", "and ", "slice ", "join ", "default ", "text", "é", "\x00", "\u2028",
    "\ud800", "-",
]  # fmt: skip
templates = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
actions = st.lists(templates.map(lambda inner: "{{" + inner + "}}"), max_size=6).map("".join)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@QUICK
@given(st.text())
def test_x11_text_without_an_action_renders_to_itself(text: str) -> None:
    plain = text.replace("{{", "{ {")
    assert Template(plain).render({}) == plain
    assert action_spans(plain) == ()


@QUICK
@given(values, st.text(max_size=9).filter(lambda text: "{{" not in text))
def test_l27_x11_x12_rendering_a_value_is_its_text_and_parses_nothing(value: Any, around: str) -> None:
    around = around.replace("{", "")
    rendered = Template(around + "{{.v}}" + around).render({"v": value})
    assert rendered == around + value_text(value) + around


@settings(max_examples=examples(200), deadline=None)
@given(templates | actions | st.text(), values)
def test_no_text_and_no_data_raise_anything_but_a_template_error(text: str, data: Any) -> None:
    try:
        template = Template(text)
    except TemplateError as error:
        _check_place(error, text)
        return
    undeclared(template, {"properties": {"a": {"properties": {"b": {}}, "additionalProperties": False}}})
    for given_data in (data, {"a": data, "b": {"c": data}}):
        try:
            assert isinstance(template.render(given_data), str)
        except TemplateError as error:
            _check_place(error, text)


def _check_place(error: TemplateError, text: str) -> None:
    """The error stands inside of the text and says something."""
    assert 0 <= error.offset <= len(text)
    assert error.message
    assert error.line >= 1 and error.column >= 1
    assert str(error) == f"line {error.line}, column {error.column}: {error.message}"


@settings(max_examples=examples(200), deadline=None)
@given(templates | actions | st.text())
def test_action_spans_never_fail_and_are_disjoint_ordered_actions(text: str) -> None:
    end = 0
    for span in action_spans(text):
        assert end <= span.start < span.end <= len(text)
        assert text.startswith("{{", span.start)
        assert text.endswith("}}", span.start, span.end)
        end = span.end
    assert "{{" not in "".join(text[end:].split("{{")[:1])


def test_action_spans_are_the_actions_that_the_parser_sees() -> None:
    """With every action taken out, a template renders to the text around it: so no delimiter is left in that."""
    checked = 0
    for cases in CASES.values():
        for case in cases:
            text = case["template"]
            try:
                Template(text)
            except TemplateError:
                continue
            rest = text
            for span in reversed(action_spans(text)):
                rest = rest[: span.start] + rest[span.end :]
            assert "{{" not in rest, case["id"]
            assert Template(rest).render({}) == rest
            checked += 1
    assert checked > 1000


def _chain(length: int) -> str:
    """Templates of which each calls the next."""
    return "".join(f'{{{{define "t{i}"}}}}{{{{template "t{i + 1}" .}}}}{{{{end}}}}' for i in range(length))


def _calls(times: int) -> str:
    """Calls of one template, each with another name of the data."""
    return "".join(f'{{{{template "t" .a{i}}}}}' for i in range(times))


HOSTILE: dict[str, Callable[[int], str]] = {
    "open": lambda n: "{{" * n,
    "open parentheses": lambda n: "{{(" * n,
    "parentheses": lambda n: "{{" + "(" * n + "1" + ")" * n + "}}",
    "unclosed parentheses": lambda n: "{{" + "(" * n,
    "unclosed if": lambda n: "{{if .a}}" * n,
    "nested if": lambda n: "{{if .a}}" * n + "{{end}}" * n,
    "else if": lambda n: "{{if .a}}" + "{{else if .b}}" * n + "{{end}}",
    "else with": lambda n: "{{with .a}}" + "{{else with .b}}" * n + "{{end}}",
    "unclosed comments": lambda n: "{{/*" * n,
    "half-closed comments": lambda n: "{{/* */" * n,
    "comments": lambda n: "{{/* c */}}" * n,
    "a long string": lambda n: '{{"' + "a" * 9 * n + '"}}',
    "escapes": lambda n: '{{"' + "\\u00e9" * n + '"}}',
    "unclosed string of escaped quotes": lambda n: '{{"' + '\\"' * n,
    "escaped quotes outside of strings": lambda n: '{{\\"}}' * n,
    "escaped apostrophes outside of strings": lambda n: "{{\\'}}" * n,
    "quotes in actions": lambda n: '{{"}}' * n,
    "apostrophes in actions": lambda n: "{{'}}" * n,
    "backquotes": lambda n: "{{`" * n,
    "backquotes in actions": lambda n: "{{`}}" * n,
    "all quotes": lambda n: "{{\"}}{{'}}{{`}}" * n,
    "a long pipeline": lambda n: "{{1" + " | print" * n + "}}",
    "many arguments": lambda n: "{{print" + " 1" * n + "}}",
    "many variables": lambda n: "".join(f"{{{{$v{i} := 1}}}}" for i in range(n)) + "{{$v0}}" * n,
    "a long path": lambda n: "{{with " + ".a" * n + "}}" + "{{.b}}" * n + "{{end}}",
    "a growing path": lambda n: "{{$x := .}}" + "{{$x = $x.a}}" * n,
    "a variable of many paths": lambda n: "{{$x := .}}" + "".join(f"{{{{$x = .b{i}}}}}{{{{$x.y}}}}" for i in range(n)),
    "many names": lambda n: "".join(f"{{{{.n{i}}}}}" for i in range(n)),
    "a long name": lambda n: "{{.a" + "-a" * n + "}}",
    "hyphens": lambda n: "{{.a" + "-" * n + "}}",
    "a long number": lambda n: "{{" + "1" * n + "}}",
    "spaces before trim markers": lambda n: ("x" + " " * n + "{{- 1 -}}") * 3 + " " * n,
    "trim markers": lambda n: " {{- 1 -}} " * n,
    "a chain of templates": lambda n: _chain(n) + '{{template "t0" .}}',
    "a template called in many ways": lambda n: '{{define "t"}}' + "{{.x}}" * (n // 10) + "{{end}}" + _calls(n),
    "width stars": lambda n: '{{printf "' + "%*d" * n + '" 1}}',
    "argument indexes": lambda n: '{{printf "' + "%[" * n + '" 1}}',
}  # fmt: skip


SMALL, GROWTH = 1_000, 8


def _read_and_render(text: str) -> None:
    """Everything that is done with a template. Who stops early says so in a `TemplateError`."""
    try:
        template = Template(text)
        undeclared(template, {"properties": {"a": {}, "l": {}}, "additionalProperties": False})
        template.render({"l": [1, 2]})
    except TemplateError as error:
        assert len(error.message) < 200


@pytest.mark.parametrize("name", HOSTILE)
def test_work_is_linear_for_hostile_text(name: str) -> None:
    """Eight times the text takes about eight times as long to parse, check and render; quadratic work takes 64."""
    assert is_linear(lambda size: _read_and_render(HOSTILE[name](size)), SMALL, SMALL * GROWTH)


@pytest.mark.parametrize("name", HOSTILE)
def test_action_spans_are_found_in_linear_time(name: str) -> None:
    """Some hundred thousand characters of it: a search that starts again at every quote would take minutes."""
    text = HOSTILE[name](SMALL) * (50 // PART)
    assert is_quick(lambda: action_spans(text), 5 / PART)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1000, 10_000 // PART])
@pytest.mark.parametrize(
    "nested",
    [
        lambda n: "{{" + "(" * n + "1" + ")" * n + "}}",
        lambda n: "{{" + "print (" * n + "1" + ")" * n + "}}",
        lambda n: "{{if 1}}" * n + "x" + "{{end}}" * n,
        lambda n: "{{range 1}}{{with 1}}" * n + "x" + "{{end}}{{end}}" * n,
        lambda n: "{{if 0}}{{else}}" * n + "x" + "{{end}}" * n,
        lambda n: '{{block "b" .}}' * n + "x" + "{{end}}" * n,
    ],
)
def test_depth_beyond_the_limit_is_an_error_that_says_so(nested: Callable[[int], str], depth: int) -> None:
    with pytest.raises(TemplateError, match=f"nested deeper than {MAX_DEPTH} levels"):
        Template(nested(depth))


def test_the_deepest_templates_render() -> None:
    deep = MAX_DEPTH - 1
    assert Template("{{" + "(" * deep + "1" + ")" * deep + "}}").render({}) == "1"
    assert Template("{{" + "print (" * deep + "1" + ")" * deep + "}}").render({}) == "1"
    pairs = deep // 2
    assert Template("{{" + "or ((" * pairs + ".x" + ").k)" * pairs + "}}").render({}) == ""
    text = "{{if 1}}{{with 2}}{{range 1}}" * (deep // 3) + "x" + "{{end}}" * (deep // 3 * 3)
    assert Template(text).render({}) == "x"
    assert undeclared(Template(text), {"properties": {"a": {}}}) == ()


def test_a_chain_of_thousands_of_else_ifs_is_a_chain_and_no_depth() -> None:
    arms_last = 9_999 if DEEP else 2_499
    arms = "".join(f"{{{{else if eq .n {i}}}}}{i}" for i in range(arms_last + 1))
    template = Template("{{if eq .n -1}}first" + arms + "{{else}}last{{end}}")
    assert [template.render({"n": n}) for n in (-1, 0, arms_last, 10_000)] == ["first", "0", str(arms_last), "last"]
    assert undeclared(template, {"properties": {"n": {}}}) == ()


def _nested(depth: int) -> Any:
    value: Any = "core"
    for level in range(depth):
        value = {"k": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize("depth", [500, 100_000])
def test_data_of_any_depth_prints_or_is_refused(depth: int) -> None:
    data = {"v": _nested(depth)}
    for way in ("{{.v}}", "{{print .v}}", '{{printf "%s" .v}}', "{{html .v}}", '{{join .v ","}}'):
        try:
            assert "core" in Template(way).render(data)
        except TemplateError as error:
            assert depth == 100_000 or "needs a list" in error.message
    assert Template("{{if .v}}yes{{end}}{{len .v}}").render(data) == "yes1"


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(TemplateError, match="levels deep"):
        Template("{{.v}}").render({"v": loop})


def test_a_template_may_walk_data_of_sixty_four_levels_by_calling_itself() -> None:
    tree: dict[str, Any] = {"v": 0, "kids": []}
    for level in range(1, 64):
        tree = {"v": level, "kids": [tree]}
    text = '{{define "t"}}{{.v}} {{if .kids}}{{range .kids}}{{template "t" .}}{{end}}{{end}}{{end}}{{template "t" .}}'
    assert Template(text).render(tree).split() == [str(level) for level in range(63, -1, -1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{{define "t"}}{{template "t"}}{{end}}{{template "t"}}', f"more than {MAX_LEVELS} levels"),
        ('{{define "t"}}{{template "t" (print (print 1))}}{{end}}{{template "t"}}', f"more than {MAX_LEVELS} levels"),
        ('{{define "t"}}' + "{{if 1}}" * 90 + '{{template "t"}}' + "{{end}}" * 91 + '{{template "t"}}', "levels"),
        ('{{define "t"}}' + '{{template "t"}}' * 9 + "{{end}}" + '{{template "t"}}', "levels"),
        ("{{range 1000000000}}{{end}}", "steps"),
        ("{{range 1000000000000000000000000000000}}{{end}}", "steps"),
        ("{{range $.l}}{{range $.l}}{{range $.l}}{{range $.l}}{{end}}{{end}}{{end}}{{end}}", "steps"),
        ("{{range $.l}}{{range $.l}}{{continue}}{{end}}{{end}}", "steps"),
        ('{{define "t"}}{{end}}{{range 2000000}}{{template "t"}}{{end}}', "steps"),
        ("{{range 100000}}{{$.text}}{{end}}", "grows beyond"),
        ('{{$x := "aaaaaaaa"}}{{range 100}}{{$x = print $x $x}}{{end}}', "characters"),
        ("{{range 100000}}{{if upper $.text}}{{end}}{{end}}", "functions go through more than"),
        ("{{range 100000}}{{if eq $.text $.text}}{{end}}{{end}}", "functions go through more than"),
        ('{{range 100000}}{{if split $.text "x"}}{{end}}{{end}}', "functions go through more than"),
        ("{{range 100000}}{{if print $.big}}{{end}}{{end}}", "functions go through more than"),
        ('{{printf "%10001d" 1}}', "width"),
        ('{{printf "%.10001f" 1.0}}', "width"),
    ],
)
def test_x9_every_limit_of_a_rendering_is_an_error_that_says_so(
    text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits of work and length are lowered a hundred times here; the others are what they are."""
    for limit in ("MAX_STEPS", "MAX_WORK", "MAX_OUTPUT"):
        monkeypatch.setattr(execution, limit, getattr(execution, limit) // 100)
    data = {"l": list(range(1000)), "text": "x" * 1000, "big": ["x" * 1000]}
    template = Template(text)
    with pytest.raises(TemplateError, match=message):
        template.render(data)
    assert template.uses is not None


def test_a_range_without_end_ends_at_the_limit_of_steps() -> None:
    with pytest.raises(TemplateError, match="more than 1,000,000 steps"):
        Template("{{range 1000000000}}{{end}}").render({})


def test_cheap_functions_on_large_values_cost_nothing() -> None:
    """`len`, `index` and `default` do not count what they are given, so a loop over a large document works."""
    data = {"text": "x" * 1_000_000, "rows": [[0] * 1000] * 1000}
    text = '{{range .rows}}{{if and (len $.text) (index $.rows 1) ($.text | default "")}}{{end}}{{end}}done'
    assert Template(text).render(data) == "done"


def test_one_template_renders_many_times_without_a_memory() -> None:
    template = Template('{{$x := .v}}{{$x = print $x .v}}{{$x}}{{define "t"}}{{end}}')
    assert [template.render({"v": value}) for value in ("a", "b", "a")] == ["aa", "bb", "aa"]
