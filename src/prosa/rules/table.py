"""The table of rules: every diagnostic there is, one row each. `rules/docs/NAME.md` is its page.

Codes: `MD0` what is wrong in any document, `MD1` shapes of fields, `ML` programs.
"""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.dialects.dialect import DialectName
from prosa.rules.rule import Rule, Stops

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
_PROGRAM: tuple[DialectName, ...] = ("markdownlang",)


def _usually(severity: Severity) -> Stops:
    return "everything" if severity is Severity.ERROR else "nothing"


def _any(
    code: str, name: str, severity: Severity = _E, strict: Severity | None = None, *, stops: Stops | None = None
) -> Rule:
    """A rule of every document, reported by a reader."""
    return Rule(code, name, severity, strict or severity, stops=stops or _usually(severity))


def _read(
    code: str, name: str, severity: Severity = _E, strict: Severity | None = None, *, stops: Stops | None = None
) -> Rule:
    """A rule of programs that their reader reports."""
    return Rule(code, name, severity, strict or severity, _PROGRAM, stops=stops or _usually(severity))


def _rule(
    code: str, name: str, severity: Severity = _E, strict: Severity | None = None, *, stops: Stops | None = None
) -> Rule:
    """A rule of programs with a file of its own."""
    module = f"prosa.rules.markdownlang.{name.replace('-', '_')}"
    return Rule(code, name, severity, strict or severity, _PROGRAM, module, stops or _usually(severity))


RULES: tuple[Rule, ...] = (
    _any("MD001", "yaml-syntax"),
    _any("MD002", "duplicate-key"),
    _any("MD003", "custom-tag"),
    _any("MD004", "alias-bomb"),
    _any("MD005", "nested-too-deep"),
    _any("MD006", "merge-key", _W, _E),
    _any("MD007", "several-documents"),
    _any("MD008", "complex-key"),
    _any("MD009", "lone-surrogate"),
    _any("MD010", "unclosed-front-matter"),
    _any("MD011", "front-matter-too-large"),
    _any("MD012", "front-matter-fence", _W, _E),
    _any("MD013", "front-matter-not-a-mapping"),
    _any("MD014", "ambiguous-dialect"),
    _any("MD015", "unreadable-file"),
    _any("MD101", "missing-field"),
    _any("MD102", "wrong-type"),
    _any("MD103", "wrong-form"),
    _any("MD104", "unknown-value"),
    _any("MD105", "unknown-field", _W, _W),
    _read("ML001", "missing-front-matter"),
    _read("ML002", "missing-description", _W, _E),
    _read("ML003", "missing-output", stops="run"),
    _rule("ML004", "program-name-form", _W, _E),
    _read("ML005", "limit-above-ceiling", _W, _E),
    _rule("ML006", "setting-of-the-user"),
    _read("ML010", "bad-schema"),
    _read("ML011", "schema-without-type", _W, _E),
    _read("ML012", "unknown-schema-keyword", _W, _W),
    _read("ML013", "required-without-property", _W, _W),
    _read("ML020", "template-syntax"),
    _rule("ML021", "undeclared-name", stops="nothing"),
    _rule("ML022", "impossible-name"),
    _rule("ML023", "mangled-tool-name", _W, _W),
    _rule("ML030", "unknown-import"),
    _rule("ML031", "unreadable-import"),
    _rule("ML032", "import-outside-root", _I, _I, stops="run"),
    _rule("ML033", "import-not-markdown"),
    _rule("ML034", "reserved-import"),
    _rule("ML035", "import-cycle"),
    _rule("ML036", "import-too-deep"),
    _rule("ML037", "too-many-imports"),
    _rule("ML040", "server-without-transport"),
    _rule("ML041", "server-with-two-transports"),
    _rule("ML042", "server-transport-mismatch"),
    _rule("ML043", "server-url-scheme"),
    _rule("ML044", "duplicate-server"),
    _rule("ML050", "tool-name-collision"),
)

BY_NAME: dict[str, Rule] = {rule.name: rule for rule in RULES}


def find_rule(text: str) -> Rule | None:
    """The rule with this code (any case) or name."""
    return next((rule for rule in RULES if text in (rule.name, rule.code) or text.upper() == rule.code), None)


def selects(selector: str, rule: Rule) -> bool:
    """Whether a selector, a rule name or the beginning of a code, names this rule. `ALL` names every rule."""
    upper = selector.upper()
    return selector == rule.name or upper == "ALL" or (bool(upper) and rule.code.startswith(upper))


def is_selector(selector: str) -> bool:
    """Whether a selector names any rule at all."""
    return any(selects(selector, rule) for rule in RULES)
