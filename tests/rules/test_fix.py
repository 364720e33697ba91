"""Fixes: safe and unsafe, overlapping ones in passes, harmful ones dropped, line ends kept (X4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.diagnostics import Applicability, Diagnostic, Fix, Severity
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import check
from prosa.rules.files import Overlay
from prosa.rules.fix import Fixed, fix_documents
from prosa.rules.policy import Profile
from prosa.source import Edit, SourceText, Span
from tests.depth import examples
from tests.rules.literate import MemoryFiles

PATH = Path("/project/p.md")


def fixed(text: str, *, unsafe: bool = False, name: str = "p.md") -> Fixed:
    """The text of one document, fixed by the real rules."""
    path = Path("/project") / name
    files = MemoryFiles({str(path): text})
    profile = Profile()

    def recheck(texts: Mapping[Path, str], only: Collection[Path] | None) -> Sequence[Diagnostic]:
        return check([path], Analyzer(Overlay(texts, files), profile.hints), profile).diagnostics

    return fix_documents(recheck({}, None), {str(path): path}, recheck, unsafe=unsafe)


def new(text: str, **options) -> str:
    done = fixed(text, **options)
    return next(iter(done.texts.values()), text)


Finder = Callable[[str], list[tuple[str, Span, str, Applicability]]]


def by(finder: Finder, text: str, *, unsafe: bool = False) -> Fixed:
    """Fixed by invented findings: message, span, replacement and applicability of each."""

    def recheck(texts: Mapping[Path, str], only: Collection[Path] | None) -> list[Diagnostic]:
        source = SourceText(texts.get(PATH, text), str(PATH))
        return [
            Diagnostic(
                "ML004",
                "program-name-form",
                Severity.WARNING,
                message,
                source,
                span,
                fix=Fix("x", (Edit(span, replacement),), applicability),
            )
            for message, span, replacement, applicability in finder(source.text)
        ]

    return fix_documents(recheck({}, None), {str(PATH): PATH}, recheck, unsafe=unsafe)


def words(**replacements: str) -> Finder:
    """Finds each word and wants its replacement."""

    def find(text: str) -> list[tuple[str, Span, str, Applicability]]:
        return [
            (f"{word} at all", Span(at, at + len(word)), replacement, Applicability.SAFE)
            for word, replacement in replacements.items()
            for at in range(len(text))
            if text.startswith(word, at)
        ]

    return find


def test_x4_a_safe_fix_is_applied_and_an_unsafe_one_is_not_unless_asked_for():
    """X4."""
    text = "a\u2028b"
    assert new(text) == text
    assert new(text, unsafe=True) == "a\nb"


def test_unused_suppressions_are_removed_and_nothing_else_moves():
    text = (
        "---\ntitle: x   # prosa-ignore duplicate-key\n# prosa-ignore wrong-type\ntags:  [a]\n---\n\n"
        "<!-- prosa-ignore undefined-footnote, MD020 -->\nOne[^1].\n\nTwo.   <!-- prosa-ignore MD020 -->\n"
    )
    done = fixed(text)
    assert done.texts[PATH] == (
        "---\ntitle: x\ntags:  [a]\n---\n\n<!-- prosa-ignore undefined-footnote -->\nOne[^1].\n\nTwo.\n"
    )
    assert (done.count, done.dropped, done.diagnostics) == (4, (), ())


def test_fixes_that_overlap_or_touch_are_applied_in_passes():
    done = by(words(ab="x", bc="y", xc="z"), "abc ab bc")
    assert done.texts[PATH] == "z x y"
    assert done.diagnostics == ()


def test_a_fix_after_which_the_problem_is_still_there_is_dropped_and_said():
    done = by(words(a="aa"), "a b")
    assert done.texts == {}
    assert [each.reason for each in done.dropped] == ["the problem would still be there"]
    assert len(done.diagnostics) == 1


def test_a_fix_that_does_harm_does_not_take_the_good_ones_along():
    done = by(words(a="aa", b="c"), "a b a")
    assert done.texts[PATH] == "a c a"
    assert {each.diagnostic.message for each in done.dropped} == {"a at all"}


def test_a_fix_that_would_not_read_back_is_dropped(monkeypatch: pytest.MonkeyPatch):
    """A reader's error that was not there before is reason enough."""

    def recheck(texts: Mapping[Path, str], only: Collection[Path] | None) -> list[Diagnostic]:
        source = SourceText(texts.get(PATH, "a b"), str(PATH))
        if "a" not in source.text:
            return [Diagnostic("MD001", "yaml-syntax", Severity.ERROR, "broken", source, Span(0, 0))]
        fix = Fix("x", (Edit(Span(0, 1), "x"),))
        return [Diagnostic("ML004", "program-name-form", Severity.WARNING, "m", source, Span(0, 1), fix=fix)]

    done = fix_documents(recheck({}, None), {str(PATH): PATH}, recheck)
    assert done.texts == {}
    assert [each.reason for each in done.dropped] == ["the document would not read back: broken [yaml-syntax]"]


def test_two_rules_that_undo_each_other_come_to_an_end():
    done = by(words(a="b", b="a"), "a")
    assert done.texts[PATH] in ("a", "b")


def test_equal_edits_of_two_findings_are_one():
    def find(text: str) -> list[tuple[str, Span, str, Applicability]]:
        found = [("one", Span(0, 1), "", Applicability.SAFE), ("two", Span(0, 1), "", Applicability.SAFE)]
        return found if text.startswith("x") else []

    done = by(find, "xy")
    assert (done.texts[PATH], done.count) == ("y", 2)


@pytest.mark.parametrize(
    ("text", "expected"), [("a\r\nb", "x\r\ny\r\nb"), ("a\nb", "x\ny\nb"), ("a\r\nb\n", "x\ny\r\nb\n")]
)
def test_edits_take_the_line_ends_of_the_text(text: str, expected: str):
    assert by(words(a="x\ny"), text).texts[PATH] == expected


def test_documents_that_were_not_named_are_left_alone():
    def recheck(texts: Mapping[Path, str], only: Collection[Path] | None) -> list[Diagnostic]:
        source = SourceText("a", "/project/other.md")
        fix = Fix("x", (Edit(Span(0, 1), "b"),))
        return [Diagnostic("ML004", "program-name-form", Severity.WARNING, "m", source, Span(0, 1), fix=fix)]

    done = fix_documents(recheck({}, None), {str(PATH): PATH}, recheck)
    assert (done.texts, len(done.diagnostics)) == ({}, 1)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.text(st.sampled_from("abcx \n"), max_size=30),
    st.dictionaries(st.sampled_from(["a", "ab", "bc", "cab", "x "]), st.text("xyz", max_size=2), max_size=4),
)
def test_whatever_is_fixed_comes_to_an_end_and_never_adds_a_finding(text: str, replacements: dict[str, str]):
    before = words(**replacements)(text)
    done = by(words(**replacements), text)
    assert len(done.dropped) <= len(replacements)
    assert done.texts.get(PATH, text) == text or before


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<!-- prosa-ignore MD020 -->",
                "<!-- prosa-ignore MD020, gone, undefined-footnote -->",
                "<!-- prosa-ignore -->",
                "text",
                "[a](gone.md)",
                "One[^1]",
                "",
                "- item",
                "> quoted",
                "```",
                "# Heading",
                "\u2028",
            ]
        ),
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_fixing_twice_is_fixing_once(lines: list[str], end: str):
    text = end.join(lines)
    once = new(text, unsafe=True)
    assert new(once, unsafe=True) == once
    assert "\r\n" not in text or "\n" not in once.replace("\r\n", "")
