"""The rows of every document: `MD0` syntax, links, suppressions and settings, `MD1` shapes of fields."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.rules.rule import Rule, Stops, module_of

_E, _W, _H = Severity.ERROR, Severity.WARNING, Severity.HINT


def _read(
    code: str, name: str, severity: Severity = _E, strict: Severity | None = None, *, stops: Stops | None = None
) -> Rule:
    """A rule that a reader reports; an error stops a program."""
    usual: Stops = "everything" if severity is _E else "nothing"
    return Rule(code, name, severity, strict or severity, stops=stops or usual)


def _corpus(code: str, name: str, severity: Severity = _E) -> Rule:
    """A rule of many documents together."""
    return Rule(code, name, severity, severity, module=module_of("document", name), scope="corpus")


def _rule(code: str, name: str, severity: Severity, strict: Severity | None = None) -> Rule:
    """A rule with a file of its own."""
    return Rule(code, name, severity, strict or severity, module=module_of("document", name))


RULES: tuple[Rule, ...] = (
    _read("MD001", "yaml-syntax"),
    _read("MD002", "duplicate-key"),
    _read("MD003", "custom-tag"),
    _read("MD004", "alias-bomb"),
    _read("MD005", "nested-too-deep"),
    _read("MD006", "merge-key", _W, _E),
    _read("MD007", "several-documents"),
    _read("MD008", "complex-key"),
    _read("MD009", "lone-surrogate"),
    _read("MD010", "unclosed-front-matter"),
    _read("MD011", "front-matter-too-large"),
    _read("MD012", "front-matter-fence", _W, _E),
    _read("MD013", "front-matter-not-a-mapping"),
    _read("MD014", "ambiguous-dialect"),
    _read("MD015", "unreadable-file"),
    _rule("MD016", "control-character", _W),
    _rule("MD017", "line-separator", _W),
    _rule("MD018", "byte-order-mark", _H),
    _rule("MD019", "mixed-line-ends", _H),
    _corpus("MD020", "unresolved-link"),
    _corpus("MD021", "unresolved-anchor", _W),
    _rule("MD022", "undefined-footnote", _W, _E),
    _corpus("MD023", "duplicate-id"),
    _corpus("MD024", "unresolved-wikilink", _W),
    _corpus("MD025", "ambiguous-wikilink", _W),
    _corpus("MD026", "wikilink-case", _H),
    _corpus("MD027", "unresolved-relation", _W),
    _corpus("MD028", "schema-mismatch"),
    _read("MD030", "unused-suppression", _W),
    _read("MD031", "unknown-rule", _W),
    _read("MD040", "bad-settings-file"),
    _read("MD041", "bad-setting"),
    _read("MD042", "refused-setting"),
    _read("MD043", "unknown-setting", _W),
    _read("MD044", "bad-schema-file"),
    _read("MD101", "missing-field"),
    _read("MD102", "wrong-type"),
    _read("MD103", "wrong-form"),
    _read("MD104", "unknown-value"),
    _read("MD105", "unknown-field", _W, _W),
)
