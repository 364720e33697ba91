"""Parsing of JSONPath (RFC 9535). In: a query. Out: a path, or the mistake.

The methods follow the grammar of the standard: or, and, basic, comparable, query, segment, selector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from prosa.evaluation.rfc9535.filters import (
    Both,
    Comparable,
    Compare,
    Count,
    Either,
    Length,
    Literal,
    Matches,
    Not,
    OneValue,
    ValueOf,
    Within,
)
from prosa.evaluation.rfc9535.selectors import (
    ByIndex,
    ByName,
    Condition,
    Filter,
    Path,
    Segment,
    Selector,
    Slice,
    Wildcard,
)
from prosa.evaluation.rfc9535.text import INTEGER, NAME, Cursor, JsonPathError, index_of, take_string
from prosa.regex import regex

MAX_NESTING = 40
"""Parentheses, filters and functions inside of each other."""

_NUMBER = regex(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![0-9])")
_FUNCTION = regex(r"[a-z][a-z_0-9]*(?=\()")
_OPERATOR = regex(r"[=!]=|[<>]=?")
_WORD = regex(r"(?:true|false|null)(?![0-9A-Za-z_\u0080-\U0010ffff])")
_WORDS = {"true": True, "false": False, "null": None}

_Primary: TypeAlias = "Literal | Within | Length | Count | ValueOf | Matches"


def parse_query(text: str) -> Path:
    """Return the path that a query is. Raises `JsonPathError`."""
    parser = _Parser(text)
    if not parser.cursor.takes("$"):
        parser.cursor.fail("does not begin with `$`")
    path = parser.path()
    if parser.cursor.at < len(text):
        parser.cursor.skip()
        parser.cursor.fail(
            f"has `{parser.cursor.peek()}` where a segment was expected"
            if parser.cursor.peek()
            else "ends with white space"
        )
    return path


class _Parser:
    def __init__(self, text: str) -> None:
        self.cursor = Cursor(text)
        self.depth = 0

    def path(self) -> Path:
        """Read segments. White space behind the last of them belongs to what follows."""
        cursor, segments = self.cursor, list[Segment]()
        while True:
            end = cursor.at
            cursor.skip()
            if cursor.takes(".."):
                selectors = self.bracket() if cursor.takes("[") else self.shorthand()
                segments.append(Segment(selectors, deep=True))
            elif cursor.takes("."):
                segments.append(Segment(self.shorthand(), deep=False))
            elif cursor.takes("["):
                segments.append(Segment(self.bracket(), deep=False))
            else:
                cursor.at = end
                return Path(tuple(segments), _parts(segments))

    def shorthand(self) -> tuple[Selector, ...]:
        if self.cursor.takes("*"):
            return (Wildcard(),)
        name = self.cursor.take(NAME)
        if name is None:
            self.cursor.fail("has a `.` without a name or `*` after it")
        return (ByName(name),)

    def bracket(self) -> tuple[Selector, ...]:
        cursor, selectors = self.cursor, list[Selector]()
        while True:
            cursor.skip()
            selectors.append(self.selector())
            cursor.skip()
            if cursor.takes("]"):
                return tuple(selectors)
            if not cursor.takes(","):
                cursor.fail("has no `]` after its `[`")

    def selector(self) -> Selector:
        cursor = self.cursor
        if cursor.peek() in ("'", '"'):
            return ByName(take_string(cursor))
        if cursor.takes("*"):
            return Wildcard()
        if cursor.takes("?"):
            return Filter(self.nested(self.either))
        start = self.integer()
        end = cursor.at
        cursor.skip()
        if cursor.takes(":"):
            return self.slice(start)
        cursor.at = end
        if start is None:
            cursor.fail("has no selector where one was expected")
        return ByIndex(start)

    def slice(self, start: int | None) -> Slice:
        cursor = self.cursor
        cursor.skip()
        stop = self.integer()
        cursor.skip()
        step = None
        if cursor.takes(":"):
            cursor.skip()
            step = self.integer()
        return Slice(start, stop, 1 if step is None else step)

    def integer(self) -> int | None:
        start = self.cursor.at
        digits = self.cursor.take(INTEGER)
        return None if digits is None else index_of(digits, start)

    def nested(self, read: Callable[[], Condition]) -> Condition:
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.cursor.fail(f"is nested more than {MAX_NESTING} deep")
        self.cursor.skip()
        condition = read()
        self.depth -= 1
        return condition

    def either(self) -> Condition:
        conditions = self.chained(self.both, "||")
        return conditions[0] if len(conditions) == 1 else Either(conditions)

    def both(self) -> Condition:
        conditions = self.chained(self.basic, "&&")
        return conditions[0] if len(conditions) == 1 else Both(conditions)

    def chained(self, read: Callable[[], Condition], mark: str) -> tuple[Condition, ...]:
        conditions = [read()]
        while True:
            end = self.cursor.at
            self.cursor.skip()
            if not self.cursor.takes(mark):
                self.cursor.at = end
                return tuple(conditions)
            self.cursor.skip()
            conditions.append(read())

    def basic(self) -> Condition:
        cursor = self.cursor
        negated = cursor.takes("!")
        if negated:
            cursor.skip()
        if cursor.takes("("):
            condition = self.nested(self.either)
            cursor.skip()
            if not cursor.takes(")"):
                cursor.fail("has no `)` after its `(`")
        else:
            condition = self.tested(negated)
        return Not(condition) if negated else condition

    def tested(self, negated: bool) -> Condition:
        """Read a comparison, or a path or function that stands alone; behind `!` only the latter."""
        cursor = self.cursor
        left, start = self.primary(), cursor.at
        cursor.skip()
        operator = None if negated else cursor.take(_OPERATOR)
        if operator is not None:
            cursor.skip()
            first = self.comparable(left, start)
            return Compare(first, operator, self.comparable(self.primary(), cursor.at))
        cursor.at = start
        if not isinstance(left, Within | Matches):
            cursor.fail("has a value that is not compared")
        return left

    def comparable(self, primary: _Primary, at: int) -> Comparable:
        """Return what gives one value."""
        if isinstance(primary, Matches):
            raise JsonPathError("compares `match()` or `search()`, which are true or false by themselves", at)
        if not isinstance(primary, Within):
            return primary
        if primary.path.parts is None:
            raise JsonPathError("takes one value from a path that may find several", at)
        return OneValue(primary.path.parts, primary.from_root)

    def primary(self) -> _Primary:
        cursor = self.cursor
        character = cursor.peek()
        if character in ("$", "@"):
            cursor.at += 1
            return Within(self.path(), character == "$")
        if character in ("'", '"'):
            return Literal(take_string(cursor))
        if (name := cursor.take(_FUNCTION)) is not None:
            return self.function(name)
        if (word := cursor.take(_WORD)) is not None:
            return Literal(_WORDS[word])
        start, number = cursor.at, cursor.take(_NUMBER)
        if number is None:
            cursor.fail("has no condition where one was expected")
        return Literal(_number(number, start))

    def function(self, name: str) -> _Primary:
        start = self.cursor.at - len(name)
        if name not in ("length", "count", "value", "match", "search"):
            raise JsonPathError(f"calls `{name}()`, which is no function of the standard", start)
        arguments = self.arguments()
        if len(arguments) != (2 if name in ("match", "search") else 1):
            raise JsonPathError(f"calls `{name}()` with {len(arguments)} arguments", start)
        if name in ("count", "value"):
            (of,) = arguments
            if not isinstance(of, Within):
                raise JsonPathError(f"calls `{name}()` with something other than a path", start)
            return Count(of) if name == "count" else ValueOf(of)
        values = [self.comparable(argument, start) for argument in arguments]
        return Length(values[0]) if name == "length" else Matches(values[0], values[1], name == "match")

    def arguments(self) -> list[_Primary]:
        cursor, values = self.cursor, list[_Primary]()
        cursor.at += 1
        self.depth += 1
        if self.depth > MAX_NESTING:
            cursor.fail(f"is nested more than {MAX_NESTING} deep")
        cursor.skip()
        while not cursor.takes(")"):
            if values:
                if not cursor.takes(","):
                    cursor.fail("has no `)` after its `(`")
                cursor.skip()
            values.append(self.primary())
            cursor.skip()
        self.depth -= 1
        return values


def _parts(segments: list[Segment]) -> tuple[str | int, ...] | None:
    """Return the names and indexes of segments that lead to at most one value."""
    parts: list[str | int] = []
    for segment in segments:
        match segment.selectors:
            case (ByName(name=part) | ByIndex(index=part),) if not segment.deep:
                parts.append(part)
            case _:
                return None
    return tuple(parts)


def _number(text: str, at: int) -> int | float:
    number = float(text)
    if abs(number) == float("inf"):
        raise JsonPathError("has a number that is too large", at)
    return int(text) if text.lstrip("-").isdigit() else number
