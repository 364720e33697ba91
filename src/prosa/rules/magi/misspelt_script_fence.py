"""`misspelt-script-fence`: a fence whose language is nearly `ai-script`, so that it is none (M23, M40)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.regions import inside
from prosa.dialects.magi.scripts import LANGUAGE
from prosa.rules.subject import Subject
from prosa.source import Edit, Span

_LONGEST = 16


def check(subject: Subject) -> Iterator[Problem]:
    """At the word. In a result that was written into the document it is meant to be none (X19)."""
    model: MagiModel = subject.model
    within = inside(model.regions)
    for fence in model.document.fences:
        word = fence.language
        if within(fence.span.start):
            continue
        if word == LANGUAGE or len(word) > _LONGEST or _letters(word) != _letters(LANGUAGE):
            continue
        start = model.source.text.find(word, fence.span.start + len(fence.open_fence), fence.span.end)
        if start < 0:
            continue
        span = Span(start, start + len(word))
        fix = Fix(f"write `{LANGUAGE}`", (Edit(span, LANGUAGE),), Applicability.UNSAFE)
        message = f"`{word}` is not `{LANGUAGE}`: this block is an example, not an instruction"
        yield Problem("misspelt-script-fence", message, span, fix=fix)


def _letters(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalpha())
