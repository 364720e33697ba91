"""The front matter of MAGI documents."""

from __future__ import annotations

import pytest

from prosa.dialects.reading import open_as
from prosa.dialects.table import MAGI, dialect_of_file_name
from prosa.source import SourceText
from tests.dialects.magi.reading import PARENT, footnote, found, front, model, names, reading, script

COMPLETE = front(
    "doc-id: 0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4",
    'title: "C# in a day: #1"',
    "description: >",
    "  Two",
    "  lines",
    "author: Ada",
    "author-id: usr_1",
    "image: /cover.png",
    "images-list: [https://example.org/a.png, b.png]",
    "published-date: 2024-01-10",
    "tags: [a, 'b, c']",
    "created-date: 2024-01-15T09:00:00Z",
    "updated-date: '2024-06-01T15:30:00+02:00'",
    "expired-date: 2999-01-01",
    "audience:",
    "  - developers",
    "purpose: 1.10",
    "entities: [Ada, 42]",
    'globs: ["*.mda", "!legacy/*"]',
    "relationships: [Extends the guide]",
    "source-url: https://example.org/page?x=1",
)


def test_every_field_is_read_as_it_is_written():
    """M5, M6, M7, M8, M9, M10, M11, M12, M13, M14, M15, M16, M17, M18, M19, M20, M21, M22, MW3, X1."""
    fields = model(COMPLETE).fields
    assert fields.text("title") == "C# in a day: #1"
    assert fields.text("description") == "Two lines\n"
    assert (fields.text("author"), fields.text("author-id"), fields.text("image")) == ("Ada", "usr_1", "/cover.png")
    assert fields.texts("images-list") == ("https://example.org/a.png", "b.png")
    assert fields.text("published-date") == "2024-01-10"
    assert fields.texts("tags") == ("a", "b, c")
    assert fields.text("created-date") == "2024-01-15T09:00:00Z"
    assert fields.text("updated-date") == "2024-06-01T15:30:00+02:00"
    assert fields.text("expired-date") == "2999-01-01"
    assert fields.texts("audience") == ("developers",)
    assert fields.text("purpose") == "1.10"
    assert fields.texts("entities") == ("Ada", "42")
    assert fields.texts("globs") == ("*.mda", "!legacy/*")
    assert fields.texts("relationships") == ("Extends the guide",)
    assert fields.text("source-url") == "https://example.org/page?x=1"
    assert model(COMPLETE).doc_id == "0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4"
    assert found(COMPLETE) == []


@pytest.mark.parametrize("text", ["", "Text.\n", front(), front("a: 1"), script(), "See it[^a].\n\n[^a]: A note.\n"])
def test_m1_every_part_is_optional(text: str):
    """M1. Custom fields are allowed."""
    assert found(text) == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("title: [a]", "wrong-type"),
        ("description: {a: b}", "wrong-type"),
        ("author: []", "wrong-type"),
        ("author-id: [1]", "wrong-type"),
        ("purpose: {}", "wrong-type"),
        ("doc-id: []", "wrong-type"),
        ("tags: {a: b}", "wrong-type"),
        ("audience: [[a]]", "wrong-type"),
        ("entities: [{a: b}]", "wrong-type"),
        ("image: two words", "wrong-form"),
        ("images-list: ['a b']", "wrong-form"),
        ("source-url: page", "wrong-form"),
        ("published-date: soon", "wrong-form"),
        ("created-date: 2024-13-01", "wrong-form"),
        ("updated-date: 2024-06-31", "wrong-form"),
        ("expired-date: 01/02/2024", "wrong-form"),
        ("globs: ['!']", "wrong-form"),
        ("globs: ['../a/*']", "wrong-form"),
    ],
)
def test_a_wrong_shape_is_an_error_at_its_value(line: str, rule: str):
    """M5, M6, M7, M8, M9, M10, M11, M12, M13, M14, M15, M16, M17, M18, M19, M20, M22. The field is then left out."""
    ((name, severity, _),) = found(front(line))
    assert (name, severity) == (rule, "error")
    assert line.split(":")[0] not in model(front(line)).fields


