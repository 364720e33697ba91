"""TOML with places: the tree of a settings file, and the span of each key.

In: the text of a file. Out: its table, the span of each key that stands on a line of its own, a problem for invalid
TOML. It knows no settings. The standard reader reports no places, so a second pass over the lines finds the keys; a
key inside an inline table takes the span of the key in front of it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TypeAlias

from prosa.data import Value
from prosa.diagnostics import Problem, Severity
from prosa.regex import regex
from prosa.source import LineIndex, Span

Path: TypeAlias = tuple[str, ...]

# A settings file is written by hand; a larger one is some other file.
MAX_SETTINGS_CHARACTERS = 64 * 1024

# Settings have three parts at most. The standard reader takes quadratic time over long dotted keys.
MAX_PARTS = 16

_PART = r"""(?:"[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_LINE = regex(rf"[ \t\ufeff]*(?:\[\[?[ \t]*(?P<header>{_DOTTED})[ \t]*\]|(?P<key>{_DOTTED})[ \t]*=)")
_PLACE = regex(r"\(at line (\d{1,9}), column (\d{1,9})\)$")


def load(text: str, inside: Path = ()) -> tuple[Mapping[str, Value], list[Problem]]:
    """Return the table at ``inside`` (empty where there is none), and a problem when the text is no TOML."""
    if len(text) > MAX_SETTINGS_CHARACTERS:
        return {}, [_problem(f"the settings are longer than {MAX_SETTINGS_CHARACTERS:,} characters", Span(0, 0))]
    deep = next((key for key, _ in _lines(text) if len(key) > MAX_PARTS), None)
    if deep:
        return {}, [_problem(f"a key has more than {MAX_PARTS} parts", Span(0, 0))]
    try:
        # A byte-order mark becomes a space, so that every offset stays what it is.
        marked = " " + text[1:] if text.startswith("\ufeff") else text
        tree: Value = tomllib.loads(marked, parse_float=Decimal)
    except RecursionError:
        return {}, [_problem("the settings are nested too deeply", Span(0, 0))]
    except ValueError as error:
        return {}, [_not_toml(text, str(error))]
    for part in inside:
        tree = tree.get(part, {}) if isinstance(tree, dict) else {}
    return tree if isinstance(tree, dict) else {}, []


def key_spans(text: str) -> dict[Path, Span]:
    """Return the span of every header and key that stands at the beginning of a line, by its whole path with `-` for
    `_`."""
    spans: dict[Path, Span] = {}
    table: Path = ()
    for parts, (span, is_header) in _lines(text):
        path = parts if is_header else (*table, *parts)
        table = path if is_header else table
        spans.setdefault(path, span)
    return spans


def span_of(spans: Mapping[Path, Span], path: Path) -> Span:
    """Return the span of a key, else of the nearest one around it, else the start of the file."""
    plain = tuple(part.replace("_", "-") for part in path)
    return next((spans[plain[:end]] for end in range(len(plain), 0, -1) if plain[:end] in spans), Span(0, 0))


def _lines(text: str) -> Iterator[tuple[Path, tuple[Span, bool]]]:
    """Yield, for each line that starts with a header or a key, its parts, its span, and whether it is a header."""
    offset = 0
    for line in text.split("\n"):
        found = _LINE.match(line)
        if found:
            name = "header" if found["header"] else "key"
            start, end = found.span(name)
            parts = (part.strip("\"'").replace("_", "-") for part in re.findall(_PART, found[name]))
            yield tuple(parts), (Span(offset + start, offset + end), name == "header")
        offset += len(line) + 1


def _not_toml(text: str, message: str) -> Problem:
    """Return the complaint of the reader, at its place."""
    place = _PLACE.search(message)
    index = LineIndex(text)
    at_end = place is None or int(place[1]) > index.count
    offset = len(text) if at_end or place is None else index.offset(int(place[1]), int(place[2]))
    reason = _PLACE.sub("", message).strip().removesuffix("(at end of document)").strip()
    return _problem(f"the settings are not valid TOML: {reason}", Span(offset, offset))


def _problem(message: str, span: Span) -> Problem:
    return Problem("bad-settings-file", message, span, severity=Severity.ERROR)
