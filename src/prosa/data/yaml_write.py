"""Plain data to YAML text for a *new* document; existing text changes only through edits. In: mappings, lists and
scalars as `to_value` gives them. Out: block style, readable again by `read_yaml` as exactly the same data.

Keys keep their order. A text stands plain where no YAML reader could take it for something else, else in double quotes.
Short lists of scalars stand on one line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from prosa.data.limits import MAX_DEPTH
from prosa.data.tree import Plain
from prosa.regex import regex

MAX_FLOW = 80
"""Characters of a list on one line."""

_INDENT = "  "
_PLAIN = regex(r"[A-Za-z_/](?:[A-Za-z0-9_./@+()*-]|[ :](?=[A-Za-z0-9_/+(*-]))*+", re.ASCII)
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""Words that some reader of YAML takes for something other than text."""

_UNSEEN = regex("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON leaves as they are and YAML does not."""


def write_yaml(value: Mapping[str, Plain]) -> str:
    """Return the lines of a mapping, each with its line end; an empty text for an empty one.

    Raises ValueError for data nested deeper than `MAX_DEPTH`, TypeError for anything but plain data.
    """
    return "".join(f"{line}\n" for line in _mapping(value, 0))


def yaml_text(value: Plain) -> str:
    """Return a scalar as it stands on one line, a text in double quotes where it could be taken for something else."""
    return _inline(value)


def _mapping(value: Mapping[str, Plain], depth: int) -> Iterator[str]:
    _check(depth)
    for key, item in value.items():
        head = _text(key)
        if _is_block(item):
            yield f"{head}:"
            yield from (_INDENT + line for line in _block(item, depth + 1))
        else:
            yield f"{head}: {_inline(item)}"


def _sequence(value: Sequence[Plain], depth: int) -> Iterator[str]:
    _check(depth)
    for item in value:
        lines = iter(_block(item, depth + 1) if _is_block(item) else (_inline(item),))
        yield f"- {next(lines)}"
        yield from (_INDENT + line for line in lines)


def _block(value: Mapping[str, Plain] | Sequence[Plain], depth: int) -> Iterator[str]:
    return _mapping(value, depth) if isinstance(value, Mapping) else _sequence(value, depth)


def _check(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"the data is nested deeper than {MAX_DEPTH} levels")


def _is_block(value: Plain) -> TypeGuard[Mapping[str, Plain] | Sequence[Plain]]:
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list | tuple) and _flow(value) is None


def _flow(items: Sequence[Plain]) -> str | None:
    """Return a list on one line, or None where it needs lines of its own."""
    if any(isinstance(item, Mapping | list | tuple) for item in items):
        return None
    line = f"[{', '.join(_inline(item) for item in items)}]"
    return line if len(line) <= MAX_FLOW else None


def _inline(value: Plain) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return _flow(value) or "[]"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return json.dumps(value)


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
