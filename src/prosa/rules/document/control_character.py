"""`control-character`: characters that no text has, NUL and its like: the file is damaged, or no text at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import Subject
from prosa.source import Span

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
"""C0 but tab, line ends, vertical tab and form feed, which old texts have; and DEL."""


def check(subject: Subject) -> Iterator[Problem]:
    """Once, at the first one."""
    text = subject.source.text
    first = _CONTROL.search(text)
    if first is None:
        return
    count = len(_CONTROL.findall(text))
    more = f" and {count - 1:,} more like it" if count > 1 else ""
    message = f"the text holds the control character U+{ord(first.group()):04X}{more}"
    yield Problem("control-character", message, Span(*first.span()), ("Markdown readers replace or drop it",))
