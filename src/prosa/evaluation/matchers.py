"""The words of expectations: their arguments, and when a value meets them.

In: the argument that an author wrote, and a value. Out: the problem of the argument, or what was expected of the
value. A mapping made of these words only is a matcher; all its words must hold.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias, TypeGuard, cast

from msgspec import Struct

from prosa.data import Value, items_of
from prosa.evaluation.patterns import BadPattern, compile_pattern, matches
from prosa.regex import regex
from prosa.schema import Schema, SchemaError
from prosa.schema.wording import found, listed, shown_value


class Missing:
    """The type of `MISSING`."""

    __slots__ = ()


MISSING: Final = Missing()
"""What stands where the output has nothing, which is not null."""

OutputValue: TypeAlias = "Value | Missing"
"""What stands at a place of an output."""

Wrong: TypeAlias = tuple[str, str]
"""A JSON pointer into the argument of a word, and the problem there: the rest of a sentence that begins with it."""


class Matcher(Struct, frozen=True):
    """A word. ``wrong`` checks the argument; ``unmet`` returns what was expected if a value does not meet it."""

    wrong: Callable[[Value], Wrong | None]
    unmet: Callable[[Value, OutputValue], str | None]


def same(first: Value, second: Value) -> bool:
    """Return whether two values are equal as JSON: 1 equals 1.0, true does not equal 1. Their depth is bounded by
    readers."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def meets(words: Mapping[str, Value], value: OutputValue) -> str | None:
    """Return the first failure of a value against a matcher; None if it meets every word. `python` is not run here."""
    for name, argument in words.items():
        expected = MATCHERS[name].unmet(argument, value)
        if expected is not None:
            return expected
    return None


def described(value: OutputValue) -> str:
    """Return what was found, for people."""
    return "nothing" if isinstance(value, Missing) else found(value)


def _anything(_argument: Value) -> None:
    return None


def _equals(argument: Value, value: OutputValue) -> str | None:
    return None if not isinstance(value, Missing) and same(argument, value) else shown_value(argument)


def _one_of(argument: Value, value: OutputValue) -> str | None:
    if not isinstance(value, Missing) and any(same(item, value) for item in items_of(argument)):
        return None
    return f"one of {listed([shown_value(item) for item in items_of(argument)])}"


def _some(argument: Value) -> Wrong | None:
    return None if isinstance(argument, list) and argument else ("", "takes a list of values")


def _contained(argument: Value, value: OutputValue) -> bool:
    """Return whether a text has a piece, a list an item, a mapping a key."""
    if isinstance(value, str):
        return isinstance(argument, str) and argument in value
    if isinstance(value, list):
        return any(same(argument, item) for item in value)
    return isinstance(value, dict) and isinstance(argument, str) and argument in value


def _pieces(argument: Value) -> list[Value]:
    return argument if isinstance(argument, list) else [argument]


def _has_places(value: OutputValue) -> bool:
    return isinstance(value, str | list | dict)


def _contains(argument: Value, value: OutputValue) -> str | None:
    lacking = next((piece for piece in _pieces(argument) if not _contained(piece, value)), MISSING)
    return None if isinstance(lacking, Missing) else f"something that contains {shown_value(lacking)}"


def _contains_not(argument: Value, value: OutputValue) -> str | None:
    if not _has_places(value):
        return "a text, a list or a mapping"
    there = next((piece for piece in _pieces(argument) if _contained(piece, value)), MISSING)
    return None if isinstance(there, Missing) else f"something that does not contain {shown_value(there)}"


def _pattern(argument: Value) -> Wrong | None:
    if not isinstance(argument, str):
        return "", "takes a pattern of RE2"
    try:
        compile_pattern(argument)
    except BadPattern as error:
        return "", f"{shown_value(argument)} {error}"
    return None


def _matches(argument: Value, value: OutputValue) -> str | None:
    if isinstance(argument, str) and isinstance(value, str) and matches(argument, value):
        return None
    return f"a text that matches {shown_value(argument)}"


WITHIN = 1e-6
"""The default tolerance for numbers."""


def _is_number(value: OutputValue) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _near(argument: Value) -> Wrong | None:
    if _is_number(argument):
        return None
    if not isinstance(argument, dict) or not argument.keys() <= {"value", "within"} or "value" not in argument:
        return "", "takes a number, or `{value: …, within: …}`"
    wrong = next((name for name, number in argument.items() if not _is_number(number)), None)
    if wrong is None and _is_number(within := argument.get("within")) and within < 0:
        wrong = "within"
    return (f"/{wrong}", f"needs a {'positive ' if wrong == 'within' else ''}number") if wrong else None


def _approx(argument: Value, value: OutputValue) -> str | None:
    # Numbers, as `_near` has checked.
    bounds = cast("Mapping[str, float]", argument if isinstance(argument, dict) else {"value": argument})
    middle, within = bounds["value"], bounds.get("within", WITHIN)
    if _is_number(value) and (value == middle or _distance(value, middle) <= within):
        return None
    return f"a number within {within:g} of {middle:g}"


