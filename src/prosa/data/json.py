"""JSON (RFC 8259): `parse_json` reads plain data quickly and strictly, `read_json` a tree with a span for every key and
value. What the quick reader refuses, the exact one reads again, so that both always agree."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from msgspec import Struct, field

from prosa.data.json_plain import read_plain_json
from prosa.data.limits import MAX_DEPTH, MAX_INTEGER_DIGITS
from prosa.data.reading import Findings, Reading, shown
from prosa.data.surrogates import SURROGATE_ESCAPE, has_surrogate, lone_escape, without_surrogates
from prosa.data.tree import Entry, Mapping, Node, Scalar, Sequence, Value, to_value
from prosa.diagnostics import Annotation
from prosa.regex import regex
from prosa.source import LineIndex, Span

_BRACKET = regex(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)


class JsonError(ValueError):
    """A text that is not JSON as we accept it: ``message``, 0-based ``offset``, 1-based ``line`` and ``column``."""

    def __init__(self, message: str, offset: int, text: str) -> None:
        self.message = message
        self.offset = offset
        self.line, self.column = LineIndex(text).position(offset)
        super().__init__(f"line {self.line}, column {self.column}: {message}")


class _Untidy(ValueError):
    """Something for the slow and exact reader to examine."""


def parse_json(text: str) -> Value:
    """Return the value of a JSON text; objects become dicts in their order, integers stay integers.

    Raises `JsonError` for anything `read_json` has a problem with: bad syntax, duplicate keys, NaN and infinite
    numbers, integers of more than 4,300 digits, lone surrogates, more than 64 levels of nesting.
    """
    surrogates = has_surrogate(text) or ("\\u" in text and SURROGATE_ESCAPE.search(text))
    if not surrogates and not nested_deeper(text, MAX_DEPTH):
        try:
            return _DECODE(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            pass  # the exact reader finds the place and the words
    reading = read_json(text)
    if reading.problems:
        problem = reading.problems[0]
        raise JsonError(problem.message, problem.span.start, text)
    assert reading.node is not None
    return to_value(reading.node)


def nested_deeper(text: str, limit: int) -> bool:
    """Return whether arrays and objects of a JSON text, valid or not, are nested in more than ``limit`` levels."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for match in _BRACKET.finditer(text):
        if match[1]:
            depth += 1
            if depth > limit:
                return True
        elif match[2]:
            depth -= 1
    return False


def _object(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Untidy
    return value


def _integer(text: str) -> int:
    if len(text) > MAX_INTEGER_DIGITS:
        raise _Untidy
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Untidy
    return value


def _constant(_: str) -> NoReturn:
    raise _Untidy


_DECODE: Callable[[str], Value] = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant
).decode


