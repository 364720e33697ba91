"""The rows of programs, `ML`."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.dialects.dialect import DialectName
from prosa.rules.rule import Rule, Stops, module_of

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
_PROGRAM: tuple[DialectName, ...] = ("markdownlang",)


def _usually(severity: Severity) -> Stops:
    return "everything" if severity is _E else "nothing"


def _read(
    code: str, name: str, severity: Severity = _E, strict: Severity | None = None, *, stops: Stops | None = None
) -> Rule:
    """A rule that the reader of programs reports."""
    return Rule(code, name, severity, strict or severity, _PROGRAM, stops=stops or _usually(severity))


def _rule(
    code: str, name: str, severity: Severity = _E, strict: Severity | None = None, *, stops: Stops | None = None
) -> Rule:
    """A rule with a file of its own."""
    module = module_of("markdownlang", name)
    return Rule(code, name, severity, strict or severity, _PROGRAM, module, stops or _usually(severity))


RULES: tuple[Rule, ...] = (
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
    _rule("ML024", "unused-input", _I, _I),
    _rule("ML025", "unknown-tool", _W, _W),
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
