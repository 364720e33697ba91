"""The names of the data that a template looks up, and those that the input schema does not declare (X13). The tree is
walked once, with paths in place of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from msgspec import Struct, field

from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.schema.declared import Declarations
from prosa.source import Span
from prosa.template import nodes
from prosa.template.values import Scope

MAX_CALLS: Final = 1000
"""Different ways in which named templates are entered; beyond it they are followed no further."""

MAX_CALLED: Final = 20_000
"""Maximum number of visits to nodes of named templates, over all paths that enter them."""

MAX_PATH: Final = 64
"""Steps of a path: as deep as data may be (X9). What lies deeper has no path."""

Path: TypeAlias = tuple[str | None, ...]
Paths: TypeAlias = frozenset[Path]

_NOWHERE: Paths = frozenset()
_ROOT: Paths = frozenset({()})
_MAX_PATHS: Final = 8
"""Paths one value may have; a variable set in many branches has few."""


class NameUse(Struct, frozen=True):
    """One lookup: the whole path from the root of the data, and where it is in the template.

    The first ``start`` steps are those of the containing value; another lookup took them.
    """

    path: Path
    span: Span
    start: int = 0


def uses(tree: nodes.Tree) -> tuple[NameUse, ...]:
    """Return every lookup with a known path, in the order of the text, each place and path once."""
    walk = _Analysis(tree)
    walk.body(tree.body, _ROOT)
    walk.called()
    return tuple(sorted(dict.fromkeys(walk.found), key=lambda use: (use.span, [part or "" for part in use.path])))


class Positions(Struct, frozen=True):
    """Where a template puts the values that it looks up: their paths, by how they are used.

    ``printed`` values are inserted unchanged, a template iterates over the ``listed`` ones, and the ``given`` ones are
    arguments of functions, which may take any type. A condition tells nothing about its value.
    """

    printed: Paths
    listed: Paths
    given: Paths


def positions(tree: nodes.Tree) -> Positions:
    """Return the positions of the values whose path is known."""
    walk = _PositionWalk(tree)
    walk.body(tree.body, _ROOT)
    walk.called()
    return Positions(frozenset(walk.printed), frozenset(walk.listed), frozenset(walk.given))


class _Analysis(Struct):
    """The state of one analysis."""

    tree: nodes.Tree
    found: list[NameUse] = field(default_factory=list)
    scope: Scope[Paths] = field(default_factory=lambda: Scope(_ROOT))
    entered: dict[tuple[str, Paths], None] = field(default_factory=dict)
    left: int | None = None
    """Nodes that may still be visited; None in the text itself, which is visited once."""

    def called(self) -> None:
        """Visit the named templates, each once for each cursor it is called with."""
        self.left = MAX_CALLED
        done = 0
        while done < len(self.entered):
            for name, inner in list(self.entered)[done:]:
                self.scope = Scope(inner)
                self.body(self.tree.defined[name], inner)
                done += 1

    def body(self, body: nodes.Body, dot: Paths) -> None:
        for node in body:
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    return
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
        mark = self.scope.mark()
        for arm in node.arms:
            value = self.pipeline(arm.pipeline, dot)
            inner = self.scope.mark()
            self.body(arm.body, value if isinstance(node, nodes.With) else dot)
            self.scope.leave(inner)
        self.body(node.otherwise, dot)
        self.scope.leave(mark)

    def range(self, node: nodes.Range, dot: Paths) -> None:
        mark = self.scope.mark()
        value = self.pipeline(node.pipeline, dot, bind=False)
        element = self.step(value, (None,), node.span, noted=False)
        names = node.pipeline.declares
        bound = (element,) if len(names) == 1 else (_NOWHERE, element)
        for name, paths in zip(names, bound, strict=False):
            self.bind(name, paths, assigns=node.pipeline.assigns)
        inner = self.scope.mark()
        self.body(node.body, element)
        self.scope.leave(inner)
        self.body(node.otherwise, dot)
        self.scope.leave(mark)

    def call(self, node: nodes.Call, dot: Paths) -> None:
        inner = self.pipeline(node.pipeline, dot) if node.pipeline else _NOWHERE
        if node.name in self.tree.defined and len(self.entered) < MAX_CALLS:
            self.entered.setdefault((node.name, inner))

    def pipeline(self, pipeline: nodes.Pipeline, dot: Paths, *, bind: bool = True) -> Paths:
        value = _NOWHERE
        for at, command in enumerate(pipeline.commands):
            value = self.command(command, dot, value if at else None)
        if bind:
            for name in pipeline.declares:
                self.bind(name, value, assigns=pipeline.assigns)
        return value

    def bind(self, name: str, value: Paths, *, assigns: bool) -> None:
        """Bind a new variable, or one that may from now on also have this value."""
        if not assigns:
            self.scope.declare(name, value)
        elif name in self.scope:
            self.scope.assign(name, _some(self.scope.get(name) | value))

    def command(self, command: nodes.Command, dot: Paths, piped: Paths | None) -> Paths:
        first, *rest = command.operands
        arguments = [self.operand(operand, dot) for operand in rest]
        if not isinstance(first, nodes.Word):
            return self.operand(first, dot)
        return self.function(first.name, rest, arguments, piped)

    def function(self, name: str, operands: list[nodes.Operand], arguments: list[Paths], piped: Paths | None) -> Paths:
        """Return the result of a function if it is a part of its argument."""
        everything = [*arguments, *([piped] if piped is not None else [])]
        if name in ("and", "or", "default"):
            return _some(frozenset().union(*everything))
        if name == "slice" and everything:
            return piped if piped is not None else everything[0]
        if name == "index" and arguments:
            return self.index(operands[1:], arguments[0])
        return _NOWHERE

    def index(self, steps: list[nodes.Operand], value: Paths) -> Paths:
        for step in steps:
            name = step.value if isinstance(step, nodes.Literal) and isinstance(step.value, str) else None
            value = self.step(value, (name,), step.span, noted=name is not None)
        return value

    def operand(self, operand: nodes.Operand, dot: Paths) -> Paths:
        match operand:
            case nodes.Dot():
                return dot
            case nodes.Field():
                return self.lookup(dot, operand.names, operand.span)
            case nodes.Variable():
                value = self.scope.get(operand.name) if operand.name in self.scope else _NOWHERE
                return self.lookup(value, operand.names, operand.span)
            case nodes.Chain():
                return self.lookup(self.operand(operand.operand, dot), operand.names, operand.span)
            case nodes.Pipeline():
                return self.pipeline(operand, dot)
            case _:
                return _NOWHERE

    def lookup(self, value: Paths, names: tuple[str, ...], span: Span) -> Paths:
        return self.step(value, names, span, noted=True) if names else value

    def step(self, value: Paths, names: Path, span: Span, *, noted: bool) -> Paths:
        """Return the paths some steps further. Nothing lies deeper than data may be."""
        extended = [(path, (*path, *names[: MAX_PATH + 1])[: MAX_PATH + 1]) for path in value]
        if noted:
            self.found += [NameUse(longer, span, len(path)) for path, longer in extended]
        return frozenset(longer for _, longer in extended if len(longer) <= MAX_PATH)


_CONDITIONS: Final = frozenset(("and", "or", "not"))


class _PositionWalk(_Analysis):
    """An analysis that records how each value is used."""

    printed: set[Path] = field(default_factory=set)
    listed: set[Path] = field(default_factory=set)
    given: set[Path] = field(default_factory=set)

    def node(self, node: nodes.Node, dot: Paths) -> None:
        super().node(node, dot)
        if isinstance(node, nodes.Action) and not node.pipeline.declares and _is_bare(node.pipeline):
            self.printed |= self.pipeline(node.pipeline, dot)

    def range(self, node: nodes.Range, dot: Paths) -> None:
        if _is_bare(node.pipeline):
            self.listed |= self.pipeline(node.pipeline, dot, bind=False)
        super().range(node, dot)

    def function(self, name: str, operands: list[nodes.Operand], arguments: list[Paths], piped: Paths | None) -> Paths:
        if name not in _CONDITIONS:
            self.given.update(*arguments, piped or _NOWHERE)
        return super().function(name, operands, arguments, piped)


def _is_bare(pipeline: nodes.Pipeline) -> bool:
    """Return whether a pipeline is a value alone, without a function."""
    command = pipeline.commands[0]
    return len(pipeline.commands) == len(command.operands) == 1 and not isinstance(command.operands[0], nodes.Word)


def _some(paths: Paths) -> Paths:
    return paths if len(paths) <= _MAX_PATHS else _NOWHERE


# Names a template uses and the input schema does not declare (X13).

MAX_SUGGESTIONS: Final = 50
"""Maximum number of names that are compared with known ones: each comparison takes milliseconds."""


class Undeclared(Struct, frozen=True):
    """A name the schema does not declare. ``name`` is dotted, ``[]`` standing for any element.

    ``closed`` says that the schema allows no other names there; ``suggestion`` is a declared name like it.
    """

    name: str
    span: Span
    closed: bool
    suggestion: str | None


class WithUses(Protocol):
    """A template that tells which names it uses."""

    @property
    def uses(self) -> Sequence[NameUse]:
        """The uses in the order in which they stand."""
        ...


def undeclared(template: WithUses, schema: Mapping[str, Value] | bool) -> tuple[Undeclared, ...]:
    """Return the undeclared names of a template, in the order they stand, each place and name once.

    Lookups inside an undeclared value are not reported again.
    """
    declarations = Declarations(schema)
    names: dict[Undeclared, None] = {}
    suggestions: dict[str, str | None] = {}
    for use in template.uses:
        missing = declarations.missing(use.path)
        if missing is None or (missing.depth < use.start and use.path[missing.depth] is not None):
            continue
        dotted = ".".join(part if part is not None else "[]" for part in use.path[: missing.depth + 1])
        if dotted not in suggestions and len(suggestions) < MAX_SUGGESTIONS:
            suggestions[dotted] = nearest(missing.name, missing.declared)
        names[Undeclared(dotted, use.span, missing.closed, suggestions.get(dotted))] = None
    return tuple(names)
