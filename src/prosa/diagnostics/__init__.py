"""Findings about a text: problems as readers and rules report them, diagnostics as users see them."""

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
