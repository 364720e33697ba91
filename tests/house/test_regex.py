"""Regular expressions are compiled when they are first used; here all of them are. None takes more than linear time."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from prosa.regex import regex
from tests.house.pumped import pumps
from tests.house.tree import PACKAGE, modules, named, nodes, parsed, source
from tests.work import is_linear, seconds

LAZY = type(regex(""))


def test_no_module_compiles_an_expression_when_it_is_loaded():
    found = [
        f"{named(module)}:{node.lineno}"
        for module in modules()
        if "compile" in source(module)
        for statement in parsed(module).body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
    ]
    assert found == []


def test_every_expression_can_be_compiled():
    wrong: list[str] = []
    for module in modules():
        parts = module.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[-1] == "__main__":
            wrong += [named(module) for each in parsed(module).body if "regex(" in ast.unparse(each)]
            continue
        loaded = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        patterns = [each for each in vars(loaded).values() if isinstance(each, LAZY)]
        wrong += [f"{named(module)}: {error}" for each in patterns if (error := not_compiled(each))]
    assert wrong == []


def not_compiled(pattern: re.Pattern[str]) -> str:
    """Return why an expression cannot be compiled, or nothing."""
    try:
        return "" if callable(pattern.match) else "it has no match"
    except re.error as error:
        return f"{pattern}: {error}"


def test_an_expression_answers_as_a_pattern_does():
    lazy, compiled = regex(r"(?P<x>a+)b", re.IGNORECASE), re.compile(r"(?P<x>a+)b", re.IGNORECASE)
    for text in ("", "aab", "xAAbab", "b"):
        for method in ("match", "search", "fullmatch"):
            left, right = getattr(lazy, method)(text), getattr(compiled, method)(text)
            assert (left and left.groupdict()) == (right and right.groupdict())
        for method in ("findall", "split"):
            assert getattr(lazy, method)(text) == getattr(compiled, method)(text)
        assert [each.span() for each in lazy.finditer(text)] == [each.span() for each in compiled.finditer(text)]
        assert lazy.sub("-", text) == compiled.sub("-", text)
        assert lazy.subn("-", text) == compiled.subn("-", text)
    assert (lazy.pattern, lazy.groups, dict(lazy.groupindex)) == (compiled.pattern, 1, {"x": 1})
    assert regex(b"a").fullmatch(b"a")
    assert not hasattr(lazy, "nothing")


def test_a_wrong_expression_fails_when_it_is_used():
    lazy = regex("(")
    with pytest.raises(re.error):
        lazy.search("")


METHODS = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "finditer": lambda pattern, text: [None for _ in pattern.finditer(text)],
}
SEARCHING = ("search", "findall", "sub", "subn", "split")
"""Methods that look at every place of a text, as `finditer` does."""

BOUNDED = {
    "app/editor/complete_body.py": "lines of at most MAX_LINE characters",
    "app/editor/complete.py": "lines of at most MAX_LINE characters",
    "cli/demo/site.py": "a line of our own server",
    "cli/parser.py": "what is wrong with a command line that somebody typed",
    "render/page/node.py": "HTML of at most MAX_LOOKED characters",
    "web/static.py": "pages of our own, in which `<` begins nothing but tags",
}
"""Modules whose expressions see nothing long that others wrote."""

SIZES = (250, 4_000, 16_000, 32_000, 64_000)
JUDGING = 4_000
"""The size from which a text that took little time is well; smaller ones come first for what is far worse."""
SUSPICIOUS = 2e-7
"""Seconds per character from which a larger text is tried; linear work takes a tenth of it."""
ENOUGH = 0.4
"""Seconds that can be judged."""


def test_no_expression_takes_more_than_linear_time():
    """X20. What repeats in an expression is repeated, behind what leads there and in front of what fails."""
    found = {(where, pattern.pattern) for where, pattern, methods in _expressions() if _slow(pattern, methods)}
    assert found == set()


def test_the_search_for_slow_expressions_finds_them():
    assert _slow(re.compile(r"\s+and"), {"finditer"})


def _slow(pattern: re.Pattern[Any], methods: set[str]) -> bool:
    texts = [(pump, METHODS[name]) for pump in pumps(pattern.pattern, pattern.flags) for name in methods]
    return any(_is_slow(pattern, method, pump.text) for pump, method in texts)


def _is_slow(pattern: re.Pattern[Any], method: Callable[[Any, Any], object], text: Callable[[int], str]) -> bool:
    def work(size: int) -> None:
        made = text(size)
        method(pattern, made.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else made)

    for size in SIZES:
        took = seconds(lambda: work(size))  # noqa: B023 - called at once
        if took > ENOUGH:
            return not is_linear(work, size // 8, size, tries=1, part=1)
        if size >= JUDGING and took < SUSPICIOUS * size:
            return False
    return False


def _expressions() -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    """Every expression of the package with the methods that its module calls of it."""
    for module in modules():
        where = module.relative_to(PACKAGE).as_posix()
        if where in BOUNDED or module.stem == "__main__":
            continue
        parts = module.relative_to(PACKAGE.parent).with_suffix("").parts
        loaded = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        for name, value in vars(loaded).items():
            values = (
                value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else (value,)
            )
            patterns = [each for each in values if isinstance(each, LAZY)]
            if patterns:
                yield from ((where, each, _methods(module, name)) for each in patterns)


def _methods(module: Path, name: str) -> set[str]:
    """How an expression is used: as its module calls it, or, where it is handed on, at one place."""
    called = {"finditer" if each in SEARCHING else each for each in _called(module).get(name, ())}
    return called & METHODS.keys() or {"match", "fullmatch"}


@cache
def _called(module: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in nodes(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
    return found
