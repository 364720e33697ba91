"""Dates and patterns of MAGI documents."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.magi.fields import glob_form, normal_form, read_date
from prosa.dialects.magi.meta import MetaFile, applies, effective_fields
from tests.depth import examples
from tests.work import is_quick


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("2024-01-15", "2024-01-15"),
        ("2024-01", "2024-01"),
        ("2024", "2024"),
        ("2024-01-15T09:00Z", "2024-01-15T09:00Z"),
        ("2024-01-15T09:00:00.123+0200", "2024-01-15T09:00:00.123+0200"),
        ("2024-01-15T23:59:60Z", "2024-01-15T23:59:60Z"),
        ("2024-1-5", "2024-01-05"),
        ("2024/01/15", "2024-01-15"),
        ("2024.1.15", "2024-01-15"),
        ("2024-01-15 09:00:00", "2024-01-15T09:00:00"),
        ("2024-01-15 9:00:00 -5", "2024-01-15T09:00:00-05:00"),
        ("2024-01-15t09:00:00z", "2024-01-15T09:00:00Z"),
        ("2024-01-15 09:00 UTC", "2024-01-15T09:00Z"),
        ("15.01.2024", None),
        ("01/15/2024", None),
        ("2024-02-30", None),
        ("2024-01-15T25:00Z", None),
        ("2024-01-15T09:00:61Z", None),
        ("2024-01-15T09:00+99:00", None),
        ("2024/01-15", None),
        ("0000-01-01", None),
        ("9999-12-31", None),
        ("January 2024", None),
        ("", None),
        ("٢٠٢٤-٠١-١٥", None),
    ],
)
def test_ma16_dates_that_can_mean_one_thing_have_a_normal_form(text: str, normal: str | None):
    """MA16, M12, M13, M14, M15."""
    assert normal_form(text) == normal


@settings(max_examples=examples(200))
@given(st.text(alphabet="0123456789-/.:TtZz +", max_size=30))
def test_a_normal_form_is_a_date_and_its_own_normal_form(text: str):
    """MA16."""
    normal = normal_form(text)
    assert normal is None or (read_date(normal) is not None and normal_form(normal) == normal)


def covers(globs: list[str], path: str) -> bool:
    return applies(globs, path=PurePosixPath(path), root_path=PurePosixPath("docs", path))


@pytest.mark.parametrize(
    ("globs", "path", "covered"),
    [
        (["*.mda"], "a.mda", True),
        (["*.mda"], "deep/er/a.mda", True),
        (["*.mda"], "a.md", False),
        (["*.mda", "!legacy/*"], "legacy/a.mda", False),
        (["!legacy/*", "*.mda"], "legacy/a.mda", True),
        (["docs/**/*.md"], "docs/a.md", True),
        (["docs/**/*.md"], "docs/x/y/a.md", True),
        (["docs/**/*.md"], "x/docs/a.md", False),
        (["guide/"], "guide/a.md", True),
        (["guide/"], "x/guide/y/a.md", True),
        (["guide/"], "guide", False),
        (["guide"], "x/guide/a.md", True),
        (["guide/*"], "guide/x/a.md", True),
        (["./a.md"], "a.md", True),
        (["./a.md"], "x/a.md", False),
        (["x/**"], "x/y/z.md", True),
        (["x/**"], "x", False),
        (["**/x"], "a/b/x", True),
        (["**"], "a/b", True),
        (["/docs/*.md"], "a.md", True),
        (["/a.md"], "a.md", False),
        (["a?c.md"], "abc.md", True),
        (["a?c.md"], "a/c.md", False),
        (["[a-c]x.md"], "bx.md", True),
        (["[!a-c]x.md"], "bx.md", False),
        (["[]]x"], "]x", True),
        (["[x"], "[x", False),
        ([r"\*.md"], "*.md", True),
        ([r"\*.md"], "a.md", False),
        ([r"\!a"], "!a", True),
        (["*"], "sub/a.txt", True),
        ([""], "a", False),
    ],
)
def test_m20_ma18_patterns_work_as_in_a_gitignore_file(globs: list[str], path: str, covered: bool):
    """M20, MA18. The meta file lies in `docs` below the root."""
    assert covers(globs, path) is covered


@pytest.mark.parametrize(
    ("pattern", "url", "covered"),
    [
        ("https://example.org/*", "https://example.org/a", True),
        ("https://example.org/*", "https://example.org/a/b", False),
        ("https://example.org/**", "https://example.org/a/b", True),
        ("https://*.example.org/**", "https://docs.example.org/a", True),
        ("https://example.org/a", None, False),
    ],
)
def test_ma18_url_patterns_look_at_the_source(pattern: str, url: str | None, covered: bool):
    """MA18."""
    assert applies([pattern], path=PurePosixPath("a.md"), url=url) is covered


def test_ma18_the_nearest_meta_file_fills_gaps_and_nothing_else():
    """MA18, M20. The document's own front matter wins; ids are never lent."""
    far = MetaFile(
        PurePosixPath("meta.mda"), ("**",), {"doc-id": "m", "author": "far", "purpose": "far", "tags": ["x"]}
    )
    near = MetaFile(PurePosixPath("docs/meta.mda"), ("*.md",), {"author": "near", "globs": ["*.md"]})
    beside = MetaFile(PurePosixPath("other/meta.mda"), ("*",), {"purpose": "beside"})
    own = {"title": "T", "tags": None}
    fields = effective_fields(own, PurePosixPath("docs/a.md"), [beside, far, near])
    assert fields == {"title": "T", "author": "near", "purpose": "far", "tags": ["x"]}
    assert effective_fields({}, PurePosixPath("meta.mda"), [far]) == {}
    assert effective_fields({"author": "own"}, PurePosixPath("docs/a.md"), [near]) == {"author": "own"}


