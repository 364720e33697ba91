"""What a check finds in one document by looking at it alone, and in one program with its imports: values that the
engine, the cache and the rules of many documents share."""

# Without postponed annotations: the decoder of what is cached compiles each of those when it is made.

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, field

from prosa.diagnostics import Problem
from prosa.rules.rule import ReadFacts, Rule
from prosa.source import FileProblem, SourceText, Span
from prosa.source.values import PartlyCompared

if TYPE_CHECKING:
    from prosa.dialects.reading import DialectReading

MARK = "prosa-ignore"
"""The word that makes a comment a suppression."""


class Suppression(Struct, frozen=True):
    """A comment that suppresses rules (`rules.suppressions`). ``names`` are the rules as written, each with its span;
    ``comment`` is the whole comment, ``covers`` the range whose findings it suppresses (both ends included, so that an
    empty last line counts)."""

    names: tuple[tuple[str, Span], ...]
    comment: Span
    covers: Span


UNREADABLE = "unreadable-file"


class Analysis(PartlyCompared, Struct, frozen=True):
    """``problems`` are those of the readers and of the rules of one document, ``rules`` the data of those rules;
    ``strict`` is the mode that the document requests.

    ``digest`` is the SHA-256 of the bytes, empty for a text without a file and for a file that could not be read.
    ``depends`` holds other files whose content the problems depend on (`rules.recording`); ``lasting`` is False if
    they also depend on the time. ``imports`` is true for a program with imports: its rules run once all of them are
    known.

    ``source`` and ``reading`` exist only in the process that read the document, and only if they were requested or
    there are findings.
    """

    digest: str
    facts: ReadFacts
    problems: tuple[Problem, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    strict: bool | None = None
    depends: Mapping[str, str] = field(default_factory=dict)
    lasting: bool = True
    imports: bool = False
    rules: tuple[Rule, ...] = ()
    source: SourceText | None = None
    reading: "DialectReading[object] | None" = None

    uncompared: ClassVar = frozenset({"source", "reading"})

    @property
    def readable(self) -> bool:
        """Whether the document could be read."""
        return not any(problem.rule == UNREADABLE for problem in self.problems)


def unreadable(problem: FileProblem) -> Analysis:
    """Return the analysis of a file that cannot be read as a document."""
    path = str(problem.path)
    message = f"the file cannot be read as a document: {problem.reason}"
    fault = Problem(UNREADABLE, message, Span(0, 0))
    return Analysis("", ReadFacts(path, "plain"), (fault,), source=SourceText("", path))


class ProgramFindings(Struct, frozen=True):
    """The problems of one program under the rules that include its imports.

    ``real`` is the real path of the program, ``path`` the one for people; ``source`` is None for findings from another
    process or an earlier check.
    """

    real: Path
    path: str
    digest: str
    problems: tuple[Problem, ...]
    rules: tuple[Rule, ...]
    suppressions: tuple[Suppression, ...]
    source: SourceText | None = None
