"""What the index takes from a document: sections, fields, facets, tags, vectors."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.corpus.extract import extract, extract_all
from prosa.corpus.extracted import Extracted, Facets
from prosa.corpus.facets import iso_moment
from prosa.dialects.dialect import Hints
from prosa.source import SourceText
from tests.depth import examples

MAGI = """---
doc-id: d-1
title: Fog
tags: [Sea, "#weather", a/b]
audience: [crew, pilots]
updated-date: 2024-03-01T10:00:00+02:00
published-date: 2023/1/5
expired-date: 2025-01-01
globs: ["*.md", "!x.md"]
---
Intro.

# Signals

Three blasts[^a].

## At night

> # Quoted

More.

# Signals

[^a]: `{"rel-type": "cites", "doc-id": "d-2", "rel-desc": "x"}`
"""

RECORD = """---
doc_summary: One line.
kind: Note
version: 1.10
subject: Tides
maintained_by: harbour
classification: Internal
updated: 2024-05-06
language: en
---

Body text.

```json
{"schema": "1", "payload_hash": "", "index": {"tags": ["tide"], "embedding": [0.5, -1, 2], "model": "m-1"},
 "ops": {"visibility": {"role": ["pilot"]}, "retention": {"expiry": "2030-01-01"}}}
```
"""


def read(text: str, path: str = "a.md") -> Extracted:
    return extract(SourceText(text, path), path)


def rows(found: Extracted) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for field in found.fields:
        assert field.n == len(grouped.setdefault(field.key, []))
        grouped[field.key].append(field.text)
    return grouped


def test_sections_cover_the_body_and_know_their_headings():
    found = read(MAGI, "fog.mda")
    assert [(each.number, each.level, each.heading, each.anchor) for each in found.sections] == [
        (0, 0, "", ""),
        (1, 1, "Signals", "signals"),
        (2, 2, "Signals › At night", "at-night"),
        (3, 1, "Signals", "signals-1"),
    ]
    for each in found.sections:
        assert [a for a, b in zip(MAGI[each.start : each.end], each.text, strict=True) if a != b and b != " "] == []
        assert MAGI.count("\n", 0, each.start) + 1 == each.line
    assert "Quoted" in found.sections[2].text


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("", [""]),
        ("no heading", [""]),
        ("\n\n# One\n", ["One"]),
        ("Above.\n# One\n", ["", "One"]),
        ("---\ntitle: x\n---\n", [""]),
        ("### Deep\n# Top\n#### Skipped\n", ["Deep", "Top", "Top › Skipped"]),
        ("# *Bold* `code`\n", ["Bold code"]),
        ("# \n\ntext\n", [""]),
    ],
)
def test_every_document_has_a_section(text: str, headings: list[str]):
    assert [each.heading for each in read(text).sections] == headings


def test_sections_in_scripts_without_spaces_are_told_apart():
    found = read("# 概要\n\n日本語の文章\n\n# Plain\n\nNothing of it: é ü ß.\n\n# ไทย\n")
    assert [each.cjk for each in found.sections] == [True, False, True]


def test_y31_fields_of_any_dialect_are_rows_with_dotted_names():
    """Y31: normalised metadata for the index."""
    found = read("---\na: 1\nb: {c: [x, 2.50], d: null, e: []}\nf: true\nversion: 1.10\ng: {}\n---\n")
    assert [tuple(each) for each in found.fields] == [
        ("a", 0, "number", "1", 1.0),
        ("b.c", 0, "text", "x", None),
        ("b.c", 1, "number", "2.50", 2.5),
        ("b.d", 0, "null", "", None),
        ("b.e", 0, "list", "", None),
        ("f", 0, "boolean", "true", None),
        ("version", 0, "number", "1.10", 1.1),
        ("g", 0, "mapping", "", None),
    ]


def test_y31_a_record_has_fields_of_header_and_footer_and_its_vector():
    found = read(RECORD, "tides.ymj")
    fields = rows(found)
    assert fields["version"] == ["1.10"]
    assert fields["footer.index.tags"] == ["tide"] and fields["tag"] == ["tide"]
    assert fields["footer.ops.visibility.role"] == ["pilot"]
    assert "footer.index.embedding" not in fields
    assert found.facets == Facets("Note", "internal", "private", "en", "2024-05-06", None, "2030-01-01")
    assert found.carried is not None
    assert (found.carried.model_name, found.carried.dimension, found.carried.fresh) == ("m-1", 3, False)
    assert struct.unpack("<3f", found.carried.vector) == (0.5, -1.0, 2.0)
    assert "Body text." in found.sections[0].text and "json" not in found.sections[0].text


def test_ma20_dates_and_tags_of_a_magi_document():
    """MA18 (its globs), MA20 (its expiry)."""
    found = read(MAGI, "fog.mda")
    assert found.facets == Facets(None, None, None, None, "2024-03-01T08:00:00Z", "2023-01-05", "2025-01-01")
    assert found.tags == ("Sea", "weather", "a/b")
    assert rows(found)["tag"] == ["Sea", "weather", "a/b"]
    assert found.globs == ("*.md", "!x.md")
    assert read("---\nglobs: [x]\n---\n").globs is None


@pytest.mark.parametrize(
    ("front", "tags"),
    [
        ("tags: [a, b, a]", ("a", "b")),
        ("tags: 'a, #b'", ("a", "b")),
        ("tag: a\ntags: [b]", ("a", "b")),
        ("tags: [1, null, {x: y}]", ("1",)),
        ("tags:", ()),
    ],
)
def test_tags_as_people_write_them(front: str, tags: tuple[str, ...]):
    found = read(f"---\n{front}\n---\n")
    assert found.tags == tags
    assert rows(found).get("tag", []) == list(tags)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024", "2024"),
        ("2024-05", "2024-05"),
        ("2024-05-06", "2024-05-06"),
        (" 2024/5/6 ", "2024-05-06"),
        ("2024-05-06T01:00:00+02:00", "2024-05-05T23:00:00Z"),
        ("2024-05-06 01:00", "2024-05-06T01:00:00Z"),
        ("03/04/2024", None),
        ("2024-13-01", None),
        ("soon", None),
        ("", None),
    ],
)
def test_dates_order_as_texts(text: str, moment: str | None):
    assert iso_moment(text) == moment


def test_a_broken_front_matter_leaves_the_rest():
    found = read("---\ntitle: [broken\ntags: [a]\n---\n\n# Heading\n\ntext\n")
    assert [each.heading for each in found.sections] == ["Heading"]


def test_words_and_lines_are_those_of_people():
    found = read("---\ntitle: x\n---\none two\nthree\n")
    assert (found.words, found.lines) == (3, 5)
    assert (read("").words, read("").lines) == (0, 0)
    assert read("a\r\nb").lines == 2


def test_a_field_with_very_many_values_is_cut():
    found = read("---\na: [" + ",".join(["x"] * 9_000) + "]\n---\n")
    assert len(found.fields) == 5_000


@settings(max_examples=examples(60), deadline=None)
@given(st.text(max_size=300), st.sampled_from(["a.md", "a.mda", "a.ymj", "SKILL.md"]))
def test_nothing_that_a_text_says_makes_it_fail(text: str, name: str):
    for each in (text, f"---\n{text}\n---\n{text}", f"# {text}\n\n## x\n{text}"):
        found = extract(SourceText(each, name), name)
        assert all(each[row.start : row.end] == row.text for row in found.sections)
        assert extract_all([(SourceText(each, name), name, Hints())]) == [found]


def test_m42_what_is_not_for_readers_is_no_text_of_a_section():
    """M42: scripts, relationships and comments are blank space, results stay, and every offset is that of the file."""
    text = """---
doc-id: a
---
# Lamp

Lit at dusk[^r].

```ai-script
{"script-id": "zebra", "prompt": "Say zebra."}
```

<!-- ai-result {"script-id": "zebra", "sha256": "0"} -->

It shines.

<!-- /ai-result -->

[^r]: `{"rel-type": "related", "doc-id": "b", "rel-desc": "zebra"}`
"""
    (section,) = extract(SourceText(text, "a.mda"), "a.mda").sections
    assert "zebra" not in section.text and "[^r]" not in section.text
    assert "Lit at dusk" in section.text and "It shines." in section.text
    at = section.text.index("It shines.")
    assert text[section.start + at :].startswith("It shines.")
