"""What a configuration line says: an assignment or an action (P14, PA8, PA14).

In: the text behind the percent signs. Out: a `ConfigLine`, or the problem that keeps it from being one. Nothing runs.
"""

from __future__ import annotations

import re

from prosa.data import JsonError, Value, parse_json
from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.prapti.lines import RawLine
from prosa.dialects.prapti.model import ConfigLine
from prosa.source import Edit, Span

_NAME = re.compile(r"\s*(?P<bang>!?)\s*(?P<name>[\w./\\-]+)")
_ASSIGNS = re.compile(_NAME.pattern + r"\s*=(?!=)\s*")
_VARIABLE = re.compile(r"var\(\s*(?P<name>[\w./\\-]+)\s*\)\Z")
_MARKS = re.compile(r"(?<=[\r\n])[ \t]{0,3}(?:>[ \t]?)+")
"""The marks of block quotations in front of the further lines of a `%%` command."""

_SHOWN = 40


def read_command(raw: RawLine, text: str) -> tuple[ConfigLine | None, Problem | None]:
    """The line that was meant, and what is wrong with it. A disabled line is never complained about (P12)."""
    line, problem = _read(raw, text)
    return line, None if raw.disabled else problem


def _read(raw: RawLine, text: str) -> tuple[ConfigLine | None, Problem | None]:
    command = _MARKS.sub(_blank, raw.command.of(text)) if raw.quoted else raw.command.of(text)
    if not command.strip():
        return None, Problem("empty-configuration-line", "a configuration line without a command", raw.span, (_WHAT,))
    found = _NAME.match(command)
    if found is None:
        return None, _unreadable(raw, command)
    if assigns := _ASSIGNS.match(command):
        return _assignment(raw, command, assigns, text)
    rest = command[found.end() :]
    if rest and not rest[0].isspace():
        return None, _unreadable(raw, command)
    if rest.lstrip().startswith("=="):
        return None, _unreadable(raw, command)
    return _action(raw, command, found, text), None


def _blank(found: re.Match[str]) -> str:
    """As many spaces, so that every offset stays true."""
    return " " * len(found.group())


def _written(raw: RawLine, span: Span, text: str) -> str:
    """A part of a command as its author means it: without the marks of block quotations."""
    return (_MARKS.sub("", span.of(text)) if raw.quoted else span.of(text)).strip()


_WHAT = "write `% NAME = VALUE` to set a value, or `% COMMAND ARGUMENTS`"


def _unreadable(raw: RawLine, command: str) -> Problem:
    shown = " ".join(command.split())[:_SHOWN]
    message = f"the configuration line `{shown}` is neither an assignment nor a command"
    return Problem("unreadable-configuration-line", message, raw.span, (_WHAT,))


def _action(raw: RawLine, command: str, found: re.Match[str], text: str) -> ConfigLine:
    start = raw.command.start
    at = start + len(command) - len(command[found.end() :].lstrip())
    span = Span(at, max(at, start + len(command.rstrip())))
    return ConfigLine(
        kind="action",
        raw=_written(raw, raw.command, text),
        span=raw.span,
        name_span=Span(start + found.start("name"), start + found.end("name")),
        value_span=span,
        name=found["name"],
        args=_written(raw, span, text),
        disabled=raw.disabled,
        last_only=bool(found["bang"]),
        quoted=raw.quoted,
    )


def _assignment(
    raw: RawLine, command: str, found: re.Match[str], text: str
) -> tuple[ConfigLine | None, Problem | None]:
    at = found.end()
    right = command[at:].rstrip()
    span = Span(raw.command.start + at, raw.command.start + at + len(right))
    variable = _VARIABLE.match(right)
    value, problem = (None, None) if variable else _literal(right, span)
    if problem is not None:
        return None, problem
    line = ConfigLine(
        kind="assign",
        raw=_written(raw, raw.command, text),
        span=raw.span,
        name_span=Span(raw.command.start + found.start("name"), raw.command.start + found.end("name")),
        value_span=span,
        key=found["name"],
        value=value,
        variable=variable["name"] if variable else None,
        disabled=raw.disabled,
        last_only=bool(found["bang"]),
        quoted=raw.quoted,
    )
    return line, None


def _literal(right: str, span: Span) -> tuple[Value, Problem | None]:
    """The JSON value of a right side, or what is wrong with it and how it was most likely meant (PA8)."""
    try:
        return parse_json(right), None
    except JsonError as error:
        meant = _meant(right)
        notes = ["a value is JSON: a number, true, false, null, text in double quotes, [a list], {an object}"]
        fix = None
        if meant is not None:
            notes.append(f"write {meant}")
            fix = Fix(f"write {meant}", (Edit(span, meant),), Applicability.UNSAFE)
        shown = right[:_SHOWN] or "nothing"
        message = f"the value `{shown}` is not JSON: {error.message}" if right else "the value is missing"
        return None, Problem("configuration-literal", message, span, tuple(notes), fix=fix)


def _meant(right: str) -> str | None:
    """The JSON of a bare word, a word in single quotes, or a capital True, False or None."""
    simple = {"True": "true", "False": "false", "None": "null"}
    if right in simple:
        return simple[right]
    quoted = re.fullmatch(r"'([^'\"\\\r\n]*)'", right) or re.fullmatch(r"([\w./:@+-]+)", right)
    return f'"{quoted[1]}"' if quoted else None
