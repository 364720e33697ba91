"""What a case expects of an output: objects match in part, all else exactly; JSONPath keys and matchers say more.

    expect:
      team: billing                                   a field, exactly
      $.reason: {contains: twice, length: {max: 200}} a query, and words about what it finds

In: an expectation as plain data, and an output. Out: the failures of the output, or the mistakes in the expectation
itself, each at a JSON pointer. Only top-level keys may be queries; a query that may find several values returns a
list.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from prosa.data import Value, format_pointer
from prosa.diagnostics.nearest import nearest
from prosa.evaluation.jsonpath import BadQuery, Parts, compile_query
from prosa.evaluation.matchers import (
    MATCHERS,
    MISSING,
    PYTHON,
    Missing,
    OutputValue,
    described,
    is_matcher,
    meets,
    same,
)
from prosa.schema.wording import shown_value

MAX_FAILURES = 20
"""Of one output; more say nothing new."""


GRADE = "grade"
"""The pointer of a grader's answer to a question."""


class Failure(Struct, frozen=True):
    """What an output lacks. ``pointer`` leads to the place in it, or is the query that found nothing; empty is all of
    it."""

    pointer: str
    expected: str
    found: str

    def __str__(self) -> str:
        if self.pointer == GRADE:
            return f'grade: "{self.expected}" does not hold: {self.found}'
        return f"{self.pointer or 'output'}: expected {self.expected}, found {self.found}"


class PythonCheck(Struct, frozen=True):
    """A check written in Python that is still to be run on a value, in the sandbox."""

    pointer: str
    code: str
    value: Value


class Match(Struct, frozen=True):
    """The result of comparing an output with an expectation. Without failures it is met once ``checks`` pass."""

    failures: tuple[Failure, ...] = ()
    checks: tuple[PythonCheck, ...] = ()


def match(expected: OutputValue, output: Value) -> Match:
    """Hold an output against an expectation that is well formed; where there is none, nothing fails."""
    if isinstance(expected, Missing):
        return Match()
    results = tuple(islice(_matched(expected, output, (), top=True), MAX_FAILURES))
    failures = tuple(problem for problem in results if isinstance(problem, Failure))
    return Match(
        failures, () if failures else tuple(problem for problem in results if isinstance(problem, PythonCheck))
    )


def _matched(
    expected: Value, value: OutputValue, parts: Parts, *, top: bool = False
) -> Iterator[Failure | PythonCheck]:
    if is_matcher(expected):
        yield from _by_words(expected, value, format_pointer(parts))
    elif isinstance(expected, dict):
        yield from _by_fields(expected, value, parts, top=top)
    elif isinstance(expected, list) and isinstance(value, list) and len(expected) == len(value):
        for index, (wanted, item) in enumerate(zip(expected, value, strict=True)):
            yield from _matched(wanted, item, (*parts, index))
    elif isinstance(value, Missing) or isinstance(expected, list) or not same(expected, value):
        yield Failure(format_pointer(parts), shown_value(expected), described(value))


def _by_words(words: dict[str, Value], value: OutputValue, pointer: str) -> Iterator[Failure | PythonCheck]:
    expected = meets(words, value)
    if expected is not None:
        yield Failure(pointer, expected, described(value))
    elif isinstance(code := words.get(PYTHON), str):
        if isinstance(value, Missing):
            yield Failure(pointer, "a value for the check", described(value))
        else:
            yield PythonCheck(pointer, code, value)


def _by_fields(
    expected: dict[str, Value], value: OutputValue, parts: Parts, *, top: bool
) -> Iterator[Failure | PythonCheck]:
    queries = {}
    if top and not isinstance(value, Missing):
        queries = {key: wanted for key, wanted in expected.items() if is_query(key)}
        for key, wanted in queries.items():
            yield from _by_query(key, wanted, value)
    fields = {key: wanted for key, wanted in expected.items() if key not in queries}
    if not isinstance(value, dict):
        if fields or not queries:
            yield Failure(format_pointer(parts), "an object", described(value))
        return
    for key, wanted in fields.items():
        yield from _matched(wanted, value.get(key, MISSING), (*parts, key))


def is_query(key: str) -> bool:
    """Return whether a key at the top of an expectation is a JSONPath query."""
    return key.startswith("$")


def _by_query(key: str, wanted: Value, output: Value) -> Iterator[Failure | PythonCheck]:
    try:
        query = compile_query(key)
        nodes = query.find(output)
    except BadQuery as error:
        yield Failure(key, "a query that can be answered", f"one that {error}")
        return
    if query.parts is None:
        yield from _placed(_matched(wanted, [value for _, value in nodes], ()), key)
    elif nodes:
        pointer, value = nodes[0]
        yield from _placed(_matched(wanted, value, ()), pointer)
    else:
        yield from _placed(_matched(wanted, MISSING, ()), key)


def _placed(results: Iterator[Failure | PythonCheck], before: str) -> Iterator[Failure | PythonCheck]:
    for problem in results:
        pointer = before + problem.pointer
        if isinstance(problem, Failure):
            yield Failure(pointer, problem.expected, problem.found)
        else:
            yield PythonCheck(pointer, problem.code, problem.value)


# ---- mistakes in an expectation ----


class Mistake(Struct, frozen=True):
    """A mistake in an expectation, at a JSON pointer into it. ``on_key``: the key is wrong, not its value; ``meant``
    is the word that ``written`` most likely stands for."""

    kind: str
    pointer: str
    message: str
    on_key: bool = False
    written: str = ""
    meant: str = ""


def mistakes(expected: Value) -> Iterator[Mistake]:
    """Yield the mistakes in an expectation."""
    yield from _mistakes(expected, (), top=True)


def _mistakes(expected: Value, parts: Parts, *, top: bool = False) -> Iterator[Mistake]:
    if is_matcher(expected):
        yield from _wrong_words(expected, parts)
    elif isinstance(expected, dict):
        for key, wanted in expected.items():
            if top and is_query(key):
                yield from _wrong_query(key, (*parts, key))
            elif (guess := _misspelled(key, expected)) is not None:
                message = f"`{key}` is beside conditions on a value and is not one; did you mean `{guess}`?"
                yield Mistake("unknown-matcher", format_pointer((*parts, key)), message, True, key, guess)
            yield from _mistakes(wanted, (*parts, key))
    elif isinstance(expected, list):
        for index, wanted in enumerate(expected):
            yield from _mistakes(wanted, (*parts, index))


def _misspelled(key: str, beside: dict[str, Value]) -> str | None:
    """Return the word that a key was meant to be, in a mapping where all the others are words."""
    if key in MATCHERS or len(beside) < 2 or not all(word in MATCHERS for word in beside if word != key):
        return None
    return nearest(key, MATCHERS)


def _wrong_query(key: str, parts: Parts) -> Iterator[Mistake]:
    try:
        compile_query(key)
    except BadQuery as error:
        yield Mistake("bad-query", format_pointer(parts), f"`{key[:80]}` {error}", True)


def _wrong_words(words: dict[str, Value], parts: Parts) -> Iterator[Mistake]:
    for name, argument in words.items():
        wrong = MATCHERS[name].wrong(argument)
        if wrong is not None:
            pointer = format_pointer((*parts, name)) + wrong[0]
            yield Mistake("bad-matcher", pointer, f"`{name}`{_inside(wrong[0])} {wrong[1]}")
    if words.get("absent") is True and len(words) > 1:
        message = "`absent: true` excludes all other conditions"
        yield Mistake("bad-matcher", format_pointer((*parts, "absent")), message)


def _inside(pointer: str) -> str:
    return f" at `{pointer}`" if pointer else ""
