"""The rows of chats, `PR`."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.dialects.dialect import DialectName
from prosa.rules.rule import Rule, module_of

_E, _W, _I, _H = Severity.ERROR, Severity.WARNING, Severity.INFO, Severity.HINT
_CHAT: tuple[DialectName, ...] = ("prapti",)


def _read(code: str, name: str, severity: Severity = _E, strict: Severity | None = None) -> Rule:
    """A rule that the reader of chats reports."""
    return Rule(code, name, severity, strict or severity, _CHAT)


def _rule(code: str, name: str, severity: Severity = _E, strict: Severity | None = None) -> Rule:
    """A rule with a file of its own."""
    return Rule(code, name, severity, strict or severity, _CHAT, module_of("prapti", name))


RULES: tuple[Rule, ...] = (
    _read("PR001", "message-heading-colon", _W, _E),
    _read("PR002", "message-heading-text", _H),
    _rule("PR003", "unknown-role", _W, _E),
    _read("PR010", "empty-configuration-line"),
    _read("PR011", "unreadable-configuration-line"),
    _read("PR012", "configuration-literal"),
    _rule("PR013", "user-variable", _H),
    _rule("PR014", "unresolved-variable"),
    _rule("PR015", "refused-configuration", _W, _E),
    _rule("PR016", "configuration-by-assistant", _W, _E),
    _rule("PR017", "configuration-in-code", _H),
    _rule("PR018", "unknown-action", _W, _W),
    _rule("PR019", "unknown-include"),
)
