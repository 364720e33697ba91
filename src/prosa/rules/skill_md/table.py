"""The rows of Agent Skills, `SK`."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.dialects.dialect import DialectName
from prosa.rules.rule import Rule, module_of

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
_SKILL: tuple[DialectName, ...] = ("skill_md",)


def _rule(code: str, name: str, severity: Severity, strict: Severity) -> Rule:
    """A rule with a file of its own."""
    return Rule(code, name, severity, strict, _SKILL, module_of("skill_md", name))


RULES: tuple[Rule, ...] = (
    Rule("SK001", "skill-without-front-matter", _W, _E, _SKILL),
    _rule("SK002", "skill-name-form", _W, _E),
    _rule("SK003", "skill-name-unlike-folder", _W, _E),
    _rule("SK004", "skill-without-instructions", _W, _W),
    _rule("SK005", "long-skill", _I, _I),
    _rule("SK006", "tools-without-spaces", _I, _W),
)
