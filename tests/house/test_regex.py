"""Regular expressions are compiled when they are first used; here all of them are."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

from prosa.regex import regex
from tests.house.tree import PACKAGE, modules, named, parsed

LAZY = type(regex(""))


def test_no_module_compiles_an_expression_when_it_is_loaded():
    found = [
        f"{named(module)}:{node.lineno}"
        for module in modules()
        for statement in parsed(module).body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
    ]
    assert found == []


@pytest.mark.parametrize("module", modules(), ids=named)
def test_every_expression_can_be_compiled(module):
    parts = module.relative_to(PACKAGE.parent).with_suffix("").parts
    if parts[-1] == "__main__":
        assert not [each for each in parsed(module).body if "regex(" in ast.unparse(each)]
        return
    loaded = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    patterns = [each for each in vars(loaded).values() if isinstance(each, LAZY)]
    assert all(callable(each.match) for each in patterns)


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
