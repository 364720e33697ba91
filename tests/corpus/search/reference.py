"""What a search must answer, said as simply as Python can: no index, no SQL. Only for small corpora."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from prosa.corpus.query import Query, Term
from prosa.corpus.where.parse import Compare, Constant, Expression, Has, Join, Not, is_year, version_key
from prosa.corpus.words import is_cjk, words

Section = Mapping[str, str]
"""The columns in which words are found: title, heading, tags, text."""


def answers(section: Section, query: Query) -> bool:
    """Whether a section answers a query."""
    clauses = all(any(_holds(section, term) for term in clause) for clause in query.clauses)
    return clauses and not any(_holds(section, term) for term in query.excluded)


def _holds(section: Section, term: Term) -> bool:
    texts = [section[term.field]] if term.field else list(section.values())
    if is_cjk(term.text):
        whole = any(is_cjk(text) for text in section.values())
        return whole and any(term.text.lower() in text.lower() for text in texts)
    wanted = [word.text for word in words(term.text)]
    return any(_follows([word.text for word in words(text)], wanted, term.prefix) for text in texts)


def _follows(have: list[str], wanted: list[str], prefix: bool) -> bool:
    for start in range(len(have) - len(wanted) + 1):
        here = have[start : start + len(wanted)]
        if here == wanted:
            return True
        if prefix and here[:-1] == wanted[:-1] and here[-1].startswith(wanted[-1]):
            return True
    return False


def passes(front: Mapping[str, Any], expression: Expression) -> bool:
    """Whether a front matter meets a condition."""
    if isinstance(expression, Join):
        some = [passes(front, operand) for operand in expression.operands]
        return all(some) if expression.word == "and" else any(some)
    if isinstance(expression, Not):
        return not passes(front, expression.operand)
    leaves = list(_leaves(front, ""))
    name = expression.field.name
    if isinstance(expression, Has):
        return any((key == name or key.startswith(f"{name}.")) and value is not None for key, value in leaves)
    values = [value for key, value in leaves if key == name]
    return any(_compares(value, expression, wanted) for value in values for wanted in expression.values)


def _leaves(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Every scalar with its dotted name; what is empty holds none."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, key)
    else:
        yield key, value


def _compares(value: Any, compare: Compare, wanted: Constant) -> bool:
    if value is None:
        return compare.operator == "=" and wanted.kind == "null"
    written = value if isinstance(value, str) else json.dumps(value)
    if compare.operator == "~":
        return wanted.text.casefold() in written.casefold()
    if compare.operator == "=":
        return _equal(value, written, wanted)
    ordered = _ordered(value, written, wanted)
    if ordered is None:
        return False
    left, right = ordered
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[compare.operator]


def _equal(value: Any, written: str, wanted: Constant) -> bool:
    if wanted.kind == "null":
        return False
    if wanted.kind == "boolean":
        return written in (wanted.text, wanted.text.lower())
    if written == wanted.text:
        return True
    if wanted.kind == "number" and _is_number(value):
        return float(value) == wanted.number
    ordered = None if wanted.kind in ("text", "number") and not is_year(wanted) else _ordered(value, written, wanted)
    return ordered is not None and ordered[0] == ordered[1]


def _ordered(value: Any, written: str, wanted: Constant) -> tuple[Any, Any] | None:
    """Two things whose order is asked for, None where they have none."""
    if wanted.kind == "number" and _is_number(value):
        return float(value), wanted.number
    if (wanted.kind == "date" or is_year(wanted)) and re.match(r"[0-9]{4}-[0-9]{2}", written):
        return written[: len(wanted.text)], wanted.text
    if wanted.kind == "version" and version_key(written) is not None:
        return version_key(written), version_key(wanted.text)
    if wanted.kind in ("text", "boolean", "null") and isinstance(value, str):
        return written, wanted.text
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
