"""What the product says about a text: problems as readers and rules find them, diagnostics as people see them."""

from prosa.diagnostics.diagnostic import (
    INTERNAL,
    Annotation,
    Applicability,
    Diagnostic,
    Fix,
    Misspelling,
    Problem,
    Severity,
)

__all__ = ["INTERNAL", "Annotation", "Applicability", "Diagnostic", "Fix", "Misspelling", "Problem", "Severity"]
