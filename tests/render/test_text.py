"""Diagnostics as text: place, code, headline, carets under the span, and nothing a terminal would obey."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prosa.diagnostics import Annotation, Applicability, Diagnostic, Fix, Severity
from prosa.regex import UNSEEN
from prosa.render.formats import render_github
from prosa.render.json import dump, render_json, render_jsonl
from prosa.render.plain import safe, safe_source, width
from prosa.render.text import WINDOW, excerpt, render_statistics, render_summary, render_text
from prosa.source import Edit, SourceText, Span
from prosa.source.invisible import invisible
from tests.depth import examples
from tests.work import is_quick


def diagnostic(text: str, start: int, end: int, **more) -> Diagnostic:
    given = {"code": "ML030", "rule": "unknown-import", "severity": Severity.ERROR, "message": "no such program"}
    return Diagnostic(**(given | more), source=SourceText(text, more.pop("path", "a.md")), span=Span(start, end))


def test_x4_a_diagnostic_with_all_its_parts():
    """X4. Code, rule, severity, headline, span, notes and fix."""
    each = diagnostic(
        "---\nimports: [b.md]\n",
        14,
        18,
        notes=("give its path",),
        annotations=(Annotation(Span(4, 11), "the list"),),
        fix=Fix("remove it", (Edit(Span(14, 18), ""),), Applicability.UNSAFE),
    )
    assert render_text([each]) == (
        "a.md:2:11: ML030 error: no such program [unknown-import]\n"
        "  |\n"
        "2 | imports: [b.md]\n"
        "  |           ^^^^\n"
        "  = see a.md:2:1: the list\n"
        "  = help: give its path\n"
        "  = fix: remove it (unsafe)"
    )


@pytest.mark.parametrize(
    ("text", "start", "end", "line", "carets"),
    [
        ("\tab", 1, 2, "    ab", "    ^"),
        ("漢字x", 2, 3, "漢字x", "    ^"),
        ("漢字x", 0, 2, "漢字x", "^^^^"),
        ("e\u0301x", 2, 3, "e\u0301x", " ^"),
        ("a\x1b[31mb", 6, 7, "a�[31mb", "      ^"),
        ("ab", 2, 2, "ab", "  ^"),
        ("", 0, 0, "", "^"),
        ("one\ntwo", 1, 6, "one", " ^^"),
        ("one\rtwo", 4, 7, "two", "^^^"),
        ("a\u202eb", 2, 3, "a\\u202eb", "       ^"),
    ],
)
def test_carets_stand_under_the_span(text: str, start: int, end: int, line: str, carets: str):
    shown = excerpt(SourceText(text), Span(start, end))
    assert (shown.text, shown.carets) == (line, carets)


def test_a_long_line_is_cut_around_the_span():
    shown = excerpt(SourceText("a" * 5_000 + "HERE" + "b" * 5_000), Span(5_000, 5_004))
    assert len(shown.text) <= WINDOW + 2
    at = shown.carets.index("^")
    assert shown.text[at : at + 4] == "HERE"
    assert shown.text.startswith("…") and shown.text.endswith("…")


def test_many_findings_on_one_long_line_are_linear():
    text = "ab " * 80_000
    many = [diagnostic(text, at * 3, at * 3 + 2) for at in range(0, 80_000, 40)]
    source = many[0].source
    many = [Diagnostic(each.code, each.rule, each.severity, each.message, source, each.span) for each in many]
    assert is_quick(lambda: render_text(many), 2)


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
@example("A\xadA", 0, 0)
def test_no_text_of_a_document_reaches_the_terminal_raw(text: str, start: int, length: int):
    start = min(start, len(text))
    each = diagnostic(text, start, min(len(text), start + length), message=text or "x", notes=(text,))
    removable = {at for run in invisible(text) for at in range(run.start, run.end)}
    needed = {char for at, char in enumerate(text) if UNSEEN.match(char) and at not in removable}  # by its script
    for shown in (render_text([each]), render_github([each])):
        seen = set(shown) - needed - {"\n"}
        assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in seen)
    assert safe(text).count("\n") == 0
    assert width(safe_source(text)) >= 0


def test_colour_only_when_asked():
    each = diagnostic("ab", 0, 1)
    assert "\x1b" not in render_text([each])
    coloured = render_text([each], color=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_text([each])


def test_json_has_the_keys_of_the_interface_in_their_order():
    each = diagnostic("---\nname: é x\n", 12, 13)
    assert render_json([each], 3) == dump(
        {
            "files": 3,
            "diagnostics": [
                {
                    "path": "a.md",
                    "code": "ML030",
                    "rule": "unknown-import",
                    "severity": "error",
                    "message": "no such program",
                    "line": 2,
                    "column": 9,
                    "end_line": 2,
                    "end_column": 10,
                    "fix": None,
                }
            ],
        },
        indent=2,
    )
    assert render_jsonl([each, each]).count("\n") == 1


def test_json_holds_no_nan():
    assert (
        dump({"a": [float("nan"), float("inf"), -float("inf")], "é": 1}) == '{"a": [".nan", ".inf", "-.inf"], "é": 1}'
    )


def test_github_commands_escape_what_would_end_them():
    each = diagnostic("ab\ncd", 1, 4, message="100% a::b", severity=Severity.WARNING)
    assert render_github([each]) == "::warning file=a.md,line=1,endLine=2,title=ML030 unknown-import::100%25 a::b"


@pytest.mark.parametrize(
    ("severities", "files", "line"),
    [
        ([], 1, "Nothing found in 1 document."),
        (["error"], 2, "Found 1 error in 2 documents."),
        (["error", "error", "warning", "info", "hint"], 3, "Found 2 errors, 1 warning, 1 note, 1 hint in 3 documents."),
    ],
)
def test_the_summary(severities: list[str], files: int, line: str):
    found = [diagnostic("a", 0, 1, severity=Severity(severity)) for severity in severities]
    assert render_summary(found, files) == line


def test_statistics_put_the_most_frequent_first():
    found = [diagnostic("a", 0, 1), diagnostic("a", 0, 1, code="MD001", rule="yaml-syntax"), diagnostic("b", 0, 1)]
    assert [line.split() for line in render_statistics(found).splitlines()] == [
        ["2", "ML030", "error", "unknown-import"],
        ["1", "MD001", "error", "yaml-syntax"],
    ]
