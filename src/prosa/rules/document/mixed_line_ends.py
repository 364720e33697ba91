"""`mixed-line-ends`: lines that end in different ways within one text (X2 reads them all)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.rules.subject import Subject
from prosa.source import Edit, Span

_END = re.compile(r"\r\n|\n|\r")
_NAMES = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}


def check(subject: Subject) -> Iterator[Problem]:
    """Once, at the first line end that is not the usual one of the text. A YMJ record has a rule of its own (YA25)."""
    text = subject.source.text
    if subject.dialect == "ymj" or "\r" not in text:
        return
    ends = [(each.group(), Span(*each.span())) for each in _END.finditer(text)]
    counts = Counter(end for end, _ in ends)
    if len(counts) < 2:
        return
    usual = counts.most_common(1)[0][0]
    others = [span for end, span in ends if end != usual]
    found = ", ".join(f"{count:,} {_NAMES[end]}" for end, count in counts.most_common())
    fix = Fix("end all lines alike", tuple(Edit(span, usual) for span in others), Applicability.UNSAFE)
    yield Problem("mixed-line-ends", f"lines of this text end in different ways: {found}", others[0], fix=fix)
