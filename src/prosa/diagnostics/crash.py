"""Errors in Prosa that a document triggers: a failing rule or reader becomes a finding of that document.

In: the exception. Out: a `Problem` that names what failed and where. Other rules and documents continue.
"""

from __future__ import annotations

from prosa.diagnostics import INTERNAL, Problem
from prosa.source import Span

_MAX_WORDS = 300


def crash(what: str, error: Exception) -> Problem:
    """Return the problem that ``what`` failed. Raises ``error`` again if it is no fault of the document, such as a
    lack of memory."""
    if isinstance(error, MemoryError):
        raise error
    return Problem(
        INTERNAL,
        f"internal error: {what} failed on this document: {_words(error)}",
        Span(0, 0),
        (f"a fault of Prosa{_place(error)}: please report it, with the document if you can share it",),
    )


def crash_words(error: BaseException) -> str:
    """Return the class, the first words and the place of an exception."""
    return f"{_words(error)}{_place(error)}"


def _words(error: BaseException) -> str:
    text = str(error).partition("\n")[0][:_MAX_WORDS]
    return f"{type(error).__name__}{': ' + text if text else ''}"


def _place(error: BaseException) -> str:
    import traceback  # only here: nothing fails as a rule

    frames = traceback.extract_tb(error.__traceback__)
    ours = next((frame for frame in reversed(frames) if "prosa" in frame.filename), None)
    return f" (in {ours.name}, line {ours.lineno})" if ours else ""