def _distance(first: float, second: float) -> float:
    try:
        return abs(first - second)
    except OverflowError:
        return math.inf


def bounds_wrong(argument: Value, *, whole: bool = True) -> Wrong | None:
    """Return the problem of a number or `{min: …, max: …}`."""
    kind = "a whole number" if whole else "a number"
    if not isinstance(argument, dict):
        return None if _is_bound(argument, whole) else ("", f"takes {kind}, or `{{min: …, max: …}}`")
    if not argument or not argument.keys() <= {"min", "max"}:
        return "", f"takes {kind}, or `{{min: …, max: …}}`"
    wrong = next((name for name, bound in argument.items() if not _is_bound(bound, whole)), None)
    if wrong is not None:
        return f"/{wrong}", f"needs {kind} that is not negative"
    bounds = cast("Mapping[str, float]", argument)
    if bounds.get("min", 0) > bounds.get("max", math.inf):
        return "/min", "is more than `max`"
    return None


def _is_bound(value: Value, whole: bool) -> bool:
    return _is_number(value) and value >= 0 and (isinstance(value, int) or not whole)


def outside(argument: Value, number: float) -> str | None:
    """Return what was expected of a number that is not equal to ``argument``, or not between its bounds."""
    if not isinstance(argument, dict):
        return None if number == argument else f"{argument:g}"
    bounds = cast("Mapping[str, float]", argument)  # as `bounds_wrong` has checked
    least, most = bounds.get("min"), bounds.get("max")
    if (least is None or number >= least) and (most is None or number <= most):
        return None
    return (
        f"{least:g} to {most:g}"
        if least is not None and most is not None
        else (f"at least {least:g}" if least is not None else f"at most {most:g}")
    )


def _length(argument: Value, value: OutputValue) -> str | None:
    if not isinstance(value, str | list | dict):
        return "a text, a list or a mapping"
    expected = outside(argument, len(value))
    return f"a length of {expected}, not {len(value)}" if expected else None


@lru_cache(maxsize=256)
def _compiled(text: str) -> Schema:
    return Schema(json.loads(text))


def _is_schema(argument: Value) -> Wrong | None:
    try:
        _compiled(json.dumps(argument))
    except SchemaError as error:
        return error.pointer, f"is not a JSON Schema: {error.message}"
    except (TypeError, ValueError):
        return "", "is not a JSON Schema"
    return None


def _schema(argument: Value, value: OutputValue) -> str | None:
    if isinstance(value, Missing):
        return "a value that satisfies the schema"
    problem = next(iter(_compiled(json.dumps(argument)).problems(value)), None)
    return None if problem is None else f"a value that satisfies the schema; {problem}"


def _a_list(argument: Value) -> Wrong | None:
    return None if isinstance(argument, list) else ("", "takes a list")


def _key(value: Value) -> str:
    """Return a text by which values sort, the same for values that are the same."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{json.dumps(name)}:{_key(member)}" for name, member in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_key, value)) + "]"
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def _sorted_equals(argument: Value, value: OutputValue) -> str | None:
    if isinstance(value, list) and sorted(map(_key, value)) == sorted(map(_key, items_of(argument))):
        return None
    return f"{shown_value(argument)} in any order"


def _true_or_false(argument: Value) -> Wrong | None:
    return None if isinstance(argument, bool) else ("", "takes true or false")


def _absent(argument: Value, value: OutputValue) -> str | None:
    if isinstance(value, Missing) == argument:
        return None
    return "nothing there" if argument else "anything"


MAX_CODE = 20_000
"""Characters of a check in Python."""

_CHECK = regex(r"^def[ \t]+check[ \t]*\(", re.MULTILINE)


def _code(argument: Value) -> Wrong | None:
    if not isinstance(argument, str) or not _CHECK.search(argument):
        return "", "takes Python that defines `check(input, output, calls)`"
    return ("", f"is longer than {MAX_CODE:,} characters") if len(argument) > MAX_CODE else None


def _asked_elsewhere(_argument: Value, _value: OutputValue) -> None:
    return None


PYTHON: Final = "python"

MATCHERS: Mapping[str, Matcher] = {
    "equals": Matcher(_anything, _equals),
    "one-of": Matcher(_some, _one_of),
    "contains": Matcher(_anything, _contains),
    "not-contains": Matcher(_anything, _contains_not),
    "matches": Matcher(_pattern, _matches),
    "approx": Matcher(_near, _approx),
    "length": Matcher(bounds_wrong, _length),
    "schema": Matcher(_is_schema, _schema),
    "sorted-equals": Matcher(_a_list, _sorted_equals),
    "absent": Matcher(_true_or_false, _absent),
    PYTHON: Matcher(_code, _asked_elsewhere),
}
"""The words, in the order of the documentation."""


def is_matcher(value: OutputValue) -> TypeGuard[dict[str, Value]]:
    """Return whether a value is a mapping made of the words only."""
    return isinstance(value, dict) and bool(value) and value.keys() <= MATCHERS.keys()
