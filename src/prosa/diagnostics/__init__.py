"""Findings about a text: a `Problem` as readers and rules report it, a `Diagnostic` as users see it (X4).
`prosa.render` formats them."""

# Without postponed annotations: a decoder of what is cached compiles each of those when it is made.

from enum import StrEnum

from msgspec import Struct

from prosa.source import Edit, Position, SourceText, Span

INTERNAL = "internal-error"
"""The rule of problems that are faults of our own (`prosa.diagnostics.crash`)."""


class Severity(StrEnum):
    """How bad it is. An error fails a check; a hint never does."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    HINT = "hint"


class Applicability(StrEnum):
    """Whether a fix may be applied without asking."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Annotation(Struct, frozen=True):
    """A second place that helps to understand the first; ``source`` when it is in another file."""

    span: Span
    message: str
    source: SourceText | None = None


class Fix(Struct, frozen=True):
    """Edits that remove the problem, and the sentence that describes them."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE


class Misspelling(Struct, frozen=True):
    """A misspelt name in the span of a problem, and the known name it most likely stands for. The engine makes it a
    fix that replaces exactly this name and is only applied on request. An empty ``written`` means the whole span."""

    written: str
    meant: str


class Problem(Struct, frozen=True):
    """A finding at a span of a text, named by the rule that owns it.

    ``message`` is one headline that stands alone; ``notes`` say what was expected and what to do. ``severity`` is None
    if the rule table decides, as nearly always. Every problem with a "did you mean" has a ``misspelling``.
    """

    rule: str
    message: str
    span: Span
    notes: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    fix: Fix | None = None
    severity: Severity | None = None
    misspelling: Misspelling | None = None


class Diagnostic(Struct, frozen=True):
    """A ranked problem in a known source: stable ``code``, rule name, severity, headline, span (X4)."""

    code: str
    rule: str
    severity: Severity
    message: str
    source: SourceText
    span: Span
    notes: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    fix: Fix | None = None

    @property
    def path(self) -> str:
        """The file as the user named it."""
        return self.source.path

    @property
    def start(self) -> Position:
        """1-based line and column of the first character."""
        return self.source.position(self.span.start)

    @property
    def end(self) -> Position:
        """1-based line and column just past the last character."""
        return self.source.position(self.span.end)
