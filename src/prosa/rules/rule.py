"""A rule: a row of the table. Its name reads after "allow" and says what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from prosa.diagnostics import Severity
from prosa.dialects.dialect import DialectName

Stops: TypeAlias = Literal["everything", "run", "nothing"]

Scope: TypeAlias = Literal["document", "corpus", "both"]


@dataclass(frozen=True, slots=True)
class Rule:
    """``code`` and ``name`` never change once released (X4).

    ``severity`` is what it is without a flag, ``strict`` what it is under ``--strict``. ``dialects`` is empty for rules
    of every document. ``module`` holds its ``check``, its ``check_corpus``, or both, as ``scope`` says, or is None
    when a reader reports it. ``stops`` says what a finding of this rule keeps from happening, however it is weighed:
    rendering and running, running alone, or nothing.
    """

    code: str
    name: str
    severity: Severity
    strict: Severity
    dialects: tuple[DialectName, ...] = ()
    module: str | None = None
    stops: Stops = "nothing"
    scope: Scope = "document"


def module_of(folder: str, name: str) -> str:
    """Where the rule ``name`` of ``rules/<folder>/`` lives."""
    return f"prosa.rules.{folder}.{name.replace('-', '_')}"
