"""The rows of MAGI documents: `MG00` front matter, `MG02` and `MG03` scripts and results, `MG04` relationships."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.rules.rule import Rule, Scope, module_of

_E, _W, _I, _H = Severity.ERROR, Severity.WARNING, Severity.INFO, Severity.HINT


def _read(code: str, name: str, severity: Severity, strict: Severity) -> Rule:
    """A rule that the reader reports."""
    return Rule(code, name, severity, strict, ("magi",))


def _rule(code: str, name: str, severity: Severity, strict: Severity, scope: Scope = "document") -> Rule:
    """A rule with a file of its own."""
    return Rule(code, name, severity, strict, ("magi",), module_of("magi", name), scope=scope)


RULES: tuple[Rule, ...] = (
    _read("MG001", "scalar-for-list", _W, _E),
    _read("MG002", "field-name-case", _W, _E),
    _read("MG003", "relationship-object", _W, _E),
    _read("MG004", "unusual-date-form", _W, _E),
    _rule("MG005", "date-without-zone", _H, _H),
    _rule("MG006", "doc-id-not-uuid", _H, _H),
    _rule("MG007", "missing-doc-id", _W, _E),
    _rule("MG008", "expired-document", _W, _W, "both"),
    _rule("MG009", "fields-below-front-matter", _W, _E),
    _read("MG020", "script-syntax", _E, _E),
    _read("MG021", "comment-in-script", _W, _E),
    _read("MG022", "trailing-comma-in-script", _W, _E),
    _rule("MG023", "duplicate-script-id", _W, _E),
    _rule("MG024", "unfamiliar-script-value", _W, _W),
    _rule("MG025", "output-format-conflict", _W, _W),
    _rule("MG026", "ignored-stream", _I, _I),
    _rule("MG027", "ignored-interactive-field", _I, _I),
    _rule("MG028", "orphan-interactive-field", _W, _W),
    _rule("MG029", "unclosed-script", _W, _E),
    _rule("MG030", "misspelt-script-fence", _W, _W),
    _rule("MG031", "stray-region-marker", _W, _W),
    _rule("MG032", "stale-result", _W, _W),
    _rule("MG033", "edited-result", _I, _I),
    _rule("MG034", "orphan-result", _W, _W),
    _read("MG040", "relationship-syntax", _E, _E),
    _rule("MG041", "bare-relationship", _W, _E),
    _rule("MG042", "text-beside-relationship", _W, _E),
    _rule("MG043", "relationship-without-target", _E, _E),
    _rule("MG044", "relationship-with-two-targets", _W, _W),
    _rule("MG045", "unfamiliar-rel-type", _W, _W),
    _rule("MG046", "duplicate-relationship", _W, _E),
    _rule("MG047", "unreferenced-relationship", _I, _I),
    _rule("MG048", "unknown-doc-id", _W, _E, "corpus"),
    _rule("MG049", "stale-relationship-summary", _W, _W),
)
