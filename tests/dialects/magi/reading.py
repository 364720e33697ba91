"""Short ways to a MAGI model and to what a check finds in a text."""

from __future__ import annotations

from datetime import UTC, datetime

from prosa.diagnostics import Problem
from prosa.dialects.dialect import FormatOptions, Hints
from prosa.dialects.front import read_front
from prosa.dialects.magi import MagiModel, format_edits, read
from prosa.document import parse
from prosa.rules.analyse import analyse
from prosa.rules.policy import Policy, diagnosed
from prosa.source import SourceText, apply_edits

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def reading(text: str) -> tuple[MagiModel, tuple[Problem, ...]]:
    front = read_front(SourceText(text, "a.mda"))
    return read(front, parse(front.source, body=front.body))


def model(text: str) -> MagiModel:
    return reading(text)[0]


def found(text: str, *, strict: bool = False) -> list[tuple[str, str, str]]:
    """Rule, severity and marked text of everything that a check of this one document finds."""
    source = SourceText(text, "a.mda")
    problems = analyse(source, Hints(explicit="magi"), None, NOW).problems
    ranked = diagnosed(problems, source, Policy(strict=strict))
    return [(each.rule, str(each.severity), source.slice(each.span)) for each in ranked]


def names(text: str, *, strict: bool = False) -> list[str]:
    return [rule for rule, _, _ in found(text, strict=strict)]


def formatted(text: str) -> str:
    return apply_edits(text, format_edits(model(text), FormatOptions()))


def script(*lines: str, name: str = "sum") -> str:
    fields = ",\n".join(f"  {line}" for line in (f'"script-id": "{name}"', '"prompt": "Summarise."', *lines))
    return f"```ai-script\n{{\n{fields}\n}}\n```\n"


def front(*lines: str) -> str:
    return "".join(f"{line}\n" for line in ("---", *lines, "---", ""))


def footnote(data: str, label: str = "a") -> str:
    return f"See it[^{label}].\n\n[^{label}]: {data}\n"


PARENT = '{"rel-type": "parent", "source-url": "https://example.org/", "rel-desc": "The guide"}'
