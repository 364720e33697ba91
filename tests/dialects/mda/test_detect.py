"""MDA and MAGI share a suffix, and the front matter decides (X42)."""

from __future__ import annotations

import pytest

from prosa.dialects.dialect import Hints
from prosa.dialects.reading import dialect_of
from prosa.source import SourceText


@pytest.mark.parametrize(
    ("fields", "dialect"),
    [
        ("name: a", "mda"),
        ("name: a\ndoc-id: 12345678\ntitle: A", "mda"),
        ("name: a\naudience: all", "magi"),
        ("name: a\nsource_url: https://example.org/", "magi"),
        ("metadata: {mda: {}}", "mda"),
        ("metadata: {mda: {}}\naudience: all", "mda"),
        ("metadata: {codex: {}}", "magi"),
        ("metadata: mda", "magi"),
        ("integrity: {}", "mda"),
        ("signatures: []\nglobs: ['*.md']", "mda"),
        ("targets: [SKILL.md]", "mda"),
        ("title: A\ntags: [a]", "magi"),
        ("", "magi"),
    ],
)
def test_x42_the_front_matter_alone_tells_them_apart(fields: str, dialect: str):
    """X42."""
    body = 'Text.\n\n```ai-script\n{"script-id": "a", "prompt": "b"}\n```\n'
    assert dialect_of(SourceText(f"---\n{fields}\n---\n{body}", "a.mda")) == dialect


def test_x42_no_other_file_is_mda_by_its_fields():
    """X42."""
    text = "---\nname: a\ndescription: b\nintegrity: {}\n---\n"
    assert dialect_of(SourceText(text, "a.md")) == "plain"
    assert dialect_of(SourceText(text, "a/SKILL.md")) == "skill_md"


def test_x42_what_a_user_or_a_project_says_wins():
    """X42."""
    source = SourceText("---\nname: a\n---\n", "a.mda")
    assert dialect_of(source, Hints(explicit="magi")) == "magi"
    assert dialect_of(source, Hints(glob="magi")) == "magi"
    assert dialect_of(source, Hints(forced="markdownlang")) == "mda"
    assert dialect_of(SourceText("Text.\n", "a.md"), Hints(explicit="mda")) == "mda"
