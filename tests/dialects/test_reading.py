"""What all dialects give alike: the front matter as data."""

from __future__ import annotations

import pytest

from prosa.dialects.front import read_front
from prosa.dialects.reading import open_as, open_document
from prosa.dialects.table import MAGI, PLAIN, dialect
from prosa.graph.records import record_of
from prosa.source import SourceText


@pytest.mark.parametrize(
    ("name", "front", "expected"),
    [
        ("magi", "title: 1.10\ntags: [1.0, x]\nmine: 1.10", {"title": "1.10", "tags": ["1.0", "x"], "mine": 1.1}),
        (
            "ymj",
            "version: 1.0\nkind:\ncreated: 2024-01-02",
            {"version": "1.0", "kind": None, "created": "2024-01-02"},
        ),
        ("mdh", "id: 007\ntype: yes\naliases: 1e3", {"id": "007", "type": "yes", "aliases": "1e3"}),
        ("markdownlang", "name: 10_0\ninput: {default: 1.0}", {"name": "10_0", "input": {"default": 1.0}}),
        ("skill_md", "metadata: {version: 1.0}", {"metadata": {"version": "1.0"}}),
        ("plain", "version: 1.10", {"version": 1.1}),
        ("prapti", "title: 0x1F", {"title": 31}),
    ],
)
def test_x1_a_declared_string_is_its_source_text_and_any_other_field_its_value(name, front, expected):
    reading = open_as(SourceText(f"---\n{front}\n---\n"), dialect(name))
    assert reading.front_matter == expected


def test_front_matter_that_is_no_mapping_is_none():
    assert open_as(SourceText("---\n- a\n---\n"), MAGI).front_matter is None
    assert open_as(SourceText("text\n"), PLAIN).front_matter is None


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_x1_hyphens_above_a_blank_line_are_front_matter_only_around_yaml(line_end):
    """Slides begin with a thematic break; broken fields stay broken fields."""
    slides = read_front(SourceText(line_end.join(("---", "", "# One", "", "Some *text*: [x", "---", "more"))))
    assert (slides.present, slides.problems, slides.body.start) == (False, (), 0)
    for lines in (("---", "", "name: [x", "---"), ("---", "Some *text*: [x", "---")):
        assert [each.rule for each in read_front(SourceText(line_end.join(lines))).problems] == ["yaml-syntax"]
    assert read_front(SourceText(line_end.join(("---", "", "name: x", "---")))).value == {"name": "x"}


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("a/x.md", "b/x.md", "# One\n\nA [link](y.md) and [[z]].\n"),
        ("a/x.md", "x.mda", '---\ntitle: T\n---\n\n[^a]: {"rel-type": "child", "doc-id": "y"}\n'),
        ("a/x.md", "b/x.md", "---\nname: p\ninput: {q: string}\n---\n\n{{.q}} [to](/a/y.md)\n"),
        ("a/SKILL.md", "b/SKILL.md", "---\nname: a\ndescription: Does it.\n---\n\n# A\n"),
    ],
)
def test_a_text_that_moves_reads_as_if_it_had_always_been_there(old, new, text):
    """Only its Markdown is not parsed again, where the dialect stays."""
    like = open_document(SourceText(text, f"/root/{old}"))
    moved, fresh = (open_document(SourceText(text, f"/root/{new}"), like=each) for each in (like, None))
    assert (moved.name, moved.front, moved.document, moved.problems) == (
        fresh.name, fresh.front, fresh.document, fresh.problems)  # fmt: skip
    assert (record_of(moved, new), moved.facts()) == (record_of(fresh, new), fresh.facts())
    assert (moved.document.parsed is like.document.parsed) is False
    assert (moved.document.parsed.found is like.document.parsed.found) is (moved.name == like.name)


@pytest.mark.parametrize("names", [("a.md", "a.mdc"), ("a.mdc", "a.md")])
def test_a_text_whose_front_matter_counts_at_one_path_alone_is_parsed_again(names):
    """A rule of an editor may have globs that are no YAML; elsewhere they are part of what slides begin with."""
    old, new = (SourceText('---\n\n"my key": 1\nglobs: *.ts\n---\n# T [a](b.md)\n', name) for name in names)
    moved, fresh = (open_document(new, like=each) for each in (open_document(old), None))
    assert moved.name == fresh.name == open_document(old).name
    assert (moved.document.body, moved.document, record_of(moved, "x")) == (
        fresh.document.body, fresh.document, record_of(fresh, "x"))  # fmt: skip
