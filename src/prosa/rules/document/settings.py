"""Problems of the configuration of a check: suppressions in a document, settings of a project."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.rules.document import RULES

REPORTED = (
    RULES.reported("MD030", "unused-suppression", Severity.WARNING),
    RULES.reported("MD031", "unknown-rule", Severity.WARNING),
    RULES.reported("MD040", "bad-settings-file", Severity.ERROR),
    RULES.reported("MD041", "bad-setting", Severity.ERROR),
    RULES.reported("MD042", "refused-setting", Severity.ERROR),
    RULES.reported("MD043", "unknown-setting", Severity.WARNING),
    RULES.reported("MD044", "bad-schema-file", Severity.ERROR),
)
"""What readers report by name."""
