"""What the graph knows of one document, whatever its dialect (X21)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.dialects.reading import open_as
from prosa.dialects.table import MARKDOWNLANG
from prosa.graph.records import record_of
from prosa.source import SourceText
from tests.graph.corpora import record

MAGI = """---
doc-id: fees
title: Fees
source-url: https://Example.org/fees
---

Fees[^a], see [the plan](plan.md) and [[Desk]].

[^a]: `{"rel-type": "cites", "doc-id": "rules", "rel-desc": "x", "rel-strength": 0.5, "bi-directional": true}`
"""
YMJ = """---
doc_summary: A card
kind: card
version: 1.0.0
subject: Reading room
attachments:
  - uri: map.png
---
See [[Desk#Hours]] and [the plan](plan.md).

```json
{"schema": "1", "ops": {"graph": {"edges": [{"to": "[[Fees]]", "type": "supports"}]}}}
```
"""
PROGRAM = """---
name: sum
description: Adds
input: {type: object}
output: {type: object}
imports: [./tools/count.md]
---
Use {{ .words }} and [the plan](plan.md).
"""
CHAT = """### @user:

% include "notes.md"
See [the plan](plan.md).
"""
NODE = """---
id: hours
type: page
title: Hours
canonical_url: https://example.org/hours
links:
  - {rel: next, target: desk}
actions:
  - {id: find, method: GET, url: /api/find}
---
See [the plan](/plan).
"""
PLAIN = """Intro.

## Small

# The plan

See [x](a%20b.md#Top) and [[Desk|label]] and ![i](i.png) and [m](mailto:a@b.c) and [p]({{ url }}.md).
"""


@pytest.mark.parametrize(
    ("path", "text", "references"),
    [
        ("a.mda", MAGI, [("inline", "plan.md"), ("wikilink", "Desk"), ("footnote", "rules")]),
        (
            "a.ymj",
            YMJ,
            [("front-matter", "map.png"), ("wikilink", "Desk"), ("inline", "plan.md"), ("ops.graph", "Fees")],
        ),
        ("a.md", PROGRAM, [("import", "./tools/count.md"), ("inline", "plan.md")]),
        ("b.md", CHAT, [("include", "notes.md"), ("inline", "plan.md")]),
        ("c.md", NODE, [("front-matter", "desk"), ("inline", "/plan")]),
        ("d.md", PLAIN, [("inline", "a b.md"), ("wikilink", "Desk")]),
    ],
)
def test_x21_every_dialect_gives_its_references_and_the_links_of_its_body(
    path: str, text: str, references: list[tuple[str, str]]
):
    """X21, Y31, H4, L28. In the order of the text; placeholders, images and mail addresses are none."""
    assert [(each.origin, each.target) for each in record(path, text).references] == references


def test_x21_a_reference_keeps_everything_that_was_said_about_it():
    """X21, M51: the type as the graph calls it, strength, direction, place and line."""
    found = record("a.mda", MAGI).references[-1]
    assert (found.rel, found.strength, found.bidirectional, found.line) == ("citation", 0.5, True, 9)
    assert MAGI[found.start : found.end] == '"rules"'
    fragment = record("d.md", PLAIN).references[0]
    assert (fragment.fragment, fragment.line) == ("Top", 7)


def test_a_record_has_a_title_a_type_and_addresses():
    assert record("d.md", PLAIN).title == "The plan"
    assert record("d.md", "Text.\n\nSmall *print*\n=============\n").title == "Small print"
    assert record("a.mda", "# Heading\n").title == "Heading"
    record_of_card, node = record("a.ymj", YMJ), record("c.md", NODE)
    assert (record_of_card.title, record_of_card.type) == ("Reading room", "card")
    assert (node.title, node.type, node.canonical, node.actions) == (
        "Hours",
        "page",
        ("https://example.org/hours",),
        ("/api/find",),
    )
    assert record("a.mda", MAGI).canonical == ("https://Example.org/fees",)
    assert record("a.mda", "---\nsource-url: 5\ntitle: [x]\n---\n").canonical == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("### @user:\n\nHello.\n", "x"),
        ("# Tides\n\n### @user:\n\nHello.\n", "Tides"),
        ("### @user:\n\n## Tomorrow\n\nHello.\n", "x"),
        ("---\nname: tides\ndescription: x\ninput: {}\noutput: {}\n---\n# Say it\n", "tides"),
        ("---\nname: tides\n---\n# Say it\n", "Say it"),
        ("---\nname: tides\n---\n## Say it\n", "tides"),
        ("---\ntitle: 2024\n---\n# Say it\n", "2024"),
        ("---\ntitle: [x]\n---\n# Say it\n", "Say it"),
        ("---\ntitle: ' '\n---\n# Say\n", "Say"),
        ("- # In a list\n\n# Above all\n", "Above all"),
        ("#\n\n# Second\n", "Second"),
    ],
)
def test_a_document_is_called_by_its_own_title_else_by_its_first_heading_of_level_1_else_by_its_file(
    text: str, title: str
):
    assert record("x.md", text).title == title


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/Command palette.md", "Command palette"),
        ("v1.2.md", "v1.2"),
        ("a/guide/index.md", "guide"),
        ("index.md", "index"),
    ],
)
def test_a_document_that_says_nothing_is_called_like_its_file(path: str, title: str):
    assert record(path, "Text.\n\n## Pinned commands\n").title == title


def test_a_skill_and_a_record_are_called_as_their_dialect_says():
    skill = "---\nname: fold-paper\ndescription: Folds.\n---\n# Folding\n"
    assert record("fold-paper/SKILL.md", skill).title == "fold-paper"
    card = "---\ndoc_summary: How to fold\nkind: note\nversion: 1\nmaintained_by: me\n---\n# Folding\n"
    assert record("a.ymj", card).title == "How to fold"


@given(st.lists(st.tuples(st.integers(2, 6), st.sampled_from(["Sync", "Open Settings"])), max_size=5))
def test_no_heading_of_another_level_is_ever_a_title(headings: list[tuple[int, str]]):
    text = "".join(f"{'#' * level} {name}\n\nText.\n\n" for level, name in headings)
    assert record("notes/Daily.md", text).title == "Daily"


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("/home/me/docs/b.md", "../b.md"),
        ("/home/me/docs/sub/../b.md", "../b.md"),
        ("/home/me/other/b.md", "/home/me/other/b.md"),
        ("./b.md", "./b.md"),
    ],
)
def test_l28_an_absolute_import_below_the_root_leads_to_its_document(target: str, written: str):
    text = f"---\nname: a\ndescription: x\ninput: {{}}\noutput: {{}}\nimports: [{target}]\n---\nSay it.\n"
    source = SourceText(text, "/home/me/docs/sub/a.md")
    found = record_of(open_as(source, MARKDOWNLANG), "sub/a.md").references
    assert [each.target for each in found] == [written]
