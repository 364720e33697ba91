"""Instructions that come beside a document instead of in it (M41): a JSON text in, scripts and their problems out.

    [{"id": "…", "prompt": "…"}, …]    or    {"ai-scripts": [ … ]}    or one such object alone

An `id` is the `script-id` of a block. Every script has its place in the JSON text, and the same fields, problems and
addresses as a block of a document. Nothing is run.
"""

from __future__ import annotations

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, read_json
from prosa.diagnostics import Problem
from prosa.dialects.fields import type_name
from prosa.dialects.magi.embedded import Embedded, about
from prosa.dialects.magi.envelope import SCRIPTS
from prosa.dialects.magi.model import Script
from prosa.dialects.magi.pieces import Pieces
from prosa.dialects.magi.scripts import LANGUAGE, address_of, fields_of
from prosa.document import Fence
from prosa.source import SourceText, Span

RULE = "script-syntax"
EXPECTED = f"instructions are a list of objects, or an object with `{SCRIPTS}`"


def read_external(source: SourceText) -> tuple[tuple[Script, ...], tuple[Problem, ...]]:
    """The scripts in order. What is no object is reported and left out."""
    reading = read_json(source.text.removeprefix("\ufeff"), offset=len(source.text) - len(source.text.lstrip("\ufeff")))
    problems = [about(problem, RULE, "the file of instructions") for problem in reading.problems]
    nodes = _nodes(reading.node, problems) if reading.node is not None else []
    scripts: list[Script] = []
    seen: set[str] = set()
    for node in nodes:
        if not isinstance(node, Mapping):
            problems.append(Problem(RULE, f"a script is an object, not {type_name(node)}", node.span))
            continue
        script, wrong = _script(source, _renamed(node), seen)
        scripts.append(script)
        problems += wrong
    return tuple(scripts), tuple(problems)


def _nodes(node: Node, problems: list[Problem]) -> list[Node]:
    """The scripts of a list, of an envelope, or the one script that the text is."""
    if isinstance(node, Mapping) and node.entry(SCRIPTS) is None and node.entry("prompt") is not None:
        return [node]
    found = node.get(SCRIPTS) if isinstance(node, Mapping) else node
    if isinstance(found, Sequence):
        return list(found.items)
    what = "an object without it" if isinstance(node, Mapping) and found is None else type_name(found or node)
    problems.append(Problem(RULE, f"{EXPECTED}; this is {what}", Span(node.span.start, node.span.start + 1)))
    return []


def _renamed(node: Mapping) -> Mapping:
    """The script under the names of a block: the envelope of the API calls its id `id`."""
    entry = node.entry("id")
    if entry is None or node.entry("script-id") is not None:
        return node
    key = Scalar("script-id", "script-id", entry.key.span, entry.key.style)
    renamed = tuple(Entry(key, each.value) if each is entry else each for each in node)
    return Mapping(renamed, node.span)


def _script(source: SourceText, node: Mapping, seen: set[str]) -> tuple[Script, tuple[Problem, ...]]:
    fields, problems = fields_of(Embedded(node, ()), source)
    line = source.position(node.span.start).line
    fence = Fence(LANGUAGE, node.span, (node.span,), nested=False)
    pieces = Pieces(source.slice(node.span), (node.span,), (0,))
    return Script(fence, pieces, node, fields, line, address_of(fields.text("script-id"), line, seen)), problems
