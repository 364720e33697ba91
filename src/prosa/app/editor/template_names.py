"""The names in a template: its variables, each declared in a scope, and the inputs in the schema of the program.

In: a template, or the model of a program. Out: places. A variable of the same name in another scope is a different
one. The property in the schema defines an input; `required` and every lookup in the template refer to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from prosa.data import Mapping, Node, Scalar, Sequence, node_at
from prosa.dialects.markdownlang import ProgramModel
from prosa.regex import regex
from prosa.source import Span
from prosa.template import Template, nodes
from prosa.template.scope import Scope

MAX_NODES = 1_000
"""Maximum number of nested schemas that are visited; references may form cycles."""

_DECLARED = regex(r"\$\w+")
_WORD = regex(r"[^\W\d]\w*")


class VariableUse(Struct, frozen=True):
    """A variable where it is written, with its `$`, counted in the template. ``key`` tells variables apart."""

    key: str
    span: Span
    defines: bool


class InputName(Struct, frozen=True):
    """An input where it is written. ``key`` is its path: names with a `/` in front, `/` alone for any element."""

    key: str
    shown: str
    span: Span
    defines: bool = False


def variables_in(template: Template) -> tuple[VariableUse, ...]:
    """Return the variables of a template, in the order of the text."""
    walk = _Walk(template.text)
    for body in (template.tree.body, *template.tree.defined.values()):
        walk.scope = Scope("")
        walk.body(body)
    return tuple(sorted(walk.found.values(), key=lambda each: each.span))


class _Walk(Struct):
    """The state of one walk over a template."""

    text: str
    found: dict[Span, VariableUse] = field(default_factory=dict)
    scope: Scope[str] = field(default_factory=lambda: Scope(""))

    def body(self, body: nodes.Body) -> None:
        for node in body:
            match node:
                case nodes.Action():
                    self.pipeline(node.pipeline)
                case nodes.If() | nodes.With():
                    self.branch(node)
                case nodes.Range():
                    mark = self.scope.mark()
                    self.pipeline(node.pipeline)
                    self.body(node.body)
                    self.body(node.otherwise)
                    self.scope.leave(mark)
                case nodes.Call() if node.pipeline is not None:
                    self.pipeline(node.pipeline)
                case _:
                    pass

    def branch(self, node: nodes.If | nodes.With) -> None:
        mark = self.scope.mark()
        for arm in node.arms:
            self.pipeline(arm.pipeline)
            self.body(arm.body)
        self.body(node.otherwise)
        self.scope.leave(mark)

    def pipeline(self, pipeline: nodes.Pipeline) -> None:
        for command in pipeline.commands:
            for operand in command.operands:
                self.operand(operand)
        found = _DECLARED.finditer(self.text, pipeline.span.start, pipeline.span.end)
        for name, match in zip(pipeline.declares, found, strict=False):
            if match[0] != name:
                return
            if not pipeline.assigns:
                self.scope.declare(name, f"{name}@{match.start()}")
            self.note(name, Span(*match.span()), defines=not pipeline.assigns)

    def operand(self, operand: nodes.Operand) -> None:
        match operand:
            case nodes.Variable() if operand.name != "$":
                start = operand.span.start
                self.note(operand.name, Span(start, start + len(operand.name)))
            case nodes.Chain():
                self.operand(operand.operand)
            case nodes.Pipeline():
                self.pipeline(operand)
            case _:
                pass

    def note(self, name: str, span: Span, *, defines: bool = False) -> None:
        if name in self.scope and span.of(self.text) == name:
            self.found.setdefault(span, VariableUse(self.scope.get(name), span, defines))


def inputs_in(model: ProgramModel) -> Iterator[InputName]:
    """Yield all places in a program that name one of its inputs."""
    if model.input is not None:
        yield from _declared(model.input.node)
    if model.template is None:
        return
    for use in model.template.uses:
        if use.start >= len(use.path):
            continue
        steps = use.path[use.start :]
        spans = _steps(model.template.text, use.span, steps)
        for number, (step, span) in enumerate(zip(steps, spans, strict=False), start=use.start + 1):
            if step is not None:
                yield InputName(_key(use.path[:number]), step, span.shift(model.body_offset))


def _steps(text: str, span: Span, steps: tuple[str | None, ...]) -> Iterator[Span]:
    """Yield where each of the names of a lookup stands: the last words of `.a.b`, or a text in quotes."""
    words = [Span(*each.span()) for each in _WORD.finditer(text, span.start, span.end)]
    if len(words) >= len(steps) and all(
        each.of(text) == step for each, step in zip(words[len(words) - len(steps) :], steps, strict=True)
    ):
        yield from words[len(words) - len(steps) :]


def _key(path: tuple[str | None, ...]) -> str:
    return "".join(f"/{step or ''}" for step in path)


def _declared(root: Node) -> Iterator[InputName]:
    """Yield the properties that a schema declares, and where it requires them. Each node is visited once for
    each path."""
    waiting, seen = [(root, "")], set[tuple[Span, str]]()
    while waiting and len(seen) < MAX_NODES:
        node, path = waiting.pop(0)
        if not isinstance(node, Mapping) or (node.span, path) in seen:
            continue
        seen.add((node.span, path))
        for item in _items(node.get("required")):
            if isinstance(item, Scalar):
                yield InputName(f"{path}/{item.text}", item.text, item.span)
        properties = node.get("properties")
        for entry in properties if isinstance(properties, Mapping) else ():
            yield InputName(f"{path}/{entry.key.text}", entry.key.text, entry.key.span, defines=True)
        waiting += _below(node, path, root)


def _below(node: Mapping, path: str, root: Node) -> Iterator[tuple[Node, str]]:
    """Yield the schemas that a schema holds or names, each with the path that it describes."""
    properties = node.get("properties")
    for entry in properties if isinstance(properties, Mapping) else ():
        yield entry.value, f"{path}/{entry.key.text}"
    for name in ("allOf", "anyOf", "oneOf"):
        yield from ((each, path) for each in _items(node.get(name)))
    if (items := node.get("items")) is not None:
        yield items, f"{path}/"
    ref = node.get("$ref")
    if isinstance(ref, Scalar) and ref.text.startswith("#/") and (found := _at(root, ref.text[1:])) is not None:
        yield found, path


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else ()


def _at(root: Node, pointer: str) -> Node | None:
    try:
        return node_at(root, pointer)
    except ValueError:
        return None
