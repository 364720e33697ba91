"""Reading a node: every field with its place, every mistake at once, never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.front import read_front
from prosa.dialects.reading import detect
from prosa.document import Def
from prosa.source import SourceText
from tests.depth import examples
from tests.dialects.mdh.documents import HEAD, checked, model_of, node, problems_of, reading, rules_of
from tests.work import is_linear

FULL = """\
---
id: loans
type: page
title: Your loans
aliases: [My books]
tags: [loans, account]
summary: What you have at home
updated: 2026-04-30T09:00:00Z
canonical_url: https://library.example/loans
links:
  - rel: part_of
    target: library
  - rel: see
    target: url:https://museum.example/
  - {rel: see, href: /hours}
actions:
  - id: loans.renew
    title: Renew a loan
    method: POST
    url: /api/loans/{loan}/renew
    accept: application/json
    content_type: application/json
    auth: {type: api_key, in: header, name: X-Card, token_help: See /cards}
    query:
      required: [until]
      optional: [note]
      properties:
        until: {type: string, format: date}
        dry: {type: boolean}
    body_schema: {properties: {reason: {type: string}}}
    response_schema: /schemas/loan.json
    pagination:
      type: cursor
      request: {cursor_param: note, limit_param: dry}
      response:
        next_cursor_jsonpath: $.page.next_cursor
        prev_cursor_jsonpath: $.page.prev_cursor
        next_link_jsonpath: $.links.next
        self_link_jsonpath: $.links.self
    examples:
      - request: {query: {until: 2026-05-30}}
---

# Your loans

