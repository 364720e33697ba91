"""Problems of front matter in any dialect: YAML, its fences, its dialect, the shapes of its fields."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.rules.document import RULES

REPORTED = (
    RULES.reported("MD001", "yaml-syntax", Severity.ERROR),
    RULES.reported("MD002", "duplicate-key", Severity.ERROR),
    RULES.reported("MD003", "custom-tag", Severity.ERROR),
    RULES.reported("MD004", "alias-bomb", Severity.ERROR),
    RULES.reported("MD005", "nested-too-deep", Severity.ERROR),
    RULES.reported("MD006", "merge-key", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MD007", "several-documents", Severity.ERROR),
    RULES.reported("MD008", "complex-key", Severity.ERROR),
    RULES.reported("MD009", "lone-surrogate", Severity.ERROR),
    RULES.reported("MD010", "unclosed-front-matter", Severity.ERROR),
    RULES.reported("MD011", "front-matter-too-large", Severity.ERROR),
    RULES.reported("MD012", "front-matter-fence", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MD013", "front-matter-not-a-mapping", Severity.ERROR),
    RULES.reported("MD014", "ambiguous-dialect", Severity.ERROR),
    RULES.reported("MD101", "missing-field", Severity.ERROR),
    RULES.reported("MD102", "wrong-type", Severity.ERROR),
    RULES.reported("MD103", "wrong-form", Severity.ERROR),
    RULES.reported("MD104", "unknown-value", Severity.ERROR),
    RULES.reported("MD105", "unknown-field", Severity.WARNING),
    RULES.reported("MD106", "json-syntax", Severity.ERROR),
    RULES.reported("MD107", "json-number", Severity.ERROR),
)
"""What readers report by name."""
