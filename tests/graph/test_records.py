"""What the graph knows of one document, whatever its dialect (X21)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_as, open_document
from prosa.dialects.table import MARKDOWNLANG
from prosa.document.autolinks import addresses
from prosa.graph.records import record_of
from prosa.source import SourceText
from tests.graph.corpora import record
from tests.work import PART, is_quick

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


BARE = """---
canonical_url: https://front.example
---
See https://a.example/x#part, (www.b.example) and pilot@harbour.example.

[https://c.example](https://d.example) <https://e.example> `https://f.example` ![x](https://g.example/y.png)

```
https://h.example
```

    https://i.example

<a href="https://j.example">x</a> <!-- https://k.example --> https://api.example/{id} [[https://l.example]]

[m]: https://n.example
"""


@pytest.mark.parametrize("path", ["a.md", "a.mda", "a.ymj", "SKILL.md"])
def test_x21_an_address_in_running_text_is_a_reference(path: str):
    """X21: as GitHub and Obsidian link it; not in code, not in a link, not in HTML, and no placeholder."""
    urls = [each for each in record(path, BARE).references if each.kind == "url"]
    assert [(each.target, each.fragment) for each in urls] == [
        ("https://a.example/x", "part"),
        ("http://www.b.example", ""),
        ("https://d.example", ""),
        ("https://e.example", ""),
    ]
    assert BARE[urls[0].start : urls[0].end] == "https://a.example/x#part"


def test_x21_an_address_that_a_template_makes_is_no_reference():
    text = "---\nname: x\ninput: {}\noutput: {}\n---\nGet https://{{ .host }}/x and https://a.example.\n"
    assert [each.target for each in record("a.md", text).references] == ["https://a.example"]


@given(st.text(alphabet="htps:/w.@aé_-+)(];&*~<\"' \n", max_size=60))
def test_x21_an_address_lies_in_the_text_and_begins_and_ends_with_its_own_signs(text: str):
    done = 0
    for start, end, url in addresses(text):
        assert done <= start < end <= len(text)
        assert not text[end - 1].isspace() and text[end - 1] not in "?!.,:*_~"
        assert url.startswith(("http://", "https://", "mailto:")) and "<" not in url
        assert text[start:end].removeprefix("mailto:") in url
        done = end


@pytest.mark.parametrize(
    "sign",
    [
        "http://",
        "http://a_",
        "www.a_",
        "://",
        "a@",
        "www.",
        "http://a)",
        "http://a&b;",
        "a.",
        "-a@a-",
        "mailto:",
        "http://a(",
    ],
)
def test_x2_addresses_are_found_in_linear_time(sign: str):
    assert is_quick(lambda: list(addresses(sign * (50_000 // PART))), 2 / PART)
    assert is_quick(lambda: list(addresses(f"http://a/{sign * (50_000 // PART)}")), 2 / PART)


def test_x21_a_reference_keeps_everything_that_was_said_about_it():
    """X21, M51: the type as the graph calls it, strength, direction, place and line."""
    found = record("a.mda", MAGI).references[-1]
    assert (found.rel, found.strength, found.bidirectional, found.line) == ("citation", 0.5, True, 9)
    assert MAGI[found.start : found.end] == '"rules"'
    fragment = record("d.md", PLAIN).references[0]
    assert (fragment.fragment, fragment.line) == ("Top", 7)


def test_a_record_has_a_title_a_type_and_addresses():
    assert record("d.md", PLAIN).title == "d"
    assert record("d.md", "Small *print*\n=============\n\nText.\n").title == "Small print"
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
        ("- # In a list\n\n# Above all\n", "x"),
        ("# Above all\n\n- # In a list\n", "Above all"),
        ("#\n\n# Second\n", "x"),
        ("#\n\nText.\n", "x"),
        ("Text.\n\n# References\n", "x"),
        ("# Habits\n\nText.\n\n# References\n", "x"),
        ("<!-- checked -->\n<!-- twice -->\n\n# Say it\n", "Say it"),
        ("<!-- # Not yet\n\n# Say it\n", "x"),
        ("![logo](a.png)\n\n# Say it\n", "x"),
        ("\n\n   # Say it #\n", "Say it"),
        ("Text\r# Say it\r", "x"),
        ("***\n# Say it\n", "x"),
    ],
)
def test_x45_a_document_is_called_by_its_title_else_by_the_only_heading_of_level_1_that_begins_it_else_by_its_file(
    text: str, title: str
):
    assert record("x.md", text).title == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Say it\n\nText.\n", "Tides"),
        ("# Tides\n\nText.\n", "Tides"),
        ("---\ntitle: High water\n---\n# Say it\n", "High water"),
        ("---\nname: water\n---\nText.\n", "Tides"),
        ("Text.\n\n# References\n", "Tides"),
    ],
)
def test_x45_in_a_vault_a_note_is_called_by_its_title_else_by_its_file(text: str, title: str):
    assert record_of(open_document(SourceText(text, "Tides.md"), Hints(vault=True)), "Tides.md").title == title


def test_x45_the_modules_of_a_page_of_mdx_are_no_block():
    text = "import A from './a'\nexport const x = 1\n\n# Say it\n\n<A/>\n"
    assert record("a.mdx", text).title == "Say it"
    assert record("a.mdx", text.replace("# Say it", "Text.\n\n# Say it")).title == "a"


BLOCKS = st.sampled_from(
    [
        "# One",
        "# Two",
        "Three\n=====",
        "#",
        "## Four",
        "Text.",
        "- # Five",
        "> # Six",
        "```\n# Seven\n```",
        "    # Eight",
        "<!-- # Nine -->",
        "<p>Ten</p>",
        "***",
        "| # |\n|---|",
        "[eleven]: #twelve",
    ]
)
H1 = {"# One": "One", "# Two": "Two", "Three\n=====": "Three", "#": ""}


@given(st.lists(BLOCKS, max_size=6), st.booleans())
def test_x45_a_title_never_comes_from_a_section_in_the_middle(blocks: list[str], vault: bool):
    text = "\n\n".join(blocks)
    seen = [each for each in blocks if not each.startswith("<!--")]
    begins = [H1[each] for each in blocks if each in H1] == [H1.get(seen[0])] if seen else False
    expected = (H1.get(seen[0]) or "x") if begins and not vault else "x"
    assert record_of(open_document(SourceText(text, "x.md"), Hints(vault=vault)), "x.md").title == expected


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
