"""Names that mean something within one document: labels of links and footnotes, variables and inputs of a template,
scripts and their results, the speakers in a chat.

Two places of one kind and key are the same name. A variable of the same name in another scope is a different one. The
property in the schema defines an input; `required` and every lookup in the template refer to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.data import Mapping, Node, Scalar, Sequence, node_at
from prosa.dialects.magi.relationships import label_key
from prosa.dialects.markdownlang import ProgramModel
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MAGI, MARKDOWNLANG, PRAPTI
from prosa.document.model import Link
from prosa.regex import regex
from prosa.source import SourceText, Span
from prosa.template import Template, nodes
from prosa.template.values import Scope

_MENTION = regex(r"(?<![\w@./-])@(\w[\w.-]*)")
_SCRIPT_ID = regex(r'"script-id"[ \t]*:[ \t]*("[^"\\\r\n]*")')

NameKind: TypeAlias = Literal["label", "footnote", "variable", "input", "script", "speaker"]


class Name(Struct, frozen=True):
    """An occurrence of a name. ``span`` is shown, ``written`` is the part that a rename replaces; ``before`` and
    ``after`` are put around the new name. ``defines`` marks a definition; ``shown`` is the name in the author's
    spelling."""

    kind: NameKind
    key: str
    span: Span
    shown: str
    defines: bool = False
    written: Span | None = None
    before: str = ""
    after: str = ""

    @property
    def place(self) -> Span:
        """What another name replaces."""
        return self.span if self.written is None else self.written


def names_in(reading: DialectReading[object]) -> tuple[Name, ...]:
    """Return the names of a document, in the order of the text."""
    names = chain(_labels(reading), _footnotes(reading), _of_template(reading), _scripts(reading), _speakers(reading))
    return tuple(sorted(names, key=lambda name: (name.span.start, name.span.end)))


def name_at(names: tuple[Name, ...], offset: int) -> Name | None:
    """Return the name at an offset; behind its last character it still is there."""
    at = (name for name in names if name.span.start <= offset <= name.span.end)
    return min(at, key=lambda name: (len(name.span), offset == name.span.end), default=None)


def same_name(names: tuple[Name, ...], name: Name) -> tuple[Name, ...]:
    """Return every place of a name."""
    return tuple(other for other in names if (other.kind, other.key) == (name.kind, name.key))


def _labels(reading: DialectReading[object]) -> Iterator[Name]:
    document, source = reading.document, reading.front.source
    for definition in document.definitions:
        start = source.text.find("[", definition.span.start, definition.span.end) + 1
        span = Span(start, start + len(definition.label))
        if start and source.slice(span) == definition.label:
            yield Name("label", label_key(definition.label), span, definition.label, defines=True)
    for link in (*document.links, *document.images):
        if link.form == "reference" and link.label:
            yield _label(link, source)


def _label(link: Link, source: SourceText) -> Name:
    """Return the label of a link. Where the text is the label, a new one goes behind it: what readers see stays."""
    key, end = label_key(link.label), link.span.end
    if source.text.endswith("[]", link.span.start, end) and link.text_span.end + 3 == end:
        return Name("label", key, link.text_span, link.label, written=Span(end - 1, end - 1))
    if link.text_span.end + 1 == end:
        return Name("label", key, link.text_span, link.label, written=Span(end, end), before="[", after="]")
    return Name("label", key, Span(link.text_span.end + 2, end - 1), link.label)


def _footnotes(reading: DialectReading[object]) -> Iterator[Name]:
    document, source = reading.document, reading.front.source
    for reference in (*document.footnote_references, *document.undefined_footnotes):
        span = Span(reference.span.start + 2, reference.span.end - 1)
        yield Name("footnote", label_key(reference.label), span, source.slice(span))
    for one in document.footnote_definitions:
        start = source.text.find("[^", one.span.start, one.span.end) + 2
        end = source.text.find("]:", start, one.span.end)
        if start > 1 and end > start:
            span = Span(start, end)
            yield Name("footnote", label_key(source.slice(span)), span, source.slice(span), defines=True)


def _of_template(reading: DialectReading[object]) -> Iterator[Name]:
    model = reading.model_of(MARKDOWNLANG)
    if model is None:
        return
    if model.template is not None:
        for use in variables_in(model.template):
            span = use.span.shift(model.body_offset)
            yield Name("variable", use.key, span, span.of(model.source.text), defines=use.defines)
    for name in inputs_in(model):
        yield Name("input", name.key, name.span, name.shown, defines=name.defines)


def _scripts(reading: DialectReading[object]) -> Iterator[Name]:
    """Yield the ids of scripts, and the markers of their results."""
    model, source = reading.model_of(MAGI), reading.front.source
    for script in model.scripts if model is not None else ():
        span = script.fields.span("script-id")
        if script.script_id and span is not None:
            yield Name("script", script.script_id, span, script.script_id, defines=True)
    for region in model.regions if model is not None else ():
        match = _SCRIPT_ID.search(source.text, region.opening.start, region.opening.end)
        if match is not None:
            yield Name("script", region.script_id, Span(*match.span(1)), region.script_id)


def _speakers(reading: DialectReading[object]) -> Iterator[Name]:
    """Yield the named speakers in a chat, and the places that mention them (`@NAME`)."""
    model, text = reading.model_of(PRAPTI), reading.front.source.text
    known: set[str] = set()
    named = (
        [message for message in model.messages if message.name and message.heading is not None]
        if model is not None
        else []
    )
    for speaker in named:
        name = speaker.name or ""
        span = Span(max(speaker.role_span.end - len(name), 0), speaker.role_span.end)
        if span.of(text) == name:
            yield Name("speaker", name.lower(), span, name, defines=name.lower() not in known)
            known.add(name.lower())
    for message in model.messages if model is not None and known else ():
        for match in _MENTION.finditer(text, message.body.start, message.body.end):
            name = match[1] if match[1].lower() in known else match[1].rstrip(".-")
            if name.lower() in known and not reading.document.in_code(match.start()):
                yield Name("speaker", name.lower(), Span(match.start(1), match.start(1) + len(name)), name)


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
    walk = _VariableWalk(template.text)
    for body in (template.tree.body, *template.tree.defined.values()):
        walk.scope = Scope("")
        walk.body(body)
    return tuple(sorted(walk.found.values(), key=lambda use: use.span))


class _VariableWalk(Struct):
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
        matches = _DECLARED.finditer(self.text, pipeline.span.start, pipeline.span.end)
        for name, match in zip(pipeline.declares, matches, strict=False):
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
    words = [Span(*match.span()) for match in _WORD.finditer(text, span.start, span.end)]
    if len(words) >= len(steps) and all(
        word.of(text) == step for word, step in zip(words[len(words) - len(steps) :], steps, strict=True)
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
        yield from ((item, path) for item in _items(node.get(name)))
    if (items := node.get("items")) is not None:
        yield items, f"{path}/"
    ref = node.get("$ref")
    if isinstance(ref, Scalar) and ref.text.startswith("#/") and (target := _at(root, ref.text[1:])) is not None:
        yield target, path


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else ()


def _at(root: Node, pointer: str) -> Node | None:
    try:
        return node_at(root, pointer)
    except ValueError:
        return None