def test_ma16_an_unquoted_date_is_its_text():
    """MA16, M13. Nothing turns it into a timestamp."""
    read = open_as(SourceText(front("created-date: 2024-07-26T10:00:00Z"), "a.mda"), MAGI)
    assert read.front.value == {"created-date": "2024-07-26T10:00:00Z"}
    assert read.problems == ()


def test_ma17_one_value_is_a_list_of_one():
    """MA17, M17, M20. A warning with a fix; strictly an error."""
    text = front("audience: Project Team", 'globs: "*.ts"')
    assert model(text).fields.texts("audience") == ("Project Team",)
    assert model(text).fields.texts("globs") == ("*.ts",)
    assert {(rule, severity) for rule, severity, _ in found(text)} == {("scalar-for-list", "warning")}
    assert {severity for _, severity, _ in found(text, strict=True)} == {"error"}


def test_ma19_objects_among_the_sentences_are_accepted_with_a_warning():
    """MA19, M21."""
    text = front("relationships: [Extends it, {rel-type: parent}]")
    assert found(text) == [("relationship-object", "warning", "rel-type")]
    assert model(text).fields.texts("relationships") == ("Extends it",)


@pytest.mark.parametrize("name", ["doc_id", "docId", "DocID", "DOC-ID", "docid"])
def test_ma21_another_case_is_understood_and_reported(name: str):
    """MA21."""
    text = front(f"{name}: 0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4")
    assert found(text) == [("field-name-case", "warning", name)]
    assert model(text).doc_id == "0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4"
    (problem,) = reading(text)[1]
    assert problem.fix is not None
    assert problem.fix.applicability == "unsafe"
    assert problem.fix.edits[0].replacement == "doc-id"


def test_ma5_a_document_with_relationships_needs_a_name():
    """MA5, M5. A warning, strictly an error; the shape of the name is a hint."""
    text = footnote(f"`{PARENT}`")
    assert [each[:2] for each in found(text)] == [("missing-doc-id", "warning")]
    assert [each[:2] for each in found(text, strict=True)] == [("missing-doc-id", "error")]
    assert [each[:2] for each in found(front("doc-id: minutes") + text)] == [("doc-id-not-uuid", "hint")]


@pytest.mark.parametrize(
    ("date", "expired"),
    [
        ("2026-04-30", True),
        ("2026-05-01", False),
        ("2026-04", True),
        ("2026", False),
        ("2026-05-01T02:00:00+02:00", True),
        ("2026-05-01T00:00:01Z", False),
        ("2026/4/29", True),
    ],
)
def test_m15_ma20_a_document_past_its_date_is_reported(date: str, expired: bool):
    """M15, MA20. The check takes place on 2026-05-01 at midnight, UTC."""
    assert ("expired-document" in names(front(f"expired-date: {date}"))) is expired


def test_m13_a_time_should_have_a_zone():
    """M13."""
    assert names(front("created-date: 2024-01-15T09:00:00")) == ["date-without-zone"]
    assert names(front("created-date: 2024-01-15T09:00:00Z")) == []


def test_m2_ma4_the_extension_decides():
    """M2, MA4, X3."""
    assert dialect_of_file_name("a.mda") == "magi"
    assert dialect_of_file_name("a.md") is None
    assert dialect_of_file_name("a.mdc") == dialect_of_file_name("a.mdx") == "plain"


def test_a_slip_of_the_pen_is_mentioned_and_a_custom_field_is_not():
    assert found(front("descripton: x")) == [("unknown-field", "warning", "descripton")]
    assert names(front("reading-time-minutes: 4", "version: 1", "layout: post", "date: today")) == []


def test_fields_below_an_empty_front_matter_are_found():
    text = "---\n# only a comment\n---\ndoc-id: x\ntitle: y\n---\n\nText.\n"
    assert names(text) == ["fields-below-front-matter"]
    assert names("---\n---\n\nNote: text\n\n---\n") == []
