"""Places in templates that are being written: `|` marks the offset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.template import Template
from prosa.template.exec import SPECIAL
from prosa.template.funcs import ABOUT, FUNCTIONS, KEYWORDS_ABOUT
from prosa.template.pipeline import KEYWORDS
from prosa.template.place import TemplatePlace, template_names, template_place


def at(text: str) -> TemplatePlace | None:
    offset = text.index("¦")
    return template_place(text.replace("¦", ""), offset)


def said(place: TemplatePlace | None) -> str:
    if place is None:
        return "nothing"
    path = "?" if place.path is None else ".".join(step or "[]" for step in place.path) or "top"
    return f"{place.slot} {place.typed!r}" + (f" in {path}" if place.slot == "name" else "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ¦ b", "nothing"),
        ("{{¦", "word ''"),
        ("{{ .¦", "name '' in top"),
        ("{{ .na¦", "name 'na' in top"),
        ("{{ .na¦ }}", "name 'na' in top"),
        ("{{ .a.b¦", "name 'b' in a"),
        ("{{ .a.b.¦ }}", "name '' in a.b"),
        ("{{ upper .a.¦ }}", "name '' in a"),
        ("{{ .a | up¦", "word 'up'"),
        ("{{ if .a }}{{ .¦", "name '' in top"),
        ("{{ range .items }}{{ .¦", "name '' in items.[]"),
        ("{{ range .items }}x{{ end }}{{ .¦", "name '' in top"),
        ("{{ range .items }}x{{ else }}{{ .¦", "name '' in top"),
        ("{{ range $i, $e := .items }}{{ $e.¦", "name '' in items.[]"),
        ("{{ range $i, $e := .items }}{{ $.¦", "name '' in top"),
        ("{{ range $i, $e := .items }}{{ $¦", "variable ''"),
        ("{{ with .a.b }}{{ .¦", "name '' in a.b"),
        ("{{ with $x := .a }}{{ $x.c.¦", "name '' in a.c"),
        ("{{ $x := .a }}{{ $x.¦", "name '' in a"),
        ("{{ $x := upper .a }}{{ $x.¦", "name '' in ?"),
        ("{{ (index .a 0).¦", "name '' in ?"),
        ('{{ define "x" }}{{ .¦', "name '' in ?"),
        ('{{ template "¦', "template ''"),
        ('{{ printf ".na¦', "nothing"),
        ("{{/* .na¦", "nothing"),
        ("{{ .a }} text ¦", "nothing"),
        ("{{- .na¦ -}}", "name 'na' in top"),
        ("{{ .a-b¦ }}", "name 'a-b' in top"),
        ("{{ 12¦", "nothing"),
        ("{{ range .a }}{{ range .b }}{{ .¦", "name '' in a.[].b.[]"),
        ("{{ broken ( }}{{ .¦", "name '' in top"),
        ("{{ eq .a .¦", "name '' in top"),
        ("{{ (.¦", "name '' in top"),
    ],
)
def test_a_place_is_found_from_tokens(text: str, expected: str):
    assert said(at(text)) == expected


def test_variables_in_scope_are_told_with_what_they_hold():
    place = at("{{ $a := .x }}{{ range $i, $e := .items }}{{ $¦ }}{{ end }}{{ $b := .y }}")
    assert place is not None
    assert place.variables == {"$a": ("x",), "$e": ("items", None), "$i": None}
    assert place.blocks == ("range",) and place.closed


def test_the_names_of_templates_are_found():
    assert template_names('{{ define "a" }}{{ end }}{{- block "b" . }}') == ("a", "b")


def test_every_function_and_keyword_says_what_it_does():
    assert set(ABOUT) == {*FUNCTIONS, *SPECIAL}
    assert set(KEYWORDS_ABOUT) == {*KEYWORDS, "true", "false", "nil"}


_FIELD = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(lambda names: "." + ".".join(names))
_EXPRESSION = st.one_of(
    _FIELD,
    _FIELD.map("$v{}".format),
    _FIELD.map("${}".format),
    _FIELD.map("upper {}".format),
    st.tuples(_FIELD, _FIELD).map(" | default ".join),
    st.tuples(_FIELD, _FIELD).map(lambda pair: f"eq {pair[0]} ${pair[1]}"),
)
_OPENING = st.one_of(
    _EXPRESSION.map("{{{{ if {} }}}}".format),
    _FIELD.map("{{{{ range {} }}}}".format),
    _FIELD.map("{{{{ range $i, $v := {} }}}}".format),
    _FIELD.map("{{{{- with {} -}}}}".format),
    _FIELD.map("{{{{ with $v := {} }}}}".format),
)
_TEMPLATES = st.recursive(
    st.one_of(_EXPRESSION.map("{{{{ {} }}}} ".format), _FIELD.map("{{{{ $v := {} }}}}".format)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(_OPENING, inner).map(lambda parts: f"{parts[0]}{parts[1]}{{{{ end }}}}"),
        st.tuples(_OPENING, inner, inner).map(
            lambda parts: f"{parts[0]}{parts[1]}{{{{ else }}}}{parts[2]}{{{{ end }}}}"
        ),
    ),
    max_leaves=12,
)


@given(_TEMPLATES)
def test_x13_places_are_those_that_the_analysis_finds_in_what_parses(body: str):
    template = Template(f"{{{{ $v := .a }}}}{body}")
    at: dict[int, set[tuple[str | None, ...]]] = {}
    for use in template.uses:
        at.setdefault(use.span.end, set()).add(use.path)
    for offset, paths in at.items():
        place = template_place(template.text, offset)
        assert place is not None and place.slot == "name"
        assert place.path is not None and (*place.path, place.typed) in paths


_PIECES = st.sampled_from(
    [
        *("{{", "}}", "{{-", "-}}", " ", "\n", ".", "a", "$", "$x", ":=", "=", "range", "if", "with", "end", "else"),
        *("define", "block", "template", '"', "'", "`", "(", ")", "|", ",", "/*", "*/", "1", "é", "😀", "-", "upper"),
    ]
)


@given(st.lists(_PIECES, max_size=40).map("".join), st.integers(0, 200))
def test_no_text_and_no_offset_fail(text: str, offset: int):
    offset = min(offset, len(text))
    place = template_place(text, offset)
    if place is not None:
        assert 0 <= place.span.start <= offset <= place.span.end <= len(text)
        assert place.typed == text[place.span.start : offset]
