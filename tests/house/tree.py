"""The files of the repository as the house tests see them: in comes nothing, out come paths and syntax trees.

Walks the folder, so it works in a copy without git; what git ignores is left out by name.
"""

from __future__ import annotations

import ast
import gc
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "prosa"

_IGNORED_FOLDERS = {".git", ".venv", "node_modules", "dist", "build", "__pycache__", ".hypothesis"}
_IGNORED_SUFFIXES = {".wasm", ".xz", ".cwasm", ".pyc"}


@cache
def files() -> tuple[Path, ...]:
    """Every file that is, or would be, committed."""
    return tuple(_files())


def _files() -> Iterator[Path]:
    for folder, names, members in os.walk(ROOT):
        names[:] = sorted(name for name in names if name not in _IGNORED_FOLDERS and not name.endswith("_cache"))
        members = sorted(name for name in members if name != ".git")  # in a work tree of git it is a file
        yield from (Path(folder, member) for member in members if Path(member).suffix not in _IGNORED_SUFFIXES)


@cache
def modules() -> tuple[Path, ...]:
    """The modules of the package."""
    return tuple(file for file in files() if file.suffix == ".py" and file.is_relative_to(PACKAGE))


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module. It is kept, and out of the garbage collection: else most of the time would go into
    looking through the trees that are there already."""
    gc.disable()
    try:
        return ast.parse(source(path))
    finally:
        gc.freeze()
        gc.enable()


@cache
def source(path: Path) -> str:
    """The text of a file."""
    return path.read_text(encoding="utf-8")


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the syntax tree of a module, as `ast.walk` gives them."""
    return tuple(ast.walk(parsed(path)))


def nodes_saying(path: Path, *words: str) -> tuple[ast.AST, ...]:
    """All nodes of a module whose text has one of these words, and else none: most modules need not be walked through
    for a node with such a name."""
    return nodes(path) if any(word in source(path) for word in words) else ()


@cache
def statements(path: Path) -> tuple[ast.stmt, ...]:
    """All statements of a module, a tenth of its nodes, in the order of `ast.walk`."""
    return statements_in(parsed(path))


def statements_in(node: ast.AST) -> tuple[ast.stmt, ...]:
    """All statements of a syntax tree. What is a statement stands in no expression."""
    found = [node]
    for each in found:
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            if isinstance(inner := getattr(each, part, None), list):
                found += inner
    return tuple(each for each in found if isinstance(each, ast.stmt))


class Outline(NamedTuple):
    """What is asked of every module: its docstring, and the line, the name and the length of each function."""

    docstring: str | None
    functions: tuple[tuple[int, str, int], ...]


@cache
def outline(path: Path) -> Outline:
    """The outline of a module. Only the trees of the package are kept."""
    tree = parsed(path) if path.is_relative_to(PACKAGE) else parsed.__wrapped__(path)
    functions = (each for each in statements_in(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    lengths = ((each.lineno, each.name, (each.end_lineno or 0) - each.lineno + 1) for each in functions)
    return Outline(ast.get_docstring(tree), tuple(lengths))


def named(path: Path) -> str:
    """A path as people read it, from the root of the repository."""
    return path.relative_to(ROOT).as_posix()
