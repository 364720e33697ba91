"""The front matter of MDA documents: what their reader reports (§02, §04, §10)."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.rules.mda import RULES

REPORTED = (
    RULES.reported("MA001", "mda-without-front-matter", Severity.ERROR),
    RULES.reported("MA002", "unquoted-text", Severity.ERROR),
    RULES.reported("MA003", "bad-namespace", Severity.ERROR),
    RULES.reported("MA004", "bad-capability", Severity.ERROR),
)
"""What readers report by name."""
