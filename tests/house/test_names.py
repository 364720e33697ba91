"""Variables and parameters are called what they hold: a diagnostic, a match, rows; not after how they came to be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import PACKAGE, modules, nodes

VAGUE = {"each", "found", "given", "said", "heard", "told", "around", "choices"}
"""They say that something was found or said, and not what it is."""

KEPT: dict[str, set[str]] = {
    "adapters/providers/chat.py": {"choices"},
    "adapters/providers/completion.py": {"choices"},
    **{name: {"given"} for name in ("app/check/gather.py", "app/check/project.py", "app/evals/load.py")},
    **{name: {"given"} for name in ("graph/sites.py", "corpus/moves/world.py", "adapters/sqlite/linking.py")},
    "adapters/agents/children.py": {"given"},
    **{name: {"found"} for name in ("app/corpus/open.py", "corpus/moves/checks.py")},
}
"""Modules, and which of them they use: a key of the format that they read, or a parameter that is passed by name."""


def test_variables_are_called_what_they_hold():
    vague = {
        path.relative_to(PACKAGE).as_posix(): names for path in modules() if (names := VAGUE.intersection(_bound(path)))
    }
    assert vague == KEPT


def _bound(path: Path) -> Iterator[str]:
    """The names of the variables and parameters of a module; fields of a class are none."""
    fields = {
        id(line.target)
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    }
    for node in nodes(path):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name is not None:
            yield node.name
