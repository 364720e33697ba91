"""Instructions that come beside a document instead of in it (M3, M41): the envelope of an API, and a file of
instructions.

    {"markdown-content": "…", "ai-scripts": [{"id": "…", "prompt": "…"}, …]}

    [{"id": "…", "prompt": "…"}, …]    or    {"ai-scripts": [ … ]}    or one such object alone

An `id` is the `script-id` of the block. `to_envelope` takes the ai-script blocks out of a document; `from_envelope`
puts them in. A further key, `layout`, remembers where the blocks stood and how they were written: while text and
scripts are unchanged, the way back gives the original, byte for byte (MW5). `read_external` gives every script of a
file its place in the JSON text, and the same fields, problems and addresses as a block of a document. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Mapping as AbcMapping

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, Value, read_json
from prosa.diagnostics import Problem
from prosa.dialects.fields import type_name
from prosa.dialects.magi.embedded import Embedded, Pieces, about
from prosa.dialects.magi.model import Script
from prosa.dialects.magi.parts import (
    EnvelopeError,
    model_of,
    objects_of,
    put_back,
    removed_of,
    same,
    text_of,
    without_scripts,
    written,
)
from prosa.dialects.magi.scripts import LANGUAGE, address_of, fields_of
from prosa.document import Fence
from prosa.source import SourceText, Span

CONTENT, SCRIPTS = "markdown-content", "ai-scripts"

__all__ = ["EnvelopeError", "from_envelope", "read_external", "to_envelope"]


def to_envelope(text: str) -> dict[str, Value]:
    """Return the envelope of a document. Front matter and relationships stay in the text; a block that cannot be read
    is in the layout only."""
    model = model_of(text)
    cleaned = without_scripts(model)
    return {
        CONTENT: cleaned.text,
        SCRIPTS: [_outside(script.data) for script in model.scripts if script.data is not None],
        "layout": {"removed": [{"at": removed.at, "text": removed.text} for removed in cleaned.removed]},
    }


def from_envelope(envelope: AbcMapping[str, Value]) -> str:
    """Return the document of an envelope, with `id` or `script-id` in its scripts. Raises `EnvelopeError`."""
    if CONTENT not in envelope:
        raise EnvelopeError(f"an envelope has a `{CONTENT}`")
    content = text_of(envelope.get(CONTENT), CONTENT)
    scripts = [_inside(script) for script in objects_of(envelope.get(SCRIPTS), SCRIPTS)]
    removed = removed_of(envelope.get("layout"))
    if removed is not None:
        original = put_back(content, removed)
        again = to_envelope(original)
        if again[CONTENT] == content and same([_inside(item) for item in objects_of(again[SCRIPTS], SCRIPTS)], scripts):
            return original
    return written(None, content, scripts, [])


def _outside(data: AbcMapping[str, Value]) -> dict[str, Value]:
    """Return a script under the names of the envelope."""
    if "id" in data or "script-id" not in data:
        return dict(data)
    return {"id" if name == "script-id" else name: value for name, value in data.items()}


def _inside(data: AbcMapping[str, Value]) -> dict[str, Value]:
    """Return a script under the names of a block."""
    if "script-id" in data or "id" not in data:
        return dict(data)
    return {"script-id" if name == "id" else name: value for name, value in data.items()}


RULE = "script-syntax"
EXPECTED = f"instructions are a list of objects, or an object with `{SCRIPTS}`"


def read_external(source: SourceText) -> tuple[tuple[Script, ...], tuple[Problem, ...]]:
    """Return the scripts in order. What is no object is reported and left out."""
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
    """Return the scripts of a list, of an envelope, or the one script that the text is."""
    if isinstance(node, Mapping) and node.entry(SCRIPTS) is None and node.entry("prompt") is not None:
        return [node]
    scripts = node.get(SCRIPTS) if isinstance(node, Mapping) else node
    if isinstance(scripts, Sequence):
        return list(scripts.items)
    what = "an object without it" if isinstance(node, Mapping) and scripts is None else type_name(scripts or node)
    problems.append(Problem(RULE, f"{EXPECTED}; this is {what}", Span(node.span.start, node.span.start + 1)))
    return []


def _renamed(node: Mapping) -> Mapping:
    """Return the script under the names of a block: the envelope of the API calls its id `id`."""
    entry = node.entry("id")
    if entry is None or node.entry("script-id") is not None:
        return node
    key = Scalar("script-id", "script-id", entry.key.span, entry.key.style)
    renamed = tuple(Entry(key, field.value) if field is entry else field for field in node)
    return Mapping(renamed, node.span)


def _script(source: SourceText, node: Mapping, seen: set[str]) -> tuple[Script, tuple[Problem, ...]]:
    fields, problems = fields_of(Embedded(node, ()), source)
    line = source.position(node.span.start).line
    fence = Fence(LANGUAGE, node.span, (node.span,), nested=False)
    pieces = Pieces(source.slice(node.span), (node.span,), (0,))
    return Script(fence, pieces, node, fields, line, address_of(fields.text("script-id"), line, seen)), problems
