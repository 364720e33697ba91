"""The normal form of one document (X22). In: a source and the hints about its dialect. Out: its text in the normal
form of the dialect, or why it was left unchanged.

A document that cannot be read completely is left unchanged: text that was not understood must not move. The result is
read again, and formatted again until nothing changes.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from prosa.diagnostics import Problem, Severity
from prosa.dialects.dialect import FormatOptions, Hints
from prosa.dialects.reading import DialectReading, open_document
from prosa.rules.fix import ends_lines_with_crlf, with_line_ends
from prosa.rules.registry import rule_named
from prosa.source import OverlappingEdits, SourceText, apply_edits

MAX_ROUNDS = 5
"""Times a text is formatted. One edit may make room for another; a third round means that two edits disagree."""

HARMLESS = frozenset({"missing-field", "wrong-type", "wrong-form", "unknown-value", "unknown-field"})
"""Errors of readers that say what a document lacks, not that it could not be read."""


class Formatted(Struct, frozen=True):
    """``text`` is the normal form; None when the document was left alone, for a ``problem`` in it or a ``reason``."""

    text: str | None
    problem: Problem | None = None
    reason: str = ""


def format_text(source: SourceText, hints: Hints, options: FormatOptions | None = None) -> Formatted:
    """Return the normal form of ``source``. Never fails on any text; formatting the result again changes nothing."""
    try:
        return _formatted(source, hints, options or FormatOptions())
    except Exception as error:
        from prosa.diagnostics.crash import crash  # only here: nothing fails as a rule

        return Formatted(None, crash("the formatter", error))


def _formatted(source: SourceText, hints: Hints, options: FormatOptions) -> Formatted:
    reading = open_document(source, hints)
    problem = next(iter(_unread(reading)), None)
    if problem is not None:
        return Formatted(None, problem)
    errors = Counter(each.rule for each in _errors(reading))
    crlf = ends_lines_with_crlf(source.text)
    for _ in range(MAX_ROUNDS):
        edits = reading.format_edits(options)
        try:
            before = reading.front.source.text
            text = apply_edits(before, with_line_ends(edits, before, crlf=crlf))
        except OverlappingEdits:
            return Formatted(None, reason="its normal form contradicts itself; please report this")
        if text == reading.front.source.text:
            return Formatted(text)
        digest = sha256(text.encode("utf-8", "replace")).hexdigest()
        reading = open_document(replace(source, text=text, digest=digest), hints)
        if Counter(each.rule for each in _errors(reading)) - errors:
            return Formatted(None, reason="its normal form would not read back; please report this")
    return Formatted(None, reason="it has no stable normal form; please report this")


def _errors(reading: DialectReading[object]) -> tuple[Problem, ...]:
    """Return the errors that readers report under any profile."""
    found = dict.fromkeys((*reading.front.problems, *reading.problems))
    return tuple(each for each in found if (each.severity or rule_named(each.rule).severity) is Severity.ERROR)


def _unread(reading: DialectReading[object]) -> tuple[Problem, ...]:
    """Return the errors after which a part of the document was not understood."""
    return tuple(each for each in _errors(reading) if each.rule not in HARMLESS)
