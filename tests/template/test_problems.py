"""Every mistake of a template, not the first alone (X11)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.template import Template, TemplateError, template_problems
from prosa.template.parse import MAX_PROBLEMS
from prosa.template.pipeline import MAX_DEPTH

PIECES = (
    *(
        "text ",
        "{{.a}}",
        "{{.a-b}}",
        "{{uper .a}}",
        "{{.a.}}",
        '{{"x}}',
        "{{if .a}}",
        "{{if nope}}",
        "{{else}}",
        "{{end}}",
    ),
    *("{{range $i, $x := .a}}", "{{range}}", "{{$x}}", "{{$y}}", "{{break}}", '{{define "t"}}', "{{define}}", "{{(}}"),
    *('{{template "t"}}', "{{template}}", '{{block "t" .}}', "{{block}}", "{{/* c */}}", "{{/* c }}", "{{", "}}", "\n"),
)


def told(text: str) -> list[tuple[int, str]]:
    return [(each.line, each.message) for each in template_problems(text)]


@pytest.mark.parametrize(
    "text", ["", "{{.a}}", "{{if .a}}b{{else}}c{{end}}", '{{define "t"}}{{.}}{{end}}{{template "t" .}}']
)
def test_x11_a_template_without_mistakes_has_none(text: str) -> None:
    assert told(text) == []


def test_x11_every_wrong_action_is_told_and_blocks_stay_blocks() -> None:
    text = (
        "{{uper .a}}\n{{if nope}}\n{{.b c}}\n{{else .x}}\n{{$no}}\n{{end}}\n{{range}}{{break}}{{end}}\n{{.é²}}\n{{.ok}}"
    )
    assert [line for line, _ in told(text)] == [1, 2, 3, 4, 5, 7, 8]


def test_x11_blocks_without_an_end_are_told_last_and_once() -> None:
    assert told("{{if .a}}{{nope}}\n{{range .b}}") == [
        (1, "there is no function 'nope'; a value of the input is written .nope"),
        (2, "{{range}} has no {{end}}"),
    ]


def test_x11_an_unknown_function_gets_the_one_that_was_meant() -> None:
    """X14."""
    ((line, message),) = told("{{ .a | uper }}")
    assert (line, message) == (
        1,
        "there is no function 'uper'; did you mean upper? a value of the input is written .uper",
    )
    ((_, message),) = told("{{ zzzz }}")
    assert message == "there is no function 'zzzz'; a value of the input is written .zzzz"


def test_x9_so_many_are_told_and_no_more() -> None:
    assert len(told("{{nope}}" * 1000)) == MAX_PROBLEMS
    deep = "{{if .a}}" * (MAX_DEPTH + 1) + "{{nope}}" + "{{end}}" * (MAX_DEPTH + 1)
    assert told(deep) == [(1, f"nested deeper than {MAX_DEPTH} levels")]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join))
def test_x11_the_first_one_is_what_parsing_says_and_the_rest_have_their_places(text: str) -> None:
    found = template_problems(text)
    try:
        Template(text)
    except TemplateError as error:
        assert (found[0].message, found[0].offset) == (error.message, error.offset)
    else:
        assert found == ()
    assert all(0 <= each.offset <= len(text) and text[each.offset :].startswith(each.fragment) for each in found)
    assert len(found) <= MAX_PROBLEMS


@given(st.text(alphabet=st.characters(categories=("Lu", "Ll", "Lo", "Lm", "Lt", "Nd"))))
def test_x11_a_name_is_of_any_script(rest: str) -> None:
    name = f"n{rest}"
    assert Template(f"{{{{.{name}}}}}|{{{{$.{name}}}}}").render({name: "v"}) == "v|v"


@given(st.characters(categories=("Nl", "No", "Mn", "So")))
def test_x11_other_characters_make_no_name(character: str) -> None:
    """As in Go; such a key is reached by ``index``."""
    with pytest.raises(TemplateError):
        Template(f"{{{{.a{character}}}}}")
    assert Template(f'{{{{index . "a{character}"}}}}').render({f"a{character}": "v"}) == "v"


@pytest.mark.parametrize("text", [None, 5, b"x"])
def test_a_template_that_is_no_text_is_refused_by_its_type(text: object):
    with pytest.raises(TypeError, match=f"text is of the type {type(text).__name__}; expected str"):
        Template(text)  # type: ignore[arg-type]