Look at the [hours](/hours#today "When?") and [the desk][desk] or <https://museum.example/>.
`[no](/code)` ![no](/map.png)

[desk]: ../desk
"""


def test_h2_h9_a_node_is_markdown_with_front_matter():
    """H2, H9, H21. Required and optional fields with their places."""
    model = model_of(FULL)
    assert (model.id.text, model.type.text, model.title.text) == ("loans", "page", "Your loans")
    assert [each.text for each in (*model.aliases, *model.tags)] == ["My books", "loans", "account"]
    assert (model.summary.text, model.canonical_url.text) == ("What you have at home", "https://library.example/loans")
    assert model.title.span.of(FULL) == "Your loans"
    assert problems_of(FULL) == ()


def test_h10_ha9_links_have_a_relation_and_a_target_or_an_href():
    """H10, HA9."""
    first, second, third = model_of(FULL).links
    assert (first.rel.text, first.target.text, first.href) == ("part_of", "library", None)
    assert second.target.text == "url:https://museum.example/"
    assert (third.target, third.href.text) == (None, "/hours")
    assert rules_of(node("links:\n  - {rel: see}\n  - {target: x}\n")) == ["missing-field", "missing-field"]
    assert rules_of(node("links:\n  - {rel: see, href: hours}\n")) == ["wrong-form"]


def test_h3_h4a_inline_links_are_standard_links():
    """H3, H4a, HA5, X2. Images and code are none; every form of link is one."""
    model = model_of(FULL)
    assert [each.href for each in model.inline_links] == ["/hours#today", "../desk", "https://museum.example/"]
    assert model.inline_links[0].span.of(FULL) == "/hours#today"
    refs = [(each.origin, each.kind, each.target, each.fragment, each.rel) for each in reading(FULL).references()]
    assert refs == [
        ("front-matter", "id", "library", "", "part_of"),
        ("front-matter", "url", "https://museum.example/", "", "see"),
        ("front-matter", "path", "/hours", "", "see"),
        ("inline", "path", "/hours", "today", None),
        ("inline", "path", "../desk", "", None),
        ("inline", "url", "https://museum.example/", "", None),
    ]


def test_ha22_titles_and_aliases_are_names_for_search():
    """HA22."""
    names = [(each.kind, each.name) for each in reading(FULL).definitions()]
    assert names == [("id", "loans"), ("title", "Your loans"), ("alias", "My books")]
    assert isinstance(reading(FULL).definitions()[0], Def)


def test_h5_h11_an_action_is_a_method_and_a_url():
    """H5, H11."""
    (action,) = model_of(FULL).actions
    assert (action.id.text, action.title.text, action.verb) == ("loans.renew", "Renew a loan", "POST")
    assert (action.url.text, action.accept.text, action.content_type.text) == (
        "/api/loans/{loan}/renew",
        "application/json",
        "application/json",
    )
    assert action.changes_state
    assert action.response_schema.text == "/schemas/loan.json"
    assert len(action.examples) == 1
    assert not model_of(node("actions: [{id: a, method: get, url: /a}]\n")).actions[0].changes_state


def test_ha10_names_in_the_url_are_parameters():
    """HA10."""
    assert model_of(FULL).actions[0].path_names == ("loan",)
    assert rules_of(node("actions: [{id: a, method: GET, url: '/a/{}/{b'}]\n")) == ["wrong-form"]
    assert model_of(node("actions: [{id: a, method: GET, url: '/{a}/x-{b}.{a}'}]\n")).actions[0].path_names == (
        "a",
        "b",
    )


def test_h12_ha15_authentication():
    """H12, HA15."""
    auth = model_of(FULL).actions[0].auth
    assert (auth.type.text, auth.place.text, auth.name.text, auth.token_help.text) == (
        "api_key",
        "header",
        "X-Card",
        "See /cards",
    )
    for kind in ("none", "bearer", "api_key", "cookie", "oauth2"):
        assert rules_of(action(f"auth: {{type: {kind}}}")) == []
    assert rules_of(action("auth: {type: barer}")) == ["unknown-value"]
    assert rules_of(action("auth: {token_help: x}")) == ["missing-field"]
    assert rules_of(action("auth: {type: api_key, in: body, name: 'X Y'}")) == ["unknown-value", "wrong-form"]


def test_h13_ha11_parameters():
    """H13, HA11. `properties` is accepted; a name that is only described is optional; the rest is ignored."""
    query = model_of(FULL).actions[0].query
    assert query.names == {"until", "note", "dry"}
    assert [each.text for each in query.required] == ["until"]
    assert rules_of(action("query: {required: q}")) == ["wrong-type"]
    assert rules_of(action("query: {properties: {q: {type: strnig}}}")) == ["bad-schema"]
    assert rules_of(action("query: {properties: {q: text}}")) == ["wrong-type"]
    assert [(each.rule, each.severity) for each in problems_of(action("query: {version: 2}"))] == [
        ("unknown-field", "info")
    ]


def test_ha11_unknown_fields_are_ignored_with_information():
    """HA11. One that resembles a known field is a warning with the name that was meant."""
    found = checked({"desk.md": node("mood: calm\nsumary: x\n")})
    assert [(each.rule, str(each.severity), each.notes) for each in found] == [
        ("unknown-field", "info", ()),
        ("unknown-field", "warning", ("did you mean `summary`?",)),
    ]


def test_ha16_a_body_schema_is_a_schema_or_a_url():
    """HA16. Without `type` it is one all the same; a bad one is reported at its line."""
    schema = model_of(FULL).actions[0].body_schema
    assert (schema.url, schema.valid) == (None, True)
    assert model_of(action("body_schema: /schemas/a.json")).actions[0].body_schema.url.text == "/schemas/a.json"
    text = action("body_schema:\n      type: object\n      properties:\n        a: {type: strnig}")
    (problem,) = problems_of(text)
    assert (problem.rule, problem.span.of(text)) == ("bad-schema", "strnig")
    assert SourceText(text).position(problem.span.start).line == 12
    assert rules_of(action("body_schema: [1]")) == ["wrong-type"]
    assert rules_of(action("body_schema: a b")) == ["wrong-form"]
    assert rules_of(action("body_schema: true")) == ["wrong-type"]


def test_h15_ha18_pagination():
    """H15, HA18."""
    pages = model_of(FULL).actions[0].pagination
    assert (pages.type.text, pages.cursor_param.text, pages.limit_param.text) == ("cursor", "note", "dry")
    assert [each.text for each in (pages.next_cursor, pages.prev_cursor, pages.next_link, pages.self_link)] == [
        "$.page.next_cursor",
        "$.page.prev_cursor",
        "$.links.next",
        "$.links.self",
    ]
    text = action('pagination: {response: {next_link_jsonpath: "$.links[?@.next]"}}')
    (problem,) = problems_of(text)
    assert (problem.rule, problem.span.of(text)) == ("bad-jsonpath", "?")


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ("2026-04-30", True),
        ("2026-04-30T09:00:00Z", True),
        ("2026-04-30T09:00:00.25+02:00", True),
        ("2026-04-30 09:00", True),
        ("'2026-04-30'", True),
        ("2026-04-31", False),
        ("30.4.2026", False),
        ("2026-04-30T25:00:00Z", False),
        ("yesterday", False),
        ("1.10", False),
    ],
)
def test_ha21_x1_updated_is_a_text_with_a_date(value: str, good: bool):
    """HA21, X1. YAML makes no date of it."""
    text = node(f"updated: {value}\n")
    assert rules_of(text) == ([] if good else ["wrong-form"])
    assert not good or model_of(text).updated.text == value.strip("'")


@pytest.mark.parametrize(
    ("target", "rules"),
    [
        ("hours", []),
        ("svc:pricing", []),
        ("url:https://museum.example/a?b#c", []),
        ("url:/hours", []),
        ("url:mailto:desk@library.example", []),
        ("'url:'", ["wrong-form"]),
        ("url:hours", ["wrong-form"]),
        ("'url: /hours'", ["wrong-form"]),
        ("https://museum.example/", ["bare-url-target"]),
        ("/hours", ["bare-url-target"]),
        ("../hours", ["bare-url-target"]),
    ],
)
def test_ha4_forms_of_targets(target: str, rules: list[str]):
    """HA4. An id is opaque; `url:` has a URL or a path."""
    assert rules_of(node(f"links:\n  - {{rel: see, target: {target}}}\n")) == rules


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("accept", "application/json", "json"),
        ("accept", "'text/markdown, application/json;q=0.5'", "'text/markdown;'"),
        ("accept", "'*/*'", "'text/ *'"),
        ("content_type", "'application/json; charset=\"utf-8\"'", "'application/*'"),
        ("response_schema", "https://library.example/loan.json", "loan schema"),
        ("url", "/a?b=c", "/a b"),
        ("url", "/a/{b}", "'/a/{b c}'"),
        ("url", "/a", "'/a#b'"),
        ("url", "/a", "'\\a'"),
        ("method", "DELETE", "FETCH"),
    ],
)
def test_h11_forms_of_action_fields(field: str, good: str, bad: str):
    """H11."""
    assert rules_of(action(f"{field}: {good}")) == []
    assert rules_of(action(f"{field}: {bad}")) in (["wrong-form"], ["unknown-value"])


def action(line: str) -> str:
    """A node whose action has this field, at the place of its own."""
    fields = {"id": "loans", "method": "POST", "url": "/api/loans"}
    fields.pop(line.partition(":")[0], None)
    lines = [*(f"{name}: {value}" for name, value in fields.items()), line]
    return node("actions:\n  - " + "\n    ".join(lines) + "\n")


@pytest.mark.parametrize("field", ["id", "type", "title"])
@pytest.mark.parametrize("value", ["", " ''", " null", None])
def test_h9_h21_a_missing_field_names_the_conformance_number(field: str, value: str | None):
    """H9, H21: MUST 2."""
    lines = [line for line in HEAD.splitlines() if not line.startswith(field)]
    head = "".join(f"{line}\n" for line in lines) + (f"{field}:{value}\n" if value is not None else "")
    (problem,) = problems_of(node(head=head))
    assert problem.rule == "missing-field"
    assert f"`{field}`" in problem.message and "MUST 2" in problem.message


@pytest.mark.parametrize("field", ["id", "method", "url"])
def test_h11_h21_an_action_without_one_of_the_three_names_the_conformance_number(field: str):
    """H11, H21: MUST 4."""
    (problem,) = problems_of(action(f"{field}:"))
    assert problem.rule == "missing-field"
    assert f"`actions.{field}`" in problem.message and "MUST 4" in problem.message


def test_ha9_one_action_is_a_list_of_one():
    """HA9."""
    text = node("action:\n  id: loans\n  method: get\n  url: /api/loans\n")
    assert [each.id.text for each in model_of(text).actions] == ["loans"]
    assert [each["method"] for each in reading(text).facts()["actions"]] == ["GET"]
    assert rules_of(text) == ["single-action", "method-case"]


def test_one_bad_item_does_not_hide_the_others():
    text = node("links: [5, {rel: a, target: b}]\nactions:\n  - x\n  - {id: a, method: GET, url: /a}\n")
    assert rules_of(text) == ["wrong-type", "wrong-type"]
    assert [each.target.text for each in model_of(text).links] == ["b"]
    assert [each.id.text for each in model_of(text).actions] == ["a"]


def test_hw5_line_ends_and_a_missing_last_one_make_no_difference():
    """HW5, X1."""
    for text in (FULL.replace("\n", "\r\n"), FULL.rstrip("\n"), "\ufeff" + FULL):
        assert reading(text).problems == ()
        assert {**reading(text).facts(), "inline_links": 0} == {**reading(FULL).facts(), "inline_links": 0}


def test_the_facts_have_the_keys_of_the_interface_in_order():
    facts = reading(FULL).facts()
    assert list(facts) == ["dialect", "id", "type", "title", "md_url", "links", "inline_links", "actions"]
    assert facts["md_url"] is None
    assert facts["links"][0] == {"rel": "part_of", "target": "library", "line": 11}
    assert facts["links"][2] == {"rel": "see", "target": None, "line": 15, "href": "/hours"}
    assert facts["inline_links"][0] == {"href": "/hours#today", "line": 46}
    assert facts["actions"][0]["auth"]["type"] == "api_key"


def test_x1_an_id_that_looks_like_a_number_is_its_text():
    """X1."""
    text = node(head="id: 1.10\ntype: 2026-01-01\ntitle: 0x10\n")
    facts = reading(text).facts()
    assert (facts["id"], facts["type"], facts["title"]) == ("1.10", "2026-01-01", "0x10")


@pytest.mark.parametrize(
    ("fields", "dialect"),
    [
        ("id: a\ntype: b\n", "mdh"),
        ("id: a\nactions: [{id: x}]\n", "mdh"),
        ("title: a\nlinks: [{rel: x}]\n", "mdh"),
        ("type: a\nactions: {id: x, more: {a: b}}\n", "mdh"),
        ("id: a\ntitle: b\n", "plain"),
        ("title: a\ntype: b\n", "plain"),
        ("title: a\nlinks: [x, y]\n", "plain"),
        ("links: [{rel: x}]\n", "plain"),
    ],
)
def test_x3_a_node_is_known_by_its_shape(fields: str, dialect: str):
    """X3."""
    assert detect(read_front(SourceText(f"---\n{fields}---\n", "a.md"))).dialect == dialect


PIECES = st.sampled_from(
    [
        *("---\n", "id: a\n", "type: b\n", "title: c\n", "links:\n", "actions:\n", "action:\n", "  - ", "    ", "\n"),
        *(
            "rel: x\n",
            "target: url:\n",
            "href: /\n",
            "method: get\n",
            "url: a/{b\n",
            "auth: {type: cookie}\n",
            "[",
            "{",
        ),
        *("query:\n", "required: [a, a]\n", "properties: {a: 1}\n", "pagination:\n", "response:\n", "]", "}", '"', "'"),
        *("next_cursor_jsonpath: $..a\n", "body_schema: {type: x}\n", "examples: [{query: {}}]\n", "[a](/b)", "[[c]]"),
        *("![d](e)", "[f]: g\n", "\r\n", "\u2028", "\ufeff", "&a ", "*a", "? ", "\t", "#", "|\n", "<x:y>"),
    ]
)
HOSTILE = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=80))


@settings(max_examples=examples(200), deadline=None)
@given(HOSTILE)
def test_x2_reading_never_fails_and_every_span_is_what_it_says(text: str):
    """X2."""
    read = reading(text)
    for problem in read.problems:
        assert problem.span.end <= len(text)
    for ref in read.references():
        assert ref.span.end <= len(text)
    for definition in read.definitions():
        written = definition.span.of(text)
        assert written == definition.name or written[:1] in ("'", '"', "|", ">", "&", "*") or "\n" in written
    assert read.facts()["links"] is not None


@pytest.mark.parametrize(
    "unit",
    [
        "  - {id: a, method: GET, url: '/{a}{b}'}\n",
        "  - {id: a, method: get, url: a, query: {required: [q], optional: [q]}}\n",
        "  - {id: a, method: GET, url: '/" + "{" * 50 + "'}\n",
        '  - {id: a, method: GET, url: /a, accept: "a/b;' + "c=d;" * 30 + '"}\n',
    ],
)
def test_reading_is_linear(unit: str):
    assert is_linear(lambda count: problems_of(node("actions:\n" + unit * count)), 50, 1000)
