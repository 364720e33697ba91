"""The functions of the template language, by name: Go's own and those of markdownlang programs (X14, L26).

``and`` and ``or`` are not here: they do not evaluate every argument, so the executor has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from prosa.template import access, compare, escape, words
from prosa.template.function import Function, FunctionError, bounded
from prosa.template.printing import print_text, println_text
from prosa.template.values import described, truth

__all__ = ["FUNCTIONS", "Function", "FunctionError"]


def _subject_first(args: Sequence[object], *, piped: bool) -> list[object]:
    """The arguments with the subject in front: a piped value comes last in the call and is the subject (X14)."""
    return [args[-1], *args[:-1]] if piped else [*args]


def _simple(name: str, call: Callable[..., object], count: int, most: int | None = None) -> Function:
    """A function of a fixed number of arguments, or from ``count`` to ``most``, in the order of the call."""
    return Function(name, lambda args, _piped: call(*args), count, count if most is None else most)


def _subject(name: str, call: Callable[..., object], count: int) -> Function:
    """A function whose subject comes first in a direct call and last when it came through ``|``."""
    return Function(name, lambda args, piped: call(*_subject_first(args, piped=piped)), count, count)


def _escaper(name: str, escaped: Callable[[str], str]) -> Function:
    return Function(name, lambda args, _piped: bounded(escaped(print_text(args))), 0, None)


def _slice(args: Sequence[object], piped: bool) -> object:
    value, *bounds = _subject_first(args, piped=piped)
    return access.cut(value, bounds)


def _printf(args: Sequence[object], _piped: bool) -> str:
    text = args[0]
    if not isinstance(text, str):
        raise FunctionError(f"needs a string as format, found {described(text)}")
    from prosa.template.printf import sprintf  # only here: few templates format

    return sprintf(text, args[1:])


def _call(args: Sequence[object], _piped: bool) -> object:
    raise FunctionError(f"needs a function, found {described(args[0])}; data has no functions")


_ALL: Final = (
    _simple("not", lambda value: not truth(value), 1),
    Function("eq", lambda args, _piped: compare.equal(args[0], args[1:]), 2, None),
    _simple("ne", lambda first, second: not compare.equal(first, (second,)), 2),
    _simple("lt", compare.less, 2),
    _simple("le", compare.less_or_equal, 2),
    _simple("gt", lambda first, second: not compare.less_or_equal(first, second), 2),
    _simple("ge", lambda first, second: not compare.less(first, second), 2),
    Function("index", lambda args, _piped: access.index(args[0], args[1:]), 1, None),
    Function("slice", _slice, 1, 4),
    _simple("len", access.length, 1),
    Function("print", lambda args, _piped: print_text(args), 0, None),
    Function("println", lambda args, _piped: println_text(args), 0, None),
    Function("printf", _printf, 1, None),
    _escaper("html", escape.html),
    _escaper("js", escape.js),
    _escaper("urlquery", escape.urlquery),
    Function("call", _call, 1, None),
    _simple("upper", words.upper, 1),
    _simple("lower", words.lower, 1),
    _simple("title", words.title, 1),
    _simple("default", words.default, 2),
    _subject("join", words.join, 2),
    _subject("split", words.split, 2),
)

FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType({function.name: function for function in _ALL})
"""Every function but ``and`` and ``or``, by its name."""
