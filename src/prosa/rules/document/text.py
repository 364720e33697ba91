"""The characters of a text, before any syntax: marks, line ends, controls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from prosa.diagnostics import INTERNAL, Applicability, Fix, Severity
from prosa.regex import UNSEEN, regex
from prosa.rules.document import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import Edit, Span

if TYPE_CHECKING:
    from prosa.source.invisible import Run

REPORTED = (
    RULES.reported("MD015", "unreadable-file", Severity.ERROR),
    RULES.reported("MD099", INTERNAL, Severity.ERROR, stops="everything"),
)
"""What readers report by name."""


@RULES.document("MD016", "control-character", Severity.WARNING)
def control_character(subject: Subject[object]) -> Iterator[Finding]:
    """Find characters that no text has, NUL and its like: the file is damaged, or no text at all. There is one finding,
    at the first one."""
    controls = subject.source.controls
    if not controls:
        return
    at = subject.source.text.index(controls[0])
    more = f" and {len(controls) - 1:,} more like it" if len(controls) > 1 else ""
    message = f"the text holds the control character U+{ord(controls[0]):04X}{more}"
    yield Finding(message, Span(at, at + 1), ("Markdown readers replace or drop it",))


_SEPARATORS = "\u2028\u2029\u0085"
_SEPARATOR = regex(f"[{_SEPARATORS}]")


@RULES.document("MD017", "line-separator", Severity.WARNING)
def line_separator(subject: Subject[object]) -> Iterator[Finding]:
    """Find U+2028, U+2029 or U+0085, which editors show as a line end and Markdown does not (X2). There is one finding,
    at the first one; the fix writes line feeds for all of them."""
    text = subject.source.text
    if text.isascii() or not any(sign in subject.source.uncommon for sign in _SEPARATORS):
        return
    spans = [Span(*match.span()) for match in _SEPARATOR.finditer(text)]
    more = f", {len(spans):,} times" if len(spans) > 1 else ""
    message = f"U+{ord(spans[0].of(text)):04X} looks like a line end and is not one{more}"
    fix = Fix("write line ends", tuple(Edit(span, "\n") for span in spans), Applicability.UNSAFE)
    yield Finding(message, spans[0], ("end the line with a line feed, or write a space",), fix=fix)


@RULES.document("MD018", "byte-order-mark", Severity.HINT)
def byte_order_mark(subject: Subject[object]) -> Iterator[Finding]:
    """Find a mark in front of the text that UTF-8 does not need (X1 reads past it). The finding points at the mark. A
    YMJ record has a rule of its own (YA25)."""
    if subject.dialect == "ymj" or not subject.source.text.startswith("\ufeff"):
        return
    mark = Span(0, 1)
    message = "the text begins with a byte-order mark, which UTF-8 does not need"
    note = "other tools may take it for text and miss the front matter"
    fix = Fix("remove the mark", (Edit(mark, ""),), Applicability.UNSAFE)
    yield Finding(message, mark, (note,), fix=fix)


_END = regex(r"\r\n|\n|\r")
_NAMES = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}


@RULES.document("MD019", "mixed-line-ends", Severity.HINT)
def mixed_line_ends(subject: Subject[object]) -> Iterator[Finding]:
    """Find lines that end in different ways within one text (X2 reads them all). There is one finding, at the first
    line end that is not the usual one of the text. A YMJ record has a rule of its own (YA25)."""
    text = subject.source.text
    if subject.dialect == "ymj" or "\r" not in text:
        return
    ends = [(match.group(), Span(*match.span())) for match in _END.finditer(text)]
    counts = Counter(end for end, _ in ends)
    if len(counts) < 2:
        return
    usual = counts.most_common(1)[0][0]
    others = [span for end, span in ends if end != usual]
    counted = ", ".join(f"{count:,} {_NAMES[end]}" for end, count in counts.most_common())
    fix = Fix("end all lines alike", tuple(Edit(span, usual) for span in others), Applicability.UNSAFE)
    yield Finding(f"lines of this text end in different ways: {counted}", others[0], fix=fix)


_MOST = 20
"""The findings of invisible characters in one document."""

_HARMLESS = regex("[\u061c\u200b-\u200f\u2060-\u2064\ufeff]+")
_HOSTILE = regex("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]+")


@RULES.document("MD045", "invisible-character", Severity.WARNING, strict=Severity.ERROR)
def invisible_character(subject: Subject[object]) -> Iterator[Finding]:
    """Find invisible characters that their context does not need (X39), each run once. In a document with many, the
    last finding stands for all that follow it."""
    text = subject.source.text
    signs: set[str] = set() if text.isascii() else {*UNSEEN.findall(subject.source.uncommon)}
    if not signs:
        return
    from prosa.source.invisible import invisible  # only here: most documents have none

    runs = invisible(text, signs)
    run_list = list(islice(runs, _MOST))
    rest = list(runs)
    for number, run in enumerate(run_list, 1):
        more = rest if number == _MOST else []
        names = " ".join(f"U+{code:04X}" for code in run.codes[:4])
        others = f" and {len(run.codes) - 4:,} more" if len(run.codes) > 4 else ""
        later = f", and {len(more):,} more places hold such characters" if more else ""
        notes = ["no reader sees it, and programs and models read it"]
        if run.hidden:
            notes.append(f"as ASCII the Unicode tags spell {run.hidden[:200]!r}")
        unsafe = any(not _removable(subject, stretch) for stretch in (run, *more))
        edits = tuple(Edit(Span(stretch.start, stretch.end), "") for stretch in (run, *more))
        fix = Fix("remove it", edits, Applicability.UNSAFE if unsafe else Applicability.SAFE)
        message = f"the text holds invisible characters: {names}{others}{later}"
        yield Finding(message, Span(run.start, run.end), tuple(notes), fix=fix)


def _removable(subject: Subject[object], run: Run) -> bool:
    """Return whether removing them certainly keeps the meaning: in prose, with no Markdown markup adjacent."""
    text = subject.source.text
    if subject.dialect in ("ymj", "evals", "test") or run.start < subject.front.body.start:
        return False
    if not subject.document.is_running_text(run.start):
        return False
    if _HOSTILE.fullmatch(text, run.start, run.end):
        return True
    before, after = text[run.start - 1 : run.start], text[run.end : run.end + 1]
    return bool(_HARMLESS.fullmatch(text, run.start, run.end)) and before.isalnum() and after.isalnum()
