"""The rows of MDH nodes, `MH`: `MH00` forms, `MH01`–`MH04` actions, `MH05`–`MH06` the site."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.dialects.dialect import DialectName
from prosa.rules.rule import Rule, module_of

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
_NODE: tuple[DialectName, ...] = ("mdh",)


def _read(code: str, name: str, severity: Severity = _E, strict: Severity | None = None) -> Rule:
    """A rule that the reader of nodes reports."""
    return Rule(code, name, severity, strict or severity, _NODE)


def _rule(code: str, name: str, severity: Severity = _E, strict: Severity | None = None) -> Rule:
    """A rule with a file of its own."""
    return Rule(code, name, severity, strict or severity, _NODE, module_of("mdh", name))


def _site(code: str, name: str, severity: Severity = _E) -> Rule:
    """A rule of all nodes of a site together."""
    return Rule(code, name, severity, severity, _NODE, module_of("mdh", name), scope="corpus")


RULES: tuple[Rule, ...] = (
    _read("MH001", "node-without-front-matter"),
    _read("MH002", "identifier-form", _W, _E),
    _read("MH003", "bare-url-target", _W, _E),
    _read("MH004", "single-action", _W, _E),
    _read("MH005", "method-case", _W, _E),
    _read("MH006", "relative-action-url", _W, _E),
    _rule("MH010", "cross-origin-action"),
    _rule("MH011", "parameter-declared-twice", _W),
    _rule("MH012", "body-of-get", _W),
    _rule("MH013", "state-changing-get", _W),
    _rule("MH020", "action-without-auth", _W),
    _rule("MH021", "undocumented-csrf", _W),
    _rule("MH022", "oauth2-without-token-url", _W),
    _read("MH030", "bad-jsonpath"),
    _rule("MH031", "unknown-pagination", _W),
    _rule("MH032", "pagination-without-next", _W),
    _rule("MH033", "undeclared-pagination-parameter", _W),
    _rule("MH040", "example-mismatch", _W),
    _site("MH050", "url-collision"),
    _site("MH051", "unresolved-inline-link"),
    _site("MH052", "inline-link-to-no-node", _I),
    _site("MH053", "unresolved-link-target", _W),
    _site("MH054", "conflicting-action"),
    _site("MH055", "drifting-action", _W),
    _site("MH056", "site-index-mismatch", _W),
    _site("MH057", "site-without-root", _I),
    _site("MH058", "reserved-url", _W),
    _site("MH060", "wikilink-in-node", _W),
)
