"""Places in data that is being written, one line per case: `|` marks the offset."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data import Mapping, Node, Scalar, Sequence, Value, read_json, read_yaml
from prosa.data.place import DataPlace, json_place, yaml_names, yaml_place
from prosa.data.yaml_write import write_yaml
from prosa.source import Span
from tests.depth import examples


def at(text: str, *, json: bool = False) -> DataPlace | None:
    offset = text.index("|")
    plain = text[:offset] + text[offset + 1 :]
    return (json_place if json else yaml_place)(plain, Span(0, len(plain)), offset)


def said(place: DataPlace | None) -> str:
    if place is None:
        return "nothing"
    path = ".".join("-" if step is None else step for step in place.path)
    return f"{place.slot} {path}: {place.typed!r}".replace(" :", ":")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|", "key: ''"),
        ("na|", "key: 'na'"),
        ("na|me: x", "key: 'na'"),
        ("name: |", "value name: ''"),
        ("name:|", "value name: ''"),
        ("name: a b|", "value name: 'a b'"),
        ("name: 'a|'", "value name: 'a'"),
        ("name: a # |", "nothing"),
        ("# |", "nothing"),
        ("name: x\n|", "key: ''"),
        ("limits:\n  |", "key limits: ''"),
        ("limits:\n  ti|\n  retries: 2", "key limits: 'ti'"),
        ("limits:\n  timeout: 3\n|", "key: ''"),
        ("limits:\n  timeout: |\nname: x", "value limits.timeout: ''"),
        ("imports:\n  - |", "item imports.-: ''"),
        ("imports:\n- ./a|", "item imports.-: './a'"),
        ("imports: [a, |", "item imports.-: ''"),
        ("imports: [a, b|]", "item imports.-: 'b'"),
        ("imports:\n  - a\n|", "key: ''"),
        ("servers:\n  - name: a\n    |", "key servers.-: ''"),
        ("servers:\n  - name: a\n    com|\n  - url: x", "key servers.-: 'com'"),
        ("servers:\n  - na|", "item servers.-: 'na'"),
        ("servers:\n  - name: a\n    transport: s|", "value servers.-.transport: 's'"),
        ("servers:\n  - {name: a, tr|}", "key servers.-: 'tr'"),
        ("auth: {type: |}", "value auth.type: ''"),
        ("auth: {type:|", "value auth.type: ''"),
        ("auth: {\n  type: none,\n  |\n}", "key auth: ''"),
        ("auth: {type: no|\nname: x", "value auth.type: 'no'"),
        ("auth: {type: none\nna|me: x", "key: 'na'"),
        ("text: >\n  some |\nname: x", "nothing"),
        ("text: >\n  some\n\n  |", "nothing"),
        ("text: >\n  some\n|", "key: ''"),
        ("input:\n  type: object\n  properties:\n    a:\n      type: |", "value input.properties.a.type: ''"),
        ('"na|me": x', "key: 'na'"),
        ("a: [{b: 1}, {c|", "key a.-: 'c'"),
        ("- a: 1\n  |", "key -: ''"),
        ("a: {b: 1} |", "nothing"),
        ("bad line without colon\nna|: x", "key: 'na'"),
        ("a: *al|", "nothing"),
    ],
)
def test_a_place_in_yaml_is_found_from_lines(text: str, expected: str):
    assert said(at(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{|", "key: ''"),
        ('{"|', "key: ''"),
        ('{"re|"}', "key: 're'"),
        ('{"a": 1, "re|": 2}', "key: 're'"),
        ('{"a": |}', "value a: ''"),
        ('{"a": "x|"}', "value a: 'x'"),
        ('{"a": "x|', "value a: 'x'"),
        ('{"a": {"b": [1, {"c": "|"}]}}', "value a.b.-.c: ''"),
        ('{"a": ["x", "y|"]}', "item a.-: 'y'"),
        ('{"a": "x" |}', "nothing"),
        ('{"a": 1, // no|\n "b": 2}', "nothing"),
        ('{\n  "a": 1,\n  |\n}', "key: ''"),
        ('{"a": tr|}', "value a: 'tr'"),
        ('{"re|, "doc-id": "x"}', "key: 're'"),
        ("|", "nothing"),
        ("x|", "nothing"),
    ],
)
def test_a_place_in_json_is_found_from_brackets(text: str, expected: str):
    assert said(at(text, json=True)) == expected


def test_the_names_beside_are_those_of_the_same_mapping():
    place = at("a:\n  b: 1\n  |\n  c: 2\nd:\n  e: 3\n")
    assert place is not None and place.beside == {"b", "c"}
    place = at("s:\n  - a: 1\n    |\n  - b: 2\n")
    assert place is not None and place.beside == {"a"}
    place = at('{"a": {"b": 1}, |, "c": 2}', json=True)
    assert place is not None and place.beside == {"a", "c"}


def test_quotes_colons_and_gaps_are_told():
    place = at('"na|me": x')
    assert place is not None and (place.quote, place.closed, place.colon) == ('"', True, True)
    place = at("{'na|")
    assert place is not None and (place.quote, place.closed, place.flow) == ("'", False, True)
    place = at("kind:|")
    assert place is not None and not place.gap
    place = at('{"a": "x|', json=True)
    assert place is not None and (place.quote, place.closed) == ('"', False)


def test_the_names_of_fields_are_known_while_the_rest_is_broken():
    text = "name: [x\ninput:\n  properties:\n    a: {type: string}\n  : y\nimports:\n  - a: 1\n  - b: 1\n"
    assert yaml_names(text, Span(0, len(text))) == {
        (): ("name", "input", "imports"),
        ("input",): ("properties", ""),
        ("input", "properties"): ("a",),
        ("input", "properties", "a"): ("type",),
        ("imports", None): ("a", "b"),
    }


_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)
_SCALARS = st.one_of(st.booleans(), st.integers(-99, 99), st.text("ab #:{}[],'\"-|>&*!%@é😀", max_size=8))
_DATA = st.dictionaries(
    _NAMES,
    st.recursive(
        _SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3))
    ),
    min_size=1,
    max_size=4,
)


def parts(node: Node, path: tuple[str | None, ...] = ()) -> Iterator[tuple[str, tuple[str | None, ...], Scalar]]:
    """The names and values of a tree, each with its slot and path."""
    if isinstance(node, Mapping):
        for entry in node:
            yield "key", path, entry.key
            yield from parts(entry.value, (*path, entry.key.text))
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from parts(item, (*path, None))
    else:
        yield ("item" if path and path[-1] is None else "value"), path, node


@given(_DATA)
@settings(max_examples=examples(60))
def test_places_are_those_that_a_reader_finds_in_what_can_be_read(data: dict[str, Value]):
    for text, read, find in (
        (write_yaml(data), read_yaml, yaml_place),
        (json.dumps(data, ensure_ascii=False), read_json, json_place),
        (json.dumps(data, indent=2), read_json, json_place),
    ):
        reading = read(text)
        assert reading.node is not None and not reading.problems
        for slot, path, node in parts(reading.node):
            written = node.span.of(text)
            inner = written[1:-1] if written[:1] in "\"'" else written
            at = node.span.end - (1 if written[:1] in "\"'" else 0)
            place = find(text, Span(0, len(text)), at)
            assert place is not None
            assert (place.path, place.span.of(text)) == (path, inner)
            assert place.slot == slot or (slot, place.slot) == ("key", "item")


_PIECES = st.sampled_from(
    [
        *("a", "name", ":", ": ", " ", "  ", "\n", "\r\n", "- ", "-", "#", " # x", "[", "]", "{", "}", ",", '"', "'"),
        *("|", ">", "\t", "\\", "&x", "*x", "//", "é", "😀", "---", "null", "1", ".", "\ufeff", "\0"),
    ]
)


@given(st.lists(_PIECES, max_size=40).map("".join), st.integers(0, 200))
def test_no_text_and_no_offset_fail_and_the_span_holds_the_offset(text: str, offset: int):
    offset = min(offset, len(text))
    for find in (yaml_place, json_place):
        place = find(text, Span(0, len(text)), offset)
        if place is not None:
            assert 0 <= place.span.start <= place.span.end <= len(text)
            assert place.span.start <= offset <= place.span.end
            assert place.typed == text[place.span.start : offset]
            assert not {"\n", "\r"} & set(place.span.of(text))
