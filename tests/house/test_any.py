"""Bare `Any` stands where a library forces it, and nowhere else; plain data is `Value` (docs/decisions/0082)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

from tests.house.tree import PACKAGE, modules, nodes_saying, statements

CALLER = "A caller knows what it has asked for, and a type checker cannot: such a result is as that of `json.loads`."

FORCED: dict[str, str] = {
    "__init__": "Names that load on first use have any type.",
    "adapters.agents.wires.exchange": CALLER,
    "adapters.mcp.connection": "The messages of the MCP library are dictionaries.",
    "adapters.mcp.skills": "Pydantic reads the answers of a server by the types of their fields.",
    "adapters.processes.job_object": "Functions and structures of a library of Windows have no types.",
    "adapters.providers": "Names that load on first use have any type.",
    "adapters.store.database": "A row has the columns that its statement names.",
    "adapters.store.opening": "A row has the columns that its statement names.",
    "adapters.store.postgres": "A row has the columns that its statement names.",
    "adapters.store.writer": "One queue holds work of every result.",
    "api.arguments": "The idle parameters of a coroutine.",
    "api.documents": CALLER,
    "api.mdh": CALLER,
    "api.testing": "The idle parameters of a coroutine.",
    "app.scripts.run": CALLER,
    "app.scripts.choose": "The keyword arguments that a record takes are of several types.",
    "cli.mcp": "The server of the MCP library is generic in a state that it does not use.",
    "cli.run.interaction": "The idle parameters of a coroutine.",
    "dialects.ymj.selectors": "RE2 has no types.",
    "evaluation.patterns": "RE2 has no types.",
    "mcp_server.server": "The MCP library is generic in a state that it does not use.",
    "mcp_server.skills": "The MCP library is generic in a state that it does not use.",
    "mcp_server.transport": "The messages of ASGI and of the MCP library are dictionaries.",
    "records.batch": CALLER,
    "records.summary": CALLER,
    "render.page.templates": "A template takes whatever its page puts into it.",
    "site.probe.gather": "Nodes are read by whatever names them as paths do.",
    "web.protocol": "The protocol classes of uvicorn have no types.",
    "web.run.result": "A task of any result is waited for.",
    "web.run.runner": "A task of any result is waited for.",
    "web.serving": "The protocol classes of uvicorn have no types.",
}


@cache
def bare() -> dict[str, int]:
    """How many lines of a module outside `data/` name `Any`."""
    found = {}
    for path in modules():
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        lines = set(_lines(nodes_saying(path, "Any")))
        if lines and not name.startswith("data"):
            found[name] = len(lines)
    return found


def _lines(found: Iterable[ast.AST]) -> Iterator[int]:
    for node in found:
        if isinstance(node, ast.Name) and node.id == "Any":
            yield node.lineno
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "Any]" in node.value:
            yield node.lineno


def test_any_stands_only_where_something_forces_it():
    assert sorted(bare().keys() - FORCED.keys()) == []


def test_no_reason_is_left_of_an_any_that_went():
    assert sorted(FORCED.keys() - bare().keys()) == []


LOOSE = frozenset(
    (
        *("__getattr__", "__eq__", "__ne__", "__setattr__", "__lt__"),  # what Python demands
        *("print_help", "get_extra_info", "last_context"),  # what libraries demand
    )
)
"""Functions that must take or give any object."""


def _is_object(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "object"


def _loose(found: Iterable[ast.AST]) -> Iterator[int]:
    """Lines where a parameter that is used, a result or a variable has the type `object`."""
    for node in found:
        if isinstance(node, ast.AnnAssign) and _is_object(node.annotation):
            yield node.lineno
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in LOOSE:
            continue
        given = node.args
        several = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        used = (each for each in several if each is not None and not each.arg.startswith("_"))
        yield from (each.lineno for each in used if _is_object(each.annotation))
        if _is_object(node.returns):
            yield node.lineno


def test_bare_object_stands_in_place_of_no_type():
    """`Value` is plain data; what may be anything at all is a type variable or a protocol."""
    found = {str(path.relative_to(PACKAGE)): lines for path in modules() if (lines := list(_loose(statements(path))))}
    assert {name: lines for name, lines in found.items() if not name.startswith("data")} == {}
