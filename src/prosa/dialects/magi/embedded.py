"""One JSON object inside a document: the content of an ai-script fence or of a relationship footnote.

In: the pieces it is written in. Out: the object with places in the source, and what is wrong with it. Strict first;
only a text that is not JSON is read again as people write it (MA1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from prosa.data import Mapping, Reading, read_json
from prosa.diagnostics import Problem
from prosa.dialects.fields import type_name
from prosa.dialects.magi.lenient import Lenient, tolerate
from prosa.dialects.magi.pieces import Pieces

_SYNTAX = frozenset({"json-syntax", "json-number", "nested-too-deep"})
"""What keeps a text from being the object that its author meant."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """``node`` is None when there is no object. ``lenient`` says what was passed over, counted in the pieces' text."""

    node: Mapping | None
    problems: tuple[Problem, ...]
    lenient: Lenient | None = None


def read_embedded(pieces: Pieces, rule: str, what: str, *, tolerant: bool) -> Embedded:
    """The object. Syntax errors are reported as ``rule``; ``what`` names the place in messages."""
    reading = _placed(pieces, pieces.text)
    lenient: Lenient | None = None
    if tolerant and _broken(reading):
        passed = tolerate(pieces.text)
        if passed.comments or passed.commas:
            lenient, reading = passed, _placed(pieces, passed.text)
    problems = [about(problem, rule, what) for problem in reading.problems]
    node = reading.node
    if node is not None and not isinstance(node, Mapping) and not problems:
        problems.append(Problem(rule, f"{what} must be one JSON object, not {type_name(node)}", node.span))
    found = node if isinstance(node, Mapping) and not _broken(reading) else None
    return Embedded(found, tuple(problems), lenient)


def _placed(pieces: Pieces, text: str) -> Reading:
    """The reading of ``text``, as long as that of the pieces, with its places in the source."""
    if len(pieces.spans) == 1:
        return read_json(text, offset=pieces.spans[0].start)
    reading = read_json(text)
    node = pieces.node(reading.node) if reading.node is not None else None
    return Reading(node, tuple(pieces.problem(problem) for problem in reading.problems))


def _broken(reading: Reading) -> bool:
    return any(problem.rule in _SYNTAX for problem in reading.problems)


def about(problem: Problem, rule: str, what: str) -> Problem:
    """A problem of the JSON reader in words about ``what``, under the rule of that place."""
    if problem.rule not in ("json-syntax", "json-number"):
        return problem
    return replace(problem, rule=rule, message=f"{what} is not JSON: {problem.message}")
