"""Problems that readers report in any dialect: YAML and its fences, fields, suppressions, settings; and footnotes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.regex import regex
from prosa.rules.document import RULES
from prosa.rules.rule import Finding, Subject

if TYPE_CHECKING:
    from prosa.dialects.magi.model import MagiModel
    from prosa.dialects.magi.regions import Region
    from prosa.document.model import FootnoteReference

REPORTED = (
    RULES.reported("MD001", "yaml-syntax", Severity.ERROR),
    RULES.reported("MD002", "duplicate-key", Severity.ERROR),
    RULES.reported("MD003", "custom-tag", Severity.ERROR),
    RULES.reported("MD004", "alias-bomb", Severity.ERROR),
    RULES.reported("MD005", "nested-too-deep", Severity.ERROR),
    RULES.reported("MD006", "merge-key", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MD007", "several-documents", Severity.ERROR),
    RULES.reported("MD008", "complex-key", Severity.ERROR),
    RULES.reported("MD009", "lone-surrogate", Severity.ERROR),
    RULES.reported("MD010", "unclosed-front-matter", Severity.ERROR),
    RULES.reported("MD011", "front-matter-too-large", Severity.ERROR),
    RULES.reported("MD012", "front-matter-fence", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MD013", "front-matter-not-a-mapping", Severity.ERROR),
    RULES.reported("MD014", "ambiguous-dialect", Severity.ERROR),
    RULES.reported("MD101", "missing-field", Severity.ERROR),
    RULES.reported("MD102", "wrong-type", Severity.ERROR),
    RULES.reported("MD103", "wrong-form", Severity.ERROR),
    RULES.reported("MD104", "unknown-value", Severity.ERROR),
    RULES.reported("MD105", "unknown-field", Severity.WARNING),
    RULES.reported("MD106", "json-syntax", Severity.ERROR),
    RULES.reported("MD107", "json-number", Severity.ERROR),
    RULES.reported("MD030", "unused-suppression", Severity.WARNING),
    RULES.reported("MD031", "unknown-rule", Severity.WARNING),
    RULES.reported("MD040", "bad-settings-file", Severity.ERROR),
    RULES.reported("MD041", "bad-setting", Severity.ERROR),
    RULES.reported("MD042", "refused-setting", Severity.ERROR),
    RULES.reported("MD043", "unknown-setting", Severity.WARNING),
    RULES.reported("MD044", "bad-schema-file", Severity.ERROR),
    RULES.reported("MD051", "nav-without-page", Severity.WARNING),
)
"""What readers report by name."""


# Footnotes of every document.

_CLASS = regex(r"[^\w]+|\\.*|(?:\w-\w)+\w{0,3}")
"""Labels that are the inside of a pattern, `[^A-Z0-9_]` and `[^\\s]`, and hardly the name of a note."""

_REPEATS = ("+", "{")
"""What follows a pattern and no footnote."""


@RULES.document("MD022", "undefined-footnote", Severity.WARNING, strict=Severity.ERROR)
def undefined_footnote(subject: Subject[object]) -> Iterator[Finding]:
    """Find `[^label]` without a definition; readers see the brackets. The finding points at the reference. Without any
    definition in the document only a number is taken for a footnote: `[^a-z]` in the middle of a sentence is more
    likely a pattern. Footnotes are what MAGI documents are about: there it is one (MA22)."""
    undefined = [footnote for footnote in subject.document.undefined_footnotes if not _is_result(subject, footnote)]
    if not undefined:
        return
    defined = tuple(dict.fromkeys(definition.label for definition in subject.document.footnote_definitions))
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
