"""Read a context file: a source in, a `ContextModel` and problems out. It never fails and opens nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from msgspec.structs import replace

from prosa.data import Entry, Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.dialects.context.fields import ALL_NAMES, GLOB_FIELDS, TOOL_FIELDS, TWINS
from prosa.dialects.context.hosts import Use, fields_at, uses_of
from prosa.dialects.context.manifests import read_manifest
from prosa.dialects.context.mentions import commands_in, figures_in, imports_in, paths_in
from prosa.dialects.context.model import ContextModel, Named
from prosa.dialects.fields import Field, Owner, read_fields
from prosa.dialects.front import FrontReading
from prosa.dialects.plain import read as read_plain
from prosa.document import Document
from prosa.source import Span

ABOUT_HERE = frozenset({"instructions", "rule", "agent", "command"})
"""The kinds of file that speak of the project they are in."""

SAYING_THE_SAME = frozenset({"instructions", "rule"})
"""Those that hosts read together, so that the numbers in one may contradict those in another."""

_TITLES = {"agent": "an agent", "rule": "a rule", "command": "a command", "instructions": "instructions"}


def read(front: FrontReading, document: Document) -> tuple[ContextModel, tuple[Problem, ...]]:
    """Return the model and the problems of its front matter, or of its JSON."""
    path = PurePath(front.source.path).as_posix()
    markdown, _ = read_plain(front, document)
    model = ContextModel(markdown, path, uses_of(path), front.fields)
    if path.endswith(".json"):
        return read_manifest(front, model)
    here = bool(model.kinds & ABOUT_HERE)
    known = {field.name for field in fields_at(path)}
    model = replace(
        model,
        imports=imports_in(document),
        skills=tuple(_listed(front.fields, "skills")),
        agents=tuple(_agents(front.fields)),
        tools=tuple(named for name in TOOL_FIELDS if name in known for named in _listed(front.fields, name)),
        globs=tuple(named for name in _scopes(model.uses) for named in _listed(front.fields, name)),
        mentioned=paths_in(document) if here else (),
        commands=commands_in(document) if here else (),
        figures=figures_in(document) if model.kinds & SAYING_THE_SAME else (),
    )
    return model, tuple(_problems(front, model))


def _scopes(uses: tuple[Use, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(use.place.scope for use in uses if use.place.scope))


def _problems(front: FrontReading, model: ContextModel) -> Iterator[Problem]:
    table = fields_at(model.path)
    strict = next((use for use in model.uses if use.place.strict), None)
    if strict is not None and not front.present:
        yield Problem(
            "missing-field", f"{_title(model)} begins with front matter", front.anchor, severity=Severity.ERROR
        )
    if not table or front.fields is None:
        return
    owner = Owner(_title(model), front.anchor, unknown=Severity.INFO, complete=front.complete)
    is_template = PurePath(model.path).name.startswith("_")
    for problem in read_fields(front.fields, table, owner)[1]:
        adjusted = _meant(problem, front, table)
        severity = adjusted.severity if strict is None else Severity.ERROR
        if strict is None and adjusted.rule != "unknown-field":
            severity = Severity.WARNING
        yield replace(adjusted, severity=Severity.INFO if is_template else severity)


def _title(model: ContextModel) -> str:
    use = next(iter(model.uses), None)
    if use is None:
        return "such a file"
    return f"{_TITLES.get(use.place.kind, 'a file')} of {use.host.title}"


def _meant(problem: Problem, front: FrontReading, table: tuple[Field, ...]) -> Problem:
    """Return the problem of an unknown field with the field that was meant: the one that means the same here. A field
    of another kind of file is no misspelling, and neither is one beside the field that it resembles."""
    if problem.rule != "unknown-field":
        return problem
    written = front.source.slice(problem.span)
    names = {field.name for field in table}
    own = next((twin for group in TWINS if written in group for twin in group if twin in names), None)
    if own is not None:
        notes = (f"did you mean `{own}`?",)
        return replace(problem, notes=notes, misspelling=Misspelling(written, own), severity=None)
    guess = problem.misspelling.meant if problem.misspelling is not None else ""
    beside = front.fields is not None and front.fields.entry(guess) is not None
    if guess and (written in ALL_NAMES or beside):
        return replace(problem, notes=(), misspelling=None, severity=Severity.INFO)
    return problem


_BLANK = frozenset(" \t\r\n")
_COMMA = frozenset(",\r\n")


def _listed(fields: Mapping | None, name: str) -> Iterator[Named]:
    """Yield the items of a list, or of a text with commas between them; between names of tools blanks do too."""
    node = fields.get(name) if fields is not None else None
    if isinstance(node, Sequence):
        for item in node.items:
            if isinstance(item, Scalar) and item.value is not None:
                yield Named(item.text.strip(), item.span)
    elif isinstance(node, Scalar) and node.value is not None:
        yield from _split(node, _COMMA if name in GLOB_FIELDS else _COMMA | _BLANK)


def _split(node: Scalar, between: frozenset[str]) -> Iterator[Named]:
    """Yield the parts of a text; each has its own place where the text stands in the source as it is."""
    written = len(node.span) in (len(node.text), len(node.text) + 2)
    offset = node.span.start + (len(node.span) - len(node.text)) // 2
    for start, end in _parts(node.text, between):
        part = node.text[start:end]
        yield Named(part, Span(offset + start, offset + end) if written else node.span)


def _parts(text: str, between: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where the parts stand, without the blanks around them. What is in brackets is one part."""
    depth = start = 0
    for at, char in enumerate(f"{text},"):
        depth += (char in "({[") - (char in ")}]" and depth > 0)
        if at == len(text) or (char in between and depth == 0):
            part = text[start:at]
            if part.strip():
                yield at - len(part.lstrip()), at - len(part) + len(part.rstrip())
            start = at + 1


def _agents(fields: Mapping | None) -> Iterator[Named]:
    """Yield the agents that `agent`, `agents` and `handoffs` name."""
    yield from _listed(fields, "agents")
    yield from _named(fields.entry("agent") if fields is not None else None)
    handoffs: Node | None = fields.get("handoffs") if fields is not None else None
    for item in handoffs.items if isinstance(handoffs, Sequence) else ():
        if isinstance(item, Mapping):
            yield from _named(item.entry("agent"))


def _named(entry: Entry | None) -> Iterator[Named]:
    if entry is not None and isinstance(entry.value, Scalar) and entry.value.value is not None:
        yield Named(entry.value.text.strip(), entry.value.span)
