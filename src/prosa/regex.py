"""Regular expressions that are compiled when they are first used. In: what `re.compile` takes. Out: what it gives.

Compiling takes 70 µs on average, and a command loads modules with a hundred expressions of which it uses ten.
"""

from __future__ import annotations

import re
import sys
from _thread import allocate_lock  # `threading` would load more than this module
from importlib import import_module
from os.path import commonprefix
from typing import TYPE_CHECKING, AnyStr, cast

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType


class _Lazy:
    """Stands for a pattern. Once compiled, its methods are attributes, found as quickly as those of the pattern."""

    __slots__ = ("findall", "finditer", "flags", "fullmatch", "match", "pattern", "search", "split", "sub", "subn")

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern, self.flags = text, flags

    def __getattr__(self, name: str) -> object:
        """Import on first use what is not there yet."""
        compiled: re.Pattern[str] | re.Pattern[bytes] = re.compile(self.pattern, self.flags)
        for method in ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return the pattern, compiled at its first use. Raises `re.error` then."""
    return cast("re.Pattern[AnyStr]", _Lazy(text, flags))


_importing = allocate_lock()

_DEEPEST = 50
"""Levels of words that begin alike; an expression is parsed level by level, and there is a limit to that."""


def import_uncompiled(package: str) -> ModuleType:
    """Import a package, and have its modules compile their expressions at first use as well. Those of PyYAML take
    longer than the rest of a short command, and libyaml's events need none of them. Raises ImportError."""
    with _importing:
        compile_now = re.compile

        def compile_later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:  # named as those of `re.compile`
            caller = sys._getframe(1).f_globals.get("__name__", "")  # noqa: SLF001 - other modules compile as always
            return (regex if caller.startswith(f"{package}.") else compile_now)(pattern, flags)

        vars(re)["compile"] = compile_later
        try:
            return import_module(package)
        finally:
            vars(re)["compile"] = compile_now


def any_of(words: Iterable[str]) -> str:
    """Return an expression of any of some words, which finds nothing where there are none. What several begin with is
    written once, so that a search for thousands takes hardly longer than one for ten."""
    return _any_of(sorted({*words}), 0)


def _any_of(words: list[str], depth: int) -> str:
    if depth > _DEEPEST:
        return f"(?:{'|'.join(re.escape(word) for word in reversed(words))})"  # the longest first
    begun: dict[str, list[str]] = {}
    for word in words:
        begun.setdefault(word[:1], []).append(word)
    ends = "?" if begun.pop("", None) else ""
    branches: list[str] = []
    for some in begun.values():
        start = commonprefix(some)  # noqa: RUF071 - of words, not of paths
        rest = _any_of([word[len(start) :] for word in some], depth + 1) if len(some) > 1 else ""
        branches.append(re.escape(start) + rest)
    return f"(?:{'|'.join(branches)}){ends}" if branches or ends else "(?!)"


UNSEEN = regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""The characters that Unicode calls default-ignorable. Which of them nothing needs, `source.invisible` says; it is
loaded only for a text with some."""
