"""Texts that make a regular expression slow, made out of the expression itself.

Where something in an expression may repeat, a text that repeats it many times, with a beginning that leads there and an
end that fails, takes quadratic time if two parts of the expression can share the repeated text, or if every place in it
can begin a match that does not end. In: an expression. Out: such texts, of any size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
MANY = 1_000
"""Repetitions from which an expression does not bound them; a lower bound makes a constant."""

ENDS = ("\x01", "\n", "x")
ANY = "~"
"""The example of what may be any character; it may also be the one that an expression begins with."""

CHOICES = 2
"""Which of several characters or branches an example takes."""

_CATEGORIES = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_SPACE: " \n",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_NOT_WORD: "-",
}


class Pump(NamedTuple):
    """A text of any size: a beginning, what repeats, an end."""

    begin: str
    middle: str
    end: str

    def text(self, size: int) -> str:
        """A text of about ``size`` characters."""
        return self.begin + self.middle * (size // len(self.middle)) + self.end


def pumps(pattern: str | bytes, flags: int) -> set[Pump]:
    """The texts that an expression suggests."""
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    tree = list(parser.parse(text, flags & (re.I | re.M | re.S | re.X)))
    whole = _example(tree, 0)[:40]
    found = {pump for choice in range(CHOICES) for pump in _repeated(tree, "", choice)}
    found |= {(begin, middle.replace(ANY, whole[:1])) for begin, middle in found if ANY in middle and whole}
    beginnings = {Pump("", whole[:end], "") for end in range(1, len(whole) + 1)}
    return {*(Pump(*pump, end) for pump in found for end in ENDS), *beginnings}


def _repeated(tree: Sequence[Any], before: str, choice: int) -> Iterator[tuple[str, str]]:
    """What may repeat without a bound, with an example of what stands before it."""
    for code, value in tree:
        if code in REPEATS:
            middle = _example(value[2], choice)
            if value[1] > MANY and middle:
                yield from ((before, middle), ("", before + middle), (before, before + middle))
            yield from _repeated(value[2], before, choice)
        elif code is codes.SUBPATTERN:
            yield from _repeated(value[-1], before, choice)
        elif code is codes.ATOMIC_GROUP:
            yield from _repeated(value, before, choice)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _repeated(branch, before, choice)
        before += _example([(code, value)], choice)


def _example(tree: Sequence[Any], choice: int) -> str:
    return "".join(_one(code, value, choice) for code, value in tree)


def _one(code: Any, value: Any, choice: int) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.NOT_LITERAL:
        return "b" if value == ord("a") else "a"
    if code is codes.ANY:
        return ANY
    if code is codes.IN:
        members = _members(value)
        return members[choice % len(members)]
    if code is codes.BRANCH:
        return _example(value[1][choice % len(value[1])], choice)
    if code is codes.SUBPATTERN:
        return _example(value[-1], choice)
    if code is codes.ATOMIC_GROUP:
        return _example(value, choice)
    if code in REPEATS:
        return _example(value[2], choice) * max(value[0], 1 - choice % 2)
    return ""


def _members(parts: Sequence[Any]) -> str:
    """Some characters of a set."""
    named = "".join(
        chr(value)
        if code is codes.LITERAL
        else chr(value[0]) + chr(value[1])
        if code is codes.RANGE
        else _CATEGORIES[value]
        for code, value in parts
        if code is not codes.NEGATE
    )
    if parts[0][0] is codes.NEGATE:
        return "".join(each for each in 'a 1-"\\<[' if each not in named) or "z"
    return named or "a"
