"""How each document is checked: flags, documents, globs, project (X3, X4, YA11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.rules.policy import Profile
from prosa.rules.project import read_project
from prosa.rules.registry import rule_named
from prosa.settings import GlobSettings, Settings
from prosa.source.wildmatch import glob_matches

ROOT = Path("/project")


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.md", "a.md", True),
        ("*.md", "deep/down/a.md", True),
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/sub/a.md", False),
        ("docs/*.md", "other/docs/a.md", False),
        ("docs/**", "docs/sub/a.md", True),
        ("docs/**", "docs", False),
        ("docs", "docs/sub/a.md", True),
        ("docs/", "x/docs/a.md", True),
        ("**/a.md", "a.md", True),
        ("**/a.md", "x/y/a.md", True),
        ("docs/**/a.md", "docs/a.md", True),
        ("docs/**/a.md", "docs/x/y/a.md", True),
        ("docs/**/a.md", "docs/xa.md", False),
        ("./a.md", "a.md", True),
        ("a?.md", "ab.md", True),
        ("a?.md", "a/.md", False),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("a.md", "abmd", False),
        ("x" * 2000, "x" * 2000, False),
    ],
)
def test_globs(glob: str, path: str, matches: bool):
    assert glob_matches(glob, path) is matches


@given(st.text(st.sampled_from("ab*?[]!/.\\-^"), max_size=12), st.text(st.sampled_from("ab/."), max_size=8))
def test_no_glob_is_a_reason_to_stop(glob: str, path: str):
    assert glob_matches(glob, path) in (True, False)


@pytest.mark.parametrize(
    ("flag", "asked", "by_glob", "project", "strict"),
    [
        (None, None, None, None, False),
        (None, None, None, True, True),
        (None, None, False, True, False),
        (None, True, False, None, True),
        (False, True, True, True, False),
        (True, False, False, False, True),
        (None, False, None, True, False),
    ],
)
def test_x4_strictness_is_what_the_first_of_flag_document_glob_and_project_says(flag, asked, by_glob, project, strict):
    """X4, YA11."""
    settings = Settings(strict=project, per_glob=(GlobSettings("*.md", strict=by_glob),))
    profile = Profile(strict=flag, settings=settings, root=ROOT)
    assert profile.policy(ROOT / "a.md", asked).strict is strict


def test_selections_of_flags_and_settings():
    settings = Settings(
        select=("MD",), ignore=("merge-key",), per_glob=(GlobSettings("a.md", select=("ML",), ignore=("MD02",)),)
    )

    def wanted(path: str, **flags) -> set[str]:
        policy = Profile(settings=settings, root=ROOT, **flags).policy(ROOT / path)
        names = ("yaml-syntax", "merge-key", "unresolved-link", "missing-output")
        return {name for name in names if policy.wants(rule_named(name))}

    assert wanted("b.md") == {"yaml-syntax", "unresolved-link"}
    assert wanted("a.md") == {"yaml-syntax", "missing-output"}
    assert wanted("a.md", select=("ALL",)) == {"yaml-syntax", "missing-output"}
    assert wanted("b.md", ignore=("yaml-syntax",)) == {"unresolved-link"}


def test_x3_the_last_glob_that_matches_decides_and_as_wins():
    """X3, X3b."""
    settings = Settings(dialects=(("*.md", "mdh"), ("chat/**", "prapti"), ("none/**", "nonsense")))
    profile = Profile(settings=settings, root=ROOT)
    assert profile.hints(ROOT / "a.md").glob == "mdh"
    assert profile.hints(ROOT / "chat/a.md").glob == "prapti"
    assert profile.hints(ROOT / "none/a.txt").glob is None
    assert profile.hints(Path("/elsewhere/chat/a.md")).glob == "mdh"


def test_settings_name_rules_and_dialects_that_exist():
    text = (
        'select = ["MD", "nothing"]\n[dialects]\n"a" = "magi"\n"b" = "mgi"\n'
        '[per-glob."*"]\nignore = ["unresolved-lnk"]\n'
    )
    settings, problems = read_project(text, "prosa.toml")
    assert [(each.rule, each.span.of(text), each.notes) for each in problems] == [
        ("bad-setting", "select", ("prosa explain lists them all",)),
        ("bad-setting", "ignore", ("did you mean `unresolved-link`?",)),
        ("bad-setting", '"b"', ("did you mean `magi`?",)),
    ]
    assert (settings.select, settings.dialects, settings.per_glob[0].ignore) == (("MD",), (("a", "magi"),), ())


def test_x7_a_project_can_not_choose_where_a_key_goes():
    """X7. The refused line says what allows it."""
    settings, problems = read_project('[tool.prosa]\nbase-url = "http://x"\nstrict = true\n', "pyproject.toml")
    assert [each.rule for each in problems] == ["refused-setting"]
    assert settings.strict is True and settings.base_url is None