_SPACE = regex(r"[ \t\n\r]*")
_STRING = regex(r'"((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"')
_STRING_PART = regex(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = regex(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORD = regex(r"[-+\w.]+")
_NAMES = {"null": None, "true": True, "false": False}
_NOT_JSON_NUMBERS = {"NaN", "Infinity", "-Infinity"}
_ADVICE = {
    "None": "JSON writes null.",
    "undefined": "JSON writes null.",
    "True": "JSON writes true.",
    "False": "JSON writes false.",
    "'": "JSON strings are in double quotes.",
    "/": "JSON has no comments.",
    "#": "JSON has no comments.",
}


# The exact reader: an iterative scanner. A byte-order mark in front is ignored, as section 8.1 allows.


class _Stop(Exception):
    """Nothing after this point is read; the problem is already recorded."""


class _Frame(Struct):
    """An object or array that is still open."""

    mapping: bool
    start: int
    children: list[Any] = field(default_factory=list)
    keys: dict[str, Span] = field(default_factory=dict)
    key: Scalar | None = None
    kept: bool = True


def read_json(text: str, *, offset: int = 0) -> Reading:
    """Return the data of a JSON text, every span moved right by ``offset``.

    Problems: ``json-syntax`` (found and expected; nothing after it is read), ``duplicate-key``, ``json-number`` (NaN,
    infinities, numbers too large), ``lone-surrogate``, ``nested-too-deep``. A text with a syntax error keeps what
    stood before it.
    """
    if (node := read_plain_json(text, offset)) is not None:
        return Reading(node)
    return read_exactly(text, offset)


def read_exactly(text: str, offset: int) -> Reading:
    """Return the same, whatever the text holds."""
    scanner = _Scanner(text, Findings(offset))
    try:
        scanner.run()
    except _Stop:
        scanner.close()
    return Reading(scanner.root, tuple(scanner.findings.problems))


class _Scanner:
    """The state of one reading; ``at`` is the next character, ``frames`` the collections around it."""

    def __init__(self, text: str, findings: Findings) -> None:
        self.text = text
        self.findings = findings
        self.at = 1 if text.startswith("\ufeff") else 0
        self.frames: list[_Frame] = []
        self.root: Node | None = None

    def run(self) -> None:
        """value { ("," | "]" | "}") … } end"""
        self.value("a JSON value")
        while self.frames:
            self.after_value(self.frames[-1])
        if self.peek():
            self.fail("the end of the text", notes=("One JSON text holds one value.",))

    def peek(self) -> str:
        """Return the next character that is not white space, or an empty string."""
        character = self.text[self.at : self.at + 1]
        if character > " ":  # what most often stands there
            return character
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.text[self.at : self.at + 1]

    def value(self, expected: str) -> None:
        """value = object | array | string | number | "true" | "false" | "null" """
        character = self.peek()
        if character in ("{", "["):
            self.open(character)
        elif character == '"':
            self.attach(self.string())
        else:
            self.attach(self.literal(expected))

    def open(self, character: str) -> None:
        if len(self.frames) >= MAX_DEPTH:
            message = f"more than {MAX_DEPTH} levels of nesting"
            notes = ("Nothing after this place was read.",)
            self.findings.add("nested-too-deep", message, self.at, self.at + 1, notes=notes)
            raise _Stop
        frame = _Frame(character == "{", self.at)
        self.frames.append(frame)
        self.at += 1
        closing = "}" if frame.mapping else "]"
        if self.peek() == closing:
            self.finish(self.at + 1)
        elif frame.mapping:
            self.key(frame, "a key in double quotes or `}`")
        else:
            self.value("a JSON value or `]`")

    def after_value(self, frame: _Frame) -> None:
        """Read what follows a value: a comma and the next one, or the end of the collection."""
        closing = "}" if frame.mapping else "]"
        character = self.peek()
        if character == closing:
            self.finish(self.at + 1)
        elif character == ",":
            comma = self.at
            self.at += 1
            if self.peek() == closing:
                message = f"a comma before `{closing}` with no value after it"
                self.findings.add("json-syntax", message, comma, comma + 1, notes=("Remove the comma.",))
                raise _Stop
            if frame.mapping:
                self.key(frame, "a key in double quotes")
            else:
                self.value("a JSON value")
        else:
            self.fail(f"`,` or `{closing}`")

    def key(self, frame: _Frame, expected: str) -> None:
        """key = string ":" value"""
        if self.peek() != '"':
            self.fail(expected)
        key = self.string()
        first = frame.keys.setdefault(key.text, key.span)
        frame.kept = first is key.span
        if not frame.kept:
            annotation = Annotation(first, "first used here")
            start, end = key.span.start - self.findings.offset, key.span.end - self.findings.offset
            notes = ("The first value was kept.",)
            message = f"duplicate key {shown(key.text)}"
            self.findings.add("duplicate-key", message, start, end, notes=notes, first=annotation)
        frame.key = key
        if self.peek() != ":":
            self.fail("`:` after a key")
        self.at += 1
        self.value("a JSON value")

    def string(self) -> Scalar:
        match = _STRING.match(self.text, self.at)
        if match is None:
            self.bad_string()
        start, self.at = match.span()
        inner = match[1]
        value: str = inner if "\\" not in inner else json.loads(match[0])
        if has_surrogate(value):
            place = lone_escape(self.text, start, self.at)
            self.findings.add("lone-surrogate", "half of a surrogate pair is not a character", *place)
            value = without_surrogates(value)
        return Scalar(value, value, self.findings.span(start, self.at), "double")

    def bad_string(self) -> NoReturn:
        """Report why no string can be read here."""
        part = _STRING_PART.match(self.text, self.at)
        start, self.at = self.at, part.end() if part else self.at
        character = self.text[self.at : self.at + 1]
        if character == "\\":
            self.fail("a JSON escape", length=2)
        if character in ("\n", "\r", ""):
            place = (start, start + 1)
            self.findings.add("json-syntax", "a string is not closed on its line", *place, notes=('Expected `"`.',))
            raise _Stop
        notes = (f'Write it as "\\u{ord(character):04x}".',)
        message = f"control character U+{ord(character):04X} inside a string"
        self.findings.add("json-syntax", message, self.at, self.at + 1, notes=notes)
        raise _Stop

    def literal(self, expected: str) -> Scalar:
        """Read number | "true" | "false" | "null", and the words that other languages use"""
        word = _WORD.match(self.text, self.at)
        if word is None:
            self.fail(expected)
        start, end = word.span()
        text = word[0]
        number = _NUMBER.fullmatch(text)
        if text not in _NAMES and text not in _NOT_JSON_NUMBERS and number is None:
            self.fail(expected, length=len(text))
        self.at = end
        value = self.number(text, start) if text not in _NAMES else _NAMES[text]
        return Scalar(value, text, self.findings.span(start, end))

    def number(self, text: str, start: int) -> int | float | None:
        value: int | float | None = None
        message = f"{shown(text)} is not a JSON number"
        if text.lstrip("-").isdigit():
            if len(text.lstrip("-")) <= MAX_INTEGER_DIGITS:
                return int(text)
            message = f"an integer of more than {MAX_INTEGER_DIGITS:,} digits"
        elif text not in _NOT_JSON_NUMBERS:
            value = float(text)
            if math.isfinite(value):
                return value
            message = f"{shown(text)} is larger than any number that can be kept"
        self.findings.add("json-number", message, start, start + len(text))
        return None

    def attach(self, node: Node) -> None:
        if not self.frames:
            self.root = node
            return
        frame = self.frames[-1]
        if not frame.mapping:
            frame.children.append(node)
        elif frame.key is not None:
            if frame.kept:
                frame.children.append(Entry(frame.key, node))
            frame.key = None

    def finish(self, end: int) -> None:
        frame = self.frames.pop()
        self.at = end
        span = self.findings.span(frame.start, end)
        children = tuple(frame.children)
        self.attach(Mapping(children, span) if frame.mapping else Sequence(children, span))

    def close(self) -> None:
        """End the collections that are still open where the reading stopped."""
        while self.frames:
            self.finish(max(self.at, self.frames[-1].start + 1))

    def fail(self, expected: str, *, length: int = 1, notes: tuple[str, ...] = ()) -> NoReturn:
        """Record what was found and what was expected here, and stop."""
        piece = self.text[self.at : self.at + length]
        advice = _ADVICE.get(piece) or _ADVICE.get(piece[:1])
        words = shown(piece) if piece.strip() else ("a line end" if piece else "the end of the text")
        end = self.at + len(piece)
        all_notes = (*notes, advice) if advice else notes
        self.findings.add("json-syntax", f"found {words}, expected {expected}", self.at, end, notes=all_notes)
        raise _Stop
