"""Footnotes of every document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.regex import regex
from prosa.rules.document import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject

if TYPE_CHECKING:
    from prosa.dialects.magi.model import MagiModel
    from prosa.dialects.magi.regions import Region
    from prosa.document.model import FootnoteReference

_CLASS = regex(r"[^\w]+|\\.*|(?:\w-\w)+\w{0,3}")
"""Labels that are the inside of a pattern, `[^A-Z0-9_]` and `[^\\s]`, and hardly the name of a note."""

_REPEATS = ("+", "{")
"""What follows a pattern and no footnote."""


@RULES.document("MD022", "undefined-footnote", Severity.WARNING, strict=Severity.ERROR)
def undefined_footnote(subject: Subject[object]) -> Iterator[Finding]:
    """Find `[^label]` without a definition; readers see the brackets. The finding points at the reference. Without any
    definition in the document only a number is taken for a footnote: `[^a-z]` in the middle of a sentence is more
    likely a pattern. Footnotes are what MAGI documents are about: there it is one (MA22)."""
    undefined = [each for each in subject.document.undefined_footnotes if not _is_result(subject, each)]
    if not undefined:
        return
    defined = tuple(dict.fromkeys(each.label for each in subject.document.footnote_definitions))
    usual = bool(defined) or subject.dialect == "magi"
    for reference in undefined:
        if (usual or reference.label.isdecimal()) and not _is_pattern(reference, subject.source.text):
            guess = nearest(reference.label, defined)
            note = f"did you mean `[^{guess}]`?" if guess else f"write `[^{reference.label}]: …` on a line of its own"
            text = f"footnote `{reference.label}` is nowhere defined"
            meant = Misspelling(reference.label, guess) if guess else None
            yield Finding(text, reference.span, (note,), misspelling=meant)


def _is_result(subject: Subject[object], reference: FootnoteReference) -> bool:
    """Return whether a footnote is in text that a run has written, where definitions are escaped (X19)."""
    if subject.dialect != "magi":
        return False
    regions = cast("MagiModel", subject.model).regions
    at = bisect_right(regions, reference.span.start, key=_start) - 1
    return at >= 0 and reference.span.start in regions[at].span


def _start(region: Region) -> int:
    return region.span.start


def _is_pattern(reference: FootnoteReference, text: str) -> bool:
    return bool(_CLASS.fullmatch(reference.label)) or text.startswith(_REPEATS, reference.span.end)
