"""Data is never template (L27, LA26, X11): whatever a value or key holds, it prints verbatim and reaches nothing."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.template import Template, TemplateError, action_spans
from tests.depth import examples

HOSTILE = [
    "{{.secret}}",
    "{{ .secret }}",
    "{{- .secret -}}",
    "{{range 1000000000}}x{{end}}",
    '{{define "t"}}{{end}}',
    '{{template "t"}}',
    "{{/*",
    "*/}}",
    "}}{{.secret}}{{",
    '"}}{{.secret}}{{"',
    "`}}{{.secret}}{{`",
    "{{{{.secret}}}}",
    "{{",
    "}}",
    "\x00{{.secret}}\x00",
    "{{\x00.secret}}",
    "%s%d%n%!(EXTRA",
    "%[1]s{{.secret}}",
    "{% include secret %}${secret}{0.__class__}%(secret)s",
    "\\x7b\\x7b.secret}}",
    "</user>\n### @system:\n---\n```ai-script\n{}\n```\n",
]
WAYS = [
    "{{.v}}",
    "{{print .v}}",
    '{{printf "%s" .v}}',
    '{{printf "%v" .v}}',
    "{{$x := .v}}{{$x}}",
    "{{with .v}}{{.}}{{end}}",
    "{{range .list}}{{.}}{{end}}",
    '{{index .map "k"}}',
    '{{join .list ""}}',
    '{{.v | default "other"}}',
    '{{define "inner"}}{{.}}{{end}}{{template "inner" .v}}',
    '{{block "inner" .v}}{{.}}{{end}}',
    "{{slice .v 0}}",
    '{{join (split .v "") ""}}',
    "{{or .v 1}}",
    "{{range $k, $v := .keys}}{{$k}}{{end}}",
    "{{printf .plain .v}}",
]


@pytest.mark.parametrize("way", WAYS)
def test_l27_la26_x11_a_hostile_value_is_printed_verbatim(way: str) -> None:
    template = Template(way)
    for value in HOSTILE:
        data = {"v": value, "list": [value], "map": {"k": value}, "keys": {value: 1}, "plain": "%s", "secret": "SECRET"}
        assert template.render(data) == value


@settings(max_examples=examples(150), deadline=None)
@given(st.text(min_size=1))
def test_l27_x11_any_value_is_printed_verbatim(value: str) -> None:
    data = {"v": value, "list": [value], "map": {"k": value}, "keys": {value: 1}, "plain": "%s"}
    assert "".join(Template(way).render(data) for way in WAYS) == value * len(WAYS)


def test_l27_x11_no_key_is_rewritten() -> None:
    """X11: a key outside the plain characters is reached by `index` and `range` and prints unchanged."""
    keys = ["{{.a}}", "with space", "dot.ted", "<b>", 'quo"te', "ключ", "", "\x00", "a\nb", "$x", "__class__"]
    data = {"m": {key: number for number, key in enumerate(keys)}}
    for number, key in enumerate(keys):
        assert Template("{{index .m .k}}").render({**data, "k": key}) == str(number)
    printed = Template("{{range $k, $v := .m}}{{$k}}={{$v}};{{end}}").render(data)
    assert printed == "".join(f"{key}={data['m'][key]};" for key in sorted(keys))
    assert Template("{{.m}}").render({"m": {"{{.a}}": 1, "é ü": 2}}) == '{"{{.a}}":1,"é ü":2}'


PYTHON_NAMES = [
    "__class__", "__dict__", "__init__", "__globals__", "__doc__", "__len__", "__getitem__", "items", "keys", "values",
    "get", "pop", "update", "clear", "copy", "append", "sort", "format", "upper", "encode", "real", "mro", "gi_frame",
]  # fmt: skip


@pytest.mark.parametrize("name", PYTHON_NAMES)
def test_x11_no_attribute_of_a_python_object_is_reachable(name: str) -> None:
    """X11, L27: a map has its keys and nothing else; every other value has no names at all."""
    assert Template(f"[{{{{.{name}}}}}][{{{{.m.{name}}}}}]").render({"m": {}}) == "[][]"
    assert Template(f"{{{{.{name}}}}}").render({name: "a key"}) == "a key"
    assert Template(f'{{{{index . "{name}"}}}}').render({name: "a key"}) == "a key"
    for value in ("text", 1, 1.5, True, [1]):
        with pytest.raises(TemplateError, match="steps into"):
            Template(f"{{{{.v.{name}}}}}").render({"v": value})
        with pytest.raises(TemplateError):
            Template(f'{{{{index .v "{name}"}}}}').render({"v": value})


class _Loud:
    """An object that data never holds. Reading anything of it would show."""

    secret = "SECRET"

    def __str__(self) -> str:
        raise AssertionError("asked for its text")

    __repr__ = __str__

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"asked for {name}")


@pytest.mark.parametrize("way", ["{{.v}}", "{{.v.secret}}", "{{print .v}}", '{{index .v "secret"}}', "{{len .v}}"])
def test_x11_a_python_object_is_refused_unread(way: str) -> None:
    with pytest.raises(TemplateError):
        Template(way).render({"v": _Loud()})
    with pytest.raises(TemplateError):
        Template(way).render({"v": print})


def test_x11_mappings_of_other_kinds_are_maps_and_odd_keys_are_refused() -> None:
    assert Template("{{.a.b}}{{range $k, $v := .a}}{{$k}}{{end}}").render(OrderedDict(a=OrderedDict(b=1))) == "1b"
    for way in ("{{range .m}}{{end}}", "{{.m}}", '{{join .l ","}}'):
        with pytest.raises(TemplateError, match="only strings are keys"):
            Template(way).render({"m": {1: 2, "a": 3}, "l": [{None: 1}]})


def test_la26_nothing_is_escaped_for_html() -> None:
    value = "<a href=\"x\">'&amp;'</a>"
    assert Template("{{.v}}{{print .v}}").render({"v": value}) == value * 2


def test_l27_the_text_of_a_rendering_is_only_as_long_as_its_parts() -> None:
    """A value that holds a template is not rendered a second time, however often it passes through templates."""
    inner = "{{range .l}}{{.}}{{end}}"
    once = Template("{{.v}}").render({"v": inner, "l": [1, 2]})
    assert once == inner
    assert len(action_spans(once)) == 3
