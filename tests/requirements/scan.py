"""Which tests name which requirements: in come the test files as text, out come names, ids and whether each asserts.

An id counts where it stands in the name of a test function (`test_x12_la21_…`) or in its docstring (`X12, LA21`).
Nothing is imported and nothing is run. A function asserts when it holds an assert, a `pytest.raises` or a call of a
function that asserts: one of the same file, one of a file that holds no tests, or one whose name begins with `assert`.
"""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.house.tree import statements_in
from tests.requirements.ledger import ID

TESTS = Path(__file__).parent.parent

Function = ast.FunctionDef | ast.AsyncFunctionDef
_NAMED = (ast.Name, ast.Attribute)

_IN_NAME = re.compile(ID.pattern, re.IGNORECASE)
_IN_TEXT = re.compile(rf"\b{ID.pattern}\b")
_RAISING = {"raises", "warns", "fail"}


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test function: where it is, the ids it names, and whether it can fail."""

    path: Path
    line: int
    name: str
    ids: frozenset[str]
    asserts: bool

    def __str__(self) -> str:
        return f"{self.path.relative_to(TESTS.parent)}:{self.line} {self.name}"


@cache
def scan(folder: Path = TESTS) -> list[NamedTest]:
    """All test functions below a folder, in a fixed order."""
    texts = {file: file.read_text("utf-8") for file in sorted(folder.rglob("*.py")) if "node_modules" not in file.parts}
    shared = [function for file, text in texts.items() if not _holds_tests(file) for function in _functions(text)]
    known = _asserting(shared)
    return [test for file, text in texts.items() if _holds_tests(file) for test in scan_text(text, file, known)]


def scan_text(text: str, path: Path, known: Set[str] = frozenset()) -> Iterator[NamedTest]:
    """The test functions of one file, those in classes too. ``known`` are functions of other files that assert."""
    functions = _functions(text)
    asserting = _asserting(functions, known)
    for function in functions:
        if function.name.startswith("test"):
            yield NamedTest(path, function.lineno, function.name, ids_of(function), function.name in asserting)


def ids_of(function: Function) -> frozenset[str]:
    """The ids in the name and the docstring of a function."""
    named = (_IN_NAME.fullmatch(part) for part in function.name.split("_"))
    written = _IN_TEXT.finditer(ast.get_docstring(function) or "")
    return frozenset(f"{m[1].upper()}{m[2]}{m[3]}" for m in (*filter(None, named), *written))


def _holds_tests(file: Path) -> bool:
    return file.name.startswith("test_")


def _functions(text: str) -> list[Function]:
    gc.disable()  # the trees go by themselves: looking for garbage among them took half of the time
    try:
        return [node for node in statements_in(ast.parse(text)) if isinstance(node, Function)]
    finally:
        gc.enable()


def _asserting(functions: Sequence[Function], known: Set[str] = frozenset()) -> Set[str]:
    calls: dict[str, set[str]] = {}
    asserting = set(known)
    for function in functions:
        calls[function.name], itself = _called(function)
        if itself:
            asserting.add(function.name)
    while more := {name for name, called in calls.items() if name not in asserting and called & asserting}:
        asserting |= more
    return asserting


def _called(function: Function) -> tuple[set[str], bool]:
    """Whether a function asserts itself, and if it does not, the names that it calls."""
    if any(isinstance(node, ast.Assert) for node in statements_in(function)):
        return set(), True
    called = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    names = {each.id if isinstance(each, ast.Name) else each.attr for each in called if isinstance(each, _NAMED)}
    return names, any(name in _RAISING or name.startswith("assert") for name in names)
