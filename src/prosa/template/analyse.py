"""Which names of the data a template looks up: the tree walked once with paths in place of values (X13).

In: a tree. Out: paths from the root, with spans. A path step None stands for any element of a list or map. What a
function computes has no path; it is followed no further, so nothing is claimed that is not certain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from prosa.source import Span
from prosa.template import nodes

MAX_CALLS = 1000
"""Different ways in which named templates are entered; beyond it they are followed no further."""

Path: TypeAlias = tuple[str | None, ...]
Paths: TypeAlias = frozenset[Path]

_NOWHERE: Paths = frozenset()
_ROOT: Paths = frozenset({()})
_MAX_PATHS = 32
"""Paths one value may have; a variable set in many branches has few."""


@dataclass(frozen=True, slots=True)
class NameUse:
    """One lookup: the whole path from the root of the data, and where it stands in the template."""

    path: Path
    span: Span


def uses(tree: nodes.Tree) -> tuple[NameUse, ...]:
    """Every lookup whose path is known, in the order of the text, each place and path once."""
    walk = _Walk(tree)
    walk.scope.append(("$", _ROOT))
    walk.body(tree.body, _ROOT)
    return tuple(sorted(dict.fromkeys(walk.found), key=lambda use: (use.span, [part or "" for part in use.path])))


@dataclass(slots=True)
class _Walk:
    """The state of one analysis."""

    tree: nodes.Tree
    found: list[NameUse] = field(default_factory=list)
    scope: list[tuple[str, Paths]] = field(default_factory=list)
    entered: set[tuple[str, Paths]] = field(default_factory=set)

    def body(self, body: nodes.Body, dot: Paths) -> None:
        for node in body:
            self.node(node, dot)

    def node(self, node: nodes.Node, dot: Paths) -> None:
        match node:
            case nodes.Action():
                self.pipeline(node.pipeline, dot)
            case nodes.If() | nodes.With():
                self.branch(node, dot)
            case nodes.Range():
                self.range(node, dot)
            case nodes.Call():
                self.call(node, dot)
            case _:
                pass

    def branch(self, node: nodes.If | nodes.With, dot: Paths) -> None:
        mark = len(self.scope)
        value = self.pipeline(node.pipeline, dot)
        self.body(node.body, value if isinstance(node, nodes.With) else dot)
        self.body(node.otherwise, dot)
        del self.scope[mark:]

    def range(self, node: nodes.Range, dot: Paths) -> None:
        mark = len(self.scope)
        value = self.pipeline(node.pipeline, dot, bind=False)
        element = frozenset((*path, None) for path in value)
        names = node.pipeline.declares
        bound = (element,) if len(names) == 1 else (_NOWHERE, element)
        for name, paths in zip(names, bound, strict=False):
            self.bind(name, paths, assigns=node.pipeline.assigns)
        self.body(node.body, element)
        self.body(node.otherwise, dot)
        del self.scope[mark:]

    def call(self, node: nodes.Call, dot: Paths) -> None:
        inner = self.pipeline(node.pipeline, dot) if node.pipeline else _NOWHERE
        key = (node.name, inner)
        body = self.tree.defined.get(node.name)
        if body is None or key in self.entered or len(self.entered) >= MAX_CALLS:
            return
        self.entered.add(key)
        outer, self.scope = self.scope, [("$", inner)]
        self.body(body, inner)
        self.scope = outer

    def pipeline(self, pipeline: nodes.Pipeline, dot: Paths, *, bind: bool = True) -> Paths:
        value = _NOWHERE
        for at, command in enumerate(pipeline.commands):
            value = self.command(command, dot, value if at else None)
        if bind:
            for name in pipeline.declares:
                self.bind(name, value, assigns=pipeline.assigns)
        return value

    def bind(self, name: str, value: Paths, *, assigns: bool) -> None:
        """A new variable, or one that may from now on also be this."""
        if not assigns:
            self.scope.append((name, value))
            return
        for at in range(len(self.scope) - 1, -1, -1):
            if self.scope[at][0] == name:
                self.scope[at] = (name, _some(self.scope[at][1] | value))
                return

    def command(self, command: nodes.Command, dot: Paths, piped: Paths | None) -> Paths:
        first, *rest = command.operands
        arguments = [self.operand(operand, dot) for operand in rest]
        if not isinstance(first, nodes.Word):
            return self.operand(first, dot)
        return self.function(first.name, rest, arguments, piped)

    def function(self, name: str, operands: list[nodes.Operand], given: list[Paths], piped: Paths | None) -> Paths:
        """What a function gives, where that is a part of what it takes."""
        everything = [*given, *([piped] if piped is not None else [])]
        if name in ("and", "or", "default"):
            return _some(frozenset().union(*everything))
        if name == "slice" and everything:
            return piped if piped is not None else everything[0]
        if name == "index" and given:
            return self.index(operands[1:], given[0])
        return _NOWHERE

    def index(self, steps: list[nodes.Operand], value: Paths) -> Paths:
        for step in steps:
            name = step.value if isinstance(step, nodes.Literal) and isinstance(step.value, str) else None
            value = frozenset((*path, name) for path in value)
            if name is not None:
                self.note(value, step.span)
        return value

    def operand(self, operand: nodes.Operand, dot: Paths) -> Paths:
        match operand:
            case nodes.Dot():
                return dot
            case nodes.Field():
                return self.lookup(dot, operand.names, operand.span)
            case nodes.Variable():
                value = next((paths for name, paths in reversed(self.scope) if name == operand.name), _NOWHERE)
                return self.lookup(value, operand.names, operand.span)
            case nodes.Chain():
                return self.lookup(self.operand(operand.operand, dot), operand.names, operand.span)
            case nodes.Pipeline():
                return self.pipeline(operand, dot)
            case _:
                return _NOWHERE

    def lookup(self, value: Paths, names: tuple[str, ...], span: Span) -> Paths:
        found = frozenset((*path, *names) for path in value)
        if names:
            self.note(found, span)
        return found

    def note(self, paths: Paths, span: Span) -> None:
        self.found += [NameUse(path, span) for path in paths]


def _some(paths: Paths) -> Paths:
    return paths if len(paths) <= _MAX_PATHS else _NOWHERE
