"""Which dialect a document is written in (X3)."""

from __future__ import annotations

import pytest

from prosa.dialects.dialect import Hints
from prosa.dialects.front import read_front
from prosa.dialects.reading import detect
from prosa.dialects.table import DIALECTS, dialect, dialect_of_file_name
from prosa.source import SourceText


def found(front: str, body: str = "", *, path: str = "a.md", **said):
    text = f"---\n{front}\n---\n{body}" if front else body
    return detect(read_front(SourceText(text, path)), Hints(**said))


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("imports: [./a.md]", "markdownlang"),
        ("imports:", "markdownlang"),
        ("mcp_servers: []", "markdownlang"),
        ("name: a\ninput: {}", "markdownlang"),
        ("name: a\noutput: {}", "markdownlang"),
        ("description: a\noutput: {}", "markdownlang"),
        ("name: a\ndescription: b", "plain"),
        ("input: {}\noutput: {}", "plain"),
        ("id: a\ntype: page", "mdh"),
        ("id: a\nlinks:\n  - {rel: next, href: b}", "mdh"),
        ("title: a\nactions:\n  go: {method: GET}", "mdh"),
        ("title: a\nlinks: [b, c]", "plain"),
        ("title: a\ntype: page", "plain"),
        ("id: a\ntitle: b", "plain"),
        ("links:\n  - {rel: next}", "plain"),
        ("- a", "plain"),
        ("", "plain"),
    ],
)
def test_x3_front_matter_shapes(front: str, expected: str):
    """X3. A program that lacks its output is a broken program."""
    assert found(front).dialect == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("### @user:\n\nHello", "prapti"),
        ("### @user/Ross:\n", "prapti"),
        ("### //@assistant:\n", "prapti"),
        ("### @user ###\n", "prapti"),
        ("### @_aside\n", "prapti"),
        ("### @critic:\n", "prapti"),
        ("### @babel/core\n", "plain"),
        ("### @user: hi\n", "plain"),
        ("## @user:\n", "plain"),
        ("###@user:\n", "plain"),
        ("> ### @user:\n", "plain"),
        ("- ### @user:\n", "plain"),
        ("```\n### @user:\n```\n", "plain"),
        ("    ### @user:\n", "plain"),
        ("<!--\n### @user:\n-->\n", "plain"),
    ],
)
def test_x3_message_headings_are_markdown_headings(body: str, expected: str):
    """X3. Structure decides, not a search through the text."""
    assert found("", body).dialect == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.mda", "magi"),
        ("b/A.MDA", "magi"),
        ("a.ymj", "ymj"),
        ("x/SKILL.md", "skill_md"),
        ("skills.md", None),
        ("a.md", None),
    ],
)
def test_x3_names_decide(path: str, expected: str | None):
    """X3."""
    assert dialect_of_file_name(path.rsplit("/", 1)[-1]) == expected
    assert found("imports: []", path=path).dialect == (expected or "markdownlang")


def test_x3_two_shapes_at_once_are_a_diagnostic_and_no_guess():
    """X3."""
    detection = found("name: a\ninput: {}", "### @user:\n")
    assert detection.dialect == "plain"
    assert [problem.rule for problem in detection.problems] == ["ambiguous-dialect"]


def test_x3_as_wins_and_is_never_a_conflict():
    """X3. Neither the name nor two shapes matter then."""
    detection = found("name: a\ninput: {}", "### @user:\n", path="a.mda", explicit="prapti")
    assert (detection.dialect, detection.problems) == ("prapti", ())


def test_x3_a_command_forces_its_dialect_on_an_otherwise_plain_document():
    """X3. Two shapes are no conflict then, but a file whose name decides stays what it is."""
    assert found("", "text", forced="markdownlang").dialect == "markdownlang"
    assert found("name: a\ninput: {}", "### @user:\n", forced="prapti").problems == ()
    assert found("", "text", path="a.mda", forced="markdownlang").dialect == "magi"


def test_the_table_knows_every_dialect_once():
    assert len({row.name for row in DIALECTS}) == len(DIALECTS)
    assert [row.load().name for row in DIALECTS] == [row.name for row in DIALECTS]
    with pytest.raises(KeyError):
        dialect("latex")
