"""`line-separator`: U+2028, U+2029 or U+0085, which editors show as a line end and Markdown does not (X2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.rules.subject import Subject
from prosa.source import Edit, Span

_SEPARATOR = re.compile("[\u2028\u2029\u0085]")


def check(subject: Subject) -> Iterator[Problem]:
    """Once, at the first one; the fix writes line feeds for all of them."""
    if subject.source.text.isascii():
        return
    found = [Span(*each.span()) for each in _SEPARATOR.finditer(subject.source.text)]
    if not found:
        return
    more = f", {len(found):,} times" if len(found) > 1 else ""
    character = found[0].of(subject.source.text)
    message = f"U+{ord(character):04X} looks like a line end and is none{more}"
    fix = Fix("write line ends", tuple(Edit(span, "\n") for span in found), Applicability.UNSAFE)
    yield Problem("line-separator", message, found[0], ("end the line with a line feed, or write a space",), fix=fix)
