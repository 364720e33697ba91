"""The one matcher of globs: its grammar, its answers against a slow one, and the work that it does (X23, MA18)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prosa.source import wildmatch
from prosa.source.wildmatch import MAX_GLOB, glob_matches, path_glob, wildcard
from tests.depth import examples

LITERALS = "abc-"
NAMES = st.lists(st.sampled_from([*LITERALS, "?", "*", "[ab]", "[!a]"]), max_size=6).map("".join)
PARTS = st.one_of(st.just("**"), NAMES.filter(lambda name: "**" not in name))
PATTERNS = st.lists(PARTS.filter(bool), min_size=1, max_size=5).map("/".join)
PATHS = st.lists(st.text(LITERALS, min_size=1, max_size=5), min_size=1, max_size=5).map("/".join)


def slowly(pattern: str, path: str) -> bool:
    """The same answer from a table of all pairs of places, without sets other than those of the generator."""

    @cache
    def name(p: str, t: str) -> bool:
        if not p:
            return not t
        if p[0] == "*":
            return name(p[1:], t) or (bool(t) and name(p, t[1:]))
        size = p.index("]") + 1 if p[0] == "[" else 1
        sets: dict[str, Callable[[str], bool]] = {"[ab]": "ab".__contains__, "[!a]": "a".__ne__, "?": lambda _: True}
        takes = sets.get(p[:size], p[:size].__eq__)
        return bool(t) and takes(t[0]) and name(p[size:], t[1:])

    @cache
    def parts(p: tuple[str, ...], t: tuple[str, ...]) -> bool:
        if not p:
            return not t
        if p[0] == "**":
            return bool(t) if len(p) == 1 else parts(p[1:], t) or (bool(t) and parts(p, t[1:]))
        return bool(t) and name(p[0], t[0]) and parts(p[1:], t[1:])

    return parts(tuple(pattern.split("/")), tuple(path.split("/")))


@settings(max_examples=examples(500), deadline=None)
@given(PATTERNS, PATHS)
@example("**/a/**", "a/a")
@example("a/**/**/b", "a/b")
@example("**/*b", "ab/b")
@example("*a*b/**/c", "aab/c")
def test_ma18_answers_are_those_of_a_matcher_that_tries_everything(pattern: str, path: str):
    """MA18, X23."""
    found = wildcard(pattern.encode())
    assert found is not None
    assert found.matches(path.encode()) is slowly(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("[[:digit:]]", "7", True),
        ("[[:digit:]]", "x", False),
        ("[![:upper:]x]", "X", False),
        ("[[:nope:]]", "n", False),
        ("[]a]", "]", True),
        ("[!]a]", "]", False),
        ("[z-a]", "z", True),
        ("[z-a]", "a", False),
        ("[a-]", "-", True),
        ("[\\]a]", "]", True),
        ("[a-\\c]", "b", True),
        ("[/]", "/", False),
        ("a[", "a[", False),
        ("a\\", "a\\", False),
        ("\\*", "*", True),
        ("?", "é", False),
        ("??", "é", True),
        ("a**b", "a/b", False),
        ("a/**", "a", False),
        ("a/**/b", "a/b", True),
    ],
)
def test_x23_the_grammar_is_that_of_git(pattern: str, text: str, matches: bool):
    """X23. Bytes count, sets have classes, a broken pattern matches nothing."""
    found = wildcard(pattern.encode())
    assert (found is not None and found.matches(text.encode())) is matches


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of the matcher are run."""
    count = 0

    def trace(frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename != wildmatch.__file__:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 30 + "*b", "**/" * 30 + "b", "*/" * 30 + "b", "a*" * 400 + "c", "[ab]*" * 30 + "?c", "*?" * 30 + "*[c]"],
)
def test_ma18_work_is_a_few_lines_for_each_byte_whatever_the_pattern(pattern: str):
    """MA18, X23. 30 stars and 255 equal letters; steps are counted, not seconds."""
    path_glob.cache_clear()
    wildcard.cache_clear()
    reading = lines_run(lambda: path_glob(pattern.encode()))
    assert reading < 300 * len(pattern) + 20 * 256
    text = b"a" * 255
    assert lines_run(lambda: path_glob(pattern.encode()).covers(text)) < 15 * len(text)
    assert not path_glob(pattern.encode()).covers(text)


@given(st.binary(max_size=20) | st.text("ab*?[]!/.\\-^:", max_size=16).map(str.encode), st.binary(max_size=12))
def test_no_glob_is_a_reason_to_stop(glob: bytes, path: bytes):
    assert path_glob(glob).covers(path) in (True, False)


def test_globs_of_settings_cover_what_is_in_a_folder_and_have_a_longest_length():
    assert glob_matches("docs/", "x/docs/a.md")
    assert not glob_matches("docs/", "docs")
    assert glob_matches("./a.md", "a.md")
    assert not glob_matches("x" * (MAX_GLOB + 1), "x" * (MAX_GLOB + 1))
    assert not glob_matches("\ud800", "a.md")
