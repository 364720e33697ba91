"""The configuration lines of a chat and their content (P9, P12–P14, PA1, PA7, PA8, PA13, PA14).

In: the document of a chat. Out: `ConfigLine`s, assignments and actions, in order, or the problem that keeps a line
from being one. Code and HTML comments are opaque: the Markdown parse finds them, and a pattern is only applied to
other lines. Nothing runs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import JsonError, Value, parse_json
from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.prapti.model import ConfigLine
from prosa.document import Document
from prosa.document.model import Cover
from prosa.regex import regex
from prosa.source import Edit, Span

_LINE = regex(r"(?P<indent>[ \t]*)(?P<quote>(?:>[ \t]{0,4})*)(?P<off>//)?(?P<sign>%%?)(?P<command>[^\r\n]*)")
MAX_INDENT = 3
"""Spaces in front of a configuration line (PA7); more is code, or the continuation of a list."""

_LINE_BREAK = regex(r"\r\n|\n|\r")
_BLANKS = " \t"


class RawLine(Struct, frozen=True):
    """A configuration line before its command is read. ``command`` is the span of what follows the percent signs, but
    for comments at its end."""

    span: Span
    command: Span
    disabled: bool
    quoted: bool


class Lines(Struct, frozen=True):
    """The configuration lines of a document; ``opaque`` are those inside code, which are text. A disabled line in code
    does not count."""

    config: tuple[RawLine, ...]
    opaque: tuple[Span, ...]


def find_lines(document: Document, stops: tuple[int, ...], *, legacy: bool = False) -> Lines:
    """Return all configuration lines of a body, with ``legacy`` those in code too (PA1). ``stops`` are the offsets at
    which message headings begin."""
    text = document.source.text
    comments = {span.end: span.start for span in document.comments}
    code = _Code(document)
    config: list[RawLine] = []
    opaque: list[Span] = []
    skip_to = 0
    for start, end in _line_spans(text, document.body):
        match = _LINE.match(text, start, end)
        if match is None or start < skip_to:
            continue
        at = match.start("sign")
        if document.in_comment(at):
            continue
        if not legacy and code.covers(at, since=skip_to):
            if not match["off"]:
                opaque.append(Span(start, end))
            continue
        if len(match["indent"].expandtabs(4)) > MAX_INDENT and not legacy:
            continue
        at_stop = bisect_right(stops, start)
        limit = stops[at_stop] if at_stop < len(stops) else document.body.end
        line = _raw(match, Span(start, end), text, limit)
        config.append(replace(line, command=_without_comments(line.command, text, comments)))
        skip_to = line.span.end
    return Lines(tuple(config), tuple(opaque))


class _Code:
    """Where code is. Ticks in a configuration line are its own: they open no code that covers the next one."""

    def __init__(self, document: Document) -> None:
        self._blocks = Cover((*(fence.span for fence in document.fences), *document.indented_code))
        self._spans = sorted(span.span for span in document.code_spans)

    def covers(self, offset: int, *, since: int) -> bool:
        """Return whether an offset lies in a block of code, or in a code span that starts at ``since`` or later."""
        at = bisect_right(self._spans, offset, key=_start) - 1
        in_span = at >= 0 and since <= self._spans[at].start and offset < self._spans[at].end
        return in_span or offset in self._blocks


def _start(span: Span) -> int:
    return span.start


def _line_spans(text: str, body: Span) -> Iterator[tuple[int, int]]:
    """Start and end, without its line end, of every line of the body that holds a percent sign."""
    start = body.start
    while (sign := text.find("%", start, body.end)) >= 0:
        start = max(start, text.rfind("\n", start, sign) + 1, text.rfind("\r", start, sign) + 1)
        match = _LINE_BREAK.search(text, sign, body.end)
        yield start, match.start() if match else body.end
        start = match.end() if match else body.end


def _raw(match: re.Match[str], line: Span, text: str, limit: int) -> RawLine:
    quoted = bool(match["quote"])
    end = _block_end(text, line.end, limit, quoted=quoted) if match["sign"] == "%%" else line.end
    return RawLine(Span(line.start, end), Span(match.start("command"), end), bool(match["off"]), quoted)


def _without_comments(command: Span, text: str, comments: Mapping[int, int]) -> Span:
    """Return a command without the comments at its end: they are sent nowhere (PA13). ``comments`` are starts by
    end."""
    end = command.end
    while (begin := comments.get(end, -1)) >= command.start:
        end = command.start + len(text[command.start : begin].rstrip(_BLANKS))
    return Span(command.start, end)


def _block_end(text: str, at: int, limit: int, *, quoted: bool) -> int:
    """Return the end of the last line before the next blank line or message heading (PA14). In a block quotation a line
    with nothing but its marks is blank."""
    blanks = _BLANKS + ">" if quoted else _BLANKS
    while at < limit:
        broken = _LINE_BREAK.match(text, at)
        if broken is None:
            return limit
        ended = _LINE_BREAK.search(text, broken.end(), limit)
        end = ended.start() if ended else limit
        if broken.end() >= limit or not text[broken.end() : end].strip(blanks):
            return at
        at = end
    return at


_NAME = regex(r"\s*+(?P<bang>!?)\s*+(?P<name>[\w./\\-]++)")
_ASSIGNS = regex(_NAME.pattern + r"\s*+=(?!=)\s*+")
_VARIABLE = regex(r"var\(\s*(?P<name>[\w./\\-]+)\s*\)\Z")
_MARKS = regex(r"(?<=[\r\n])[ \t]{0,3}(?:>[ \t]?)+")
"""The marks of block quotations in front of the further lines of a `%%` command."""

_SHOWN = 40


def read_command(raw: RawLine, text: str) -> tuple[ConfigLine | None, Problem | None]:
    """Return the parsed line, and its problems. A disabled line has none (P12)."""
    line, problem = _read(raw, text)
    return line, None if raw.disabled else problem


def _read(raw: RawLine, text: str) -> tuple[ConfigLine | None, Problem | None]:
    command = _MARKS.sub(_blank, raw.command.of(text)) if raw.quoted else raw.command.of(text)
    if not command.strip():
        return None, Problem("empty-configuration-line", "a configuration line without a command", raw.span, (_WHAT,))
    match = _NAME.match(command)
    if match is None:
        return None, _unreadable(raw, command)
    if assigns := _ASSIGNS.match(command):
        return _assignment(raw, command, assigns, text)
    rest = command[match.end() :]
    if rest and not rest[0].isspace():
        return None, _unreadable(raw, command)
    if rest.lstrip().startswith("=="):
        return None, _unreadable(raw, command)
    return _action(raw, command, match, text), None


def _blank(match: re.Match[str]) -> str:
    """As many spaces, so that every offset stays true."""
    return " " * len(match.group())


def _written(raw: RawLine, span: Span, text: str) -> str:
    """Return a part of a command as its author means it: without the marks of block quotations."""
    return (_MARKS.sub("", span.of(text)) if raw.quoted else span.of(text)).strip()


_WHAT = "write `% NAME = VALUE` to set a value, or `% COMMAND ARGUMENTS`"


def _unreadable(raw: RawLine, command: str) -> Problem:
    shown = " ".join(command.split())[:_SHOWN]
    message = f"the configuration line `{shown}` is neither an assignment nor a command"
    return Problem("unreadable-configuration-line", message, raw.span, (_WHAT,))


def _action(raw: RawLine, command: str, match: re.Match[str], text: str) -> ConfigLine:
    start = raw.command.start
    at = start + len(command) - len(command[match.end() :].lstrip())
    span = Span(at, max(at, start + len(command.rstrip())))
    return ConfigLine(
        kind="action",
        raw=_written(raw, raw.command, text),
        span=raw.span,
        name_span=Span(start + match.start("name"), start + match.end("name")),
        value_span=span,
        name=match["name"],
        args=_written(raw, span, text),
        disabled=raw.disabled,
        last_only=bool(match["bang"]),
        quoted=raw.quoted,
    )


def _assignment(
    raw: RawLine, command: str, match: re.Match[str], text: str
) -> tuple[ConfigLine | None, Problem | None]:
    at = match.end()
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
        name_span=Span(raw.command.start + match.start("name"), raw.command.start + match.end("name")),
        value_span=span,
        key=match["name"],
        value=value,
        variable=variable["name"] if variable else None,
        disabled=raw.disabled,
        last_only=bool(match["bang"]),
        quoted=raw.quoted,
    )
    return line, None


def _literal(right: str, span: Span) -> tuple[Value, Problem | None]:
    """Return the JSON value of a right side, or its problem and the likely correction (PA8)."""
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
    """Return the JSON of a bare word, a word in single quotes, or a capital True, False or None."""
    simple = {"True": "true", "False": "false", "None": "null"}
    if right in simple:
        return simple[right]
    quoted = re.fullmatch(r"'([^'\"\\\r\n]*)'", right) or re.fullmatch(r"([\w./:@+-]+)", right)
    return f'"{quoted[1]}"' if quoted else None
