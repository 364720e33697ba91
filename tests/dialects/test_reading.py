"""What all dialects give alike: the front matter as data."""

from __future__ import annotations

import pytest

from prosa.dialects.front import read_front
from prosa.dialects.reading import open_as
from prosa.dialects.table import MAGI, PLAIN, dialect
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
