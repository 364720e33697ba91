"""Where the tests of a program give it an input: the same name as in its schema and its template.

In: the corpus of a workspace, a program, the key of an input (`template_names.InputName`). Out: places in tests.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from prosa.app.editor.corpus import EditorCorpus
from prosa.corpus.moves.writing import Syntax
from prosa.data import Mapping, Node, Sequence
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import TEST
from prosa.source import FileProblem, Span


class GivenInput(Struct, frozen=True):
    """A key of the test document at ``path``, and how keys are written there."""

    path: str
    span: Span
    syntax: Syntax


def tested_inputs(corpus: EditorCorpus, path: str, key: str) -> Iterator[GivenInput]:
    """Yield the places where tests of the program at ``path`` give an input."""
    tests = dict.fromkeys(other for other, each in corpus.backlinks(path) if each.rel == "tests")
    for other in tests:
        try:
            reading = corpus.reading(other)
        except FileProblem:
            continue
        yield from _given(other, reading, key)


def _given(path: str, reading: DialectReading[object], key: str) -> Iterator[GivenInput]:
    model = reading.model_of(TEST)
    for case in model.cases if model is not None else ():
        block = case.blocks.get("input")
        if block is not None and block.node is not None:
            syntax: Syntax = "json" if block.language == "json" else "yaml"
            for span in _keys(block.node, tuple(key.split("/")[1:])):
                yield GivenInput(path, span, syntax)


def _keys(node: Node, steps: tuple[str, ...]) -> Iterator[Span]:
    """Yield the keys at the end of a path; an empty step means every element of a list."""
    if not steps:
        return
    if steps[0] == "":
        for item in node.items if isinstance(node, Sequence) else ():
            yield from _keys(item, steps[1:])
        return
    entry = node.entry(steps[0]) if isinstance(node, Mapping) else None
    if entry is not None and len(steps) == 1:
        yield entry.key.span
    elif entry is not None:
        yield from _keys(entry.value, steps[1:])
