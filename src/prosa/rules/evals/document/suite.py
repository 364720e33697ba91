"""A test document by itself: its cases, their blocks, what they expect. Its reader reports them."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.rules.evals.document import RULES

REPORTED = (
    RULES.reported("TS001", "test-without-cases", Severity.ERROR),
    RULES.reported("TS002", "repeated-case", Severity.ERROR),
    RULES.reported("TS003", "unknown-block", Severity.ERROR),
    RULES.reported("TS004", "repeated-block", Severity.ERROR),
    RULES.reported("TS005", "block-without-case", Severity.ERROR),
    RULES.reported("TS006", "requirement-beyond-repeats", Severity.ERROR),
    RULES.reported("TS010", "bad-matcher", Severity.ERROR),
    RULES.reported("TS011", "unknown-matcher", Severity.ERROR),
    RULES.reported("TS012", "bad-query", Severity.ERROR),
    RULES.reported("TS013", "bad-run-expectation", Severity.ERROR),
    RULES.reported("TS014", "bad-grade", Severity.ERROR),
)
"""What readers report by name."""