def test_ma18_a_pattern_with_a_slash_in_front_reaches_out_of_its_folder():
    """MA18."""
    meta = MetaFile(PurePosixPath("meta/all.mda"), ("/docs/", "*.md"), {"author": "Ada"})
    assert meta.covers(PurePosixPath("docs/deep/a.md"))
    assert meta.covers(PurePosixPath("meta/b.md"))
    assert not meta.covers(PurePosixPath("src/b.md"))


def test_ma18_x23_a_meta_file_in_a_hidden_folder_says_nothing_of_what_is_outside():
    """MA18, X23. What is hidden is given to nobody, not as a field of something else either."""
    meta = MetaFile(PurePosixPath(".claude/all.mda"), ("/**", "**"), {"author": "Ada"})
    assert meta.covers(PurePosixPath(".claude/skills/a.md"))
    assert not meta.covers(PurePosixPath("docs/a.md"))


@pytest.mark.parametrize("text", ["", "!", "/", "!/", "x" * 2000, "../a", "a/../b"])
def test_m20_patterns_that_can_match_nothing_are_reported(text: str):
    """M20."""
    assert glob_form(text) is not None


def test_no_pattern_is_slow():
    """MA18. Stars take no exponential time."""
    assert is_quick(lambda: covers(["a*" * 400 + "c"], "a" * 4000 + "b"), 2)
    assert not covers(["a*" * 400 + "c"], "a" * 4000 + "b")
    assert is_quick(lambda: covers(["**/a/" * 60 + "b"], "/".join(["a"] * 200)), 2)
    assert not covers(["**/a/" * 60 + "b"], "/".join(["a"] * 200))


@settings(max_examples=examples(200))
@given(st.text(alphabet="*?[]!\\/a-b", max_size=12), st.text(alphabet="ab/-]", max_size=12))
def test_any_pattern_gives_an_answer(pattern: str, path: str):
    """M20."""
    assert covers([pattern], path) in (True, False)
    assert isinstance(glob_form(pattern), str | None)
