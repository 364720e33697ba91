"""`undefined-footnote`: `[^label]` without a definition; readers see the brackets."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.diagnostics.nearest import nearest
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the reference. Without any definition in the document only a number is taken for a footnote: `[^a-z]` in the
    middle of a sentence is more likely a pattern."""
    undefined = subject.document.undefined_footnotes
    if not undefined:
        return
    defined = tuple(dict.fromkeys(each.label for each in subject.document.footnote_definitions))
    for reference in undefined:
        if defined or reference.label.isdecimal():
            guess = nearest(reference.label, defined)
            note = f"did you mean `[^{guess}]`?" if guess else f"write `[^{reference.label}]: …` on a line of its own"
            yield Problem(
                "undefined-footnote", f"footnote `{reference.label}` is nowhere defined", reference.span, (note,)
            )
