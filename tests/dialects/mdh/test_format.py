"""The normal form of a node, and new nodes as text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data import Value
from prosa.dialects.dialect import FormatOptions
from prosa.dialects.front import read_front
from prosa.dialects.mdh.as_dialect import write
from prosa.source import SourceText, apply_edits
from tests.depth import examples
from tests.dialects.mdh.documents import node, reading, rules_of
from tests.dialects.mdh.test_reading import FULL, HOSTILE


def formatted(text: str) -> str:
    return apply_edits(text, reading(text).format_edits(FormatOptions()))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "action:\n  id: a\n  method: GET\n  url: /a\n",
            "actions:\n  - id: a\n    method: GET\n    url: /a\n",
        ),
        ("action: {id: a, method: get, url: a}\n", "actions: [{id: a, method: GET, url: /a}]\n"),
        ("action:\n- id: a\n  method: GET\n", "actions:\n- id: a\n  method: GET\n"),
        ("action: []\n", "actions: []\n"),
        (
            "action: # one\n    id: a # two\n    # three\n    method: 'get'\n\n    title: |\n      x\n       y\nx: 1\n",
            (
                "actions: # one\n    - id: a # two\n      # three\n      method: 'GET'\n\n      title: |\n        x\n"
                "         y\nx: 1\n"
            ),
        ),
        ("links: [{rel: a, target: '/b'}]\n", "links: [{rel: a, target: 'url:/b'}]\n"),
        (
            "links:\n  - {rel: a, target: https://b.example/ }\n",
            "links:\n  - {rel: a, target: url:https://b.example/ }\n",
        ),
        ('actions: [{id: a, method: "Post", url: "b/{c}"}]\n', 'actions: [{id: a, method: "POST", url: "/b/{c}"}]\n'),
    ],
)
def test_ha9_ha4_the_normal_form(before: str, after: str):
    """HA9, HA4, H11. Comments, quotes and everything else stay; line ends too."""
    for end in ("\n", "\r\n"):
        text = node(before).replace("\n", end)
        assert formatted(text) == node(after).replace("\n", end)
        assert formatted(formatted(text)) == formatted(text)


@pytest.mark.parametrize(
    "fields",
    [
        "action: {id: a}\nactions: [{id: b}]\n",
        "action: &x\n  id: a\n  method: GET\nother: *x\n",
        "action: 5\n",
        "action:\n",
        "actions: [{id: a, method: fetch, url: ../b}]\n",
        'actions: [{id: a, method: "\\u0067et", url: /b}]\n',
        "links: [{rel: a, target: hours}, {rel: a, target: 'svc:x'}]\n",
    ],
)
def test_what_is_not_certain_stays_as_it_is(fields: str):
    assert formatted(node(fields)) == node(fields)


def test_a_node_in_normal_form_has_no_edits():
    assert reading(FULL).format_edits(FormatOptions(rehash=True)) == ()


@settings(max_examples=examples(150), deadline=None)
@given(HOSTILE)
def test_formatting_is_idempotent_and_never_breaks_the_front_matter(text: str):
    """The normal form has none of the fixable forms left, and reads as the same node."""
    after = formatted(text)
    assert formatted(after) == after
    if after != text and not read_front(SourceText(text)).problems:
        assert not read_front(SourceText(after)).problems
        assert [each["id"] for each in reading(after).facts()["actions"] if "id" in each] == [
            each["id"] for each in reading(text).facts()["actions"] if "id" in each
        ]


DATA: st.SearchStrategy[Value] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=12)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=examples(150), deadline=None)
@given(st.dictionaries(st.text(max_size=8), DATA, max_size=4), st.text("ab \n#-", max_size=20))
def test_a_new_node_reads_back_as_what_was_written(fields: dict[str, Value], body: str):
    expected = {name: value for name, value in fields.items() if value is not None}
    if "action" in expected and "actions" not in expected:
        single = expected.pop("action")
        expected["actions"] = single if isinstance(single, list) else [single]
    front = read_front(SourceText(write(fields, body)))
    assert front.problems == ()
    assert front.value == expected
    assert front.source.slice(front.body).lstrip("\n") == body.lstrip("\n")


def test_h9_a_new_node_has_its_fields_in_the_order_of_the_specification():
    """H9, HA9. The writer emits `actions`."""
    text = write(
        {
            "action": {"url": "/api/loans", "method": "GET", "id": "loans"},
            "title": "Loans: yours",
            "mood": "calm",
            "links": [{"target": "library", "rel": "part_of"}],
            "type": "page",
            "id": "loans",
            "tags": ["a", "no"],
            "summary": None,
        },
        "# Loans\n",
    )
    assert text == (
        '---\nid: loans\ntype: page\ntitle: "Loans: yours"\ntags: [a, "no"]\nlinks:\n  - rel: part_of\n'
        "    target: library\n"
        "actions:\n  - id: loans\n    method: GET\n    url: /api/loans\nmood: calm\n---\n\n# Loans\n"
    )
    assert rules_of(text) == ["unknown-field"]
