"""What the product says about a text: problems as readers and rules find them, diagnostics as people see them."""

from prosa.diagnostics.diagnostic import Annotation, Applicability, Diagnostic, Fix, Misspelling, Problem, Severity

__all__ = ["Annotation", "Applicability", "Diagnostic", "Fix", "Misspelling", "Problem", "Severity"]
