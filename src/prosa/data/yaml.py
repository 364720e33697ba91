"""YAML 1.2 core with a span for every key and value (X1). In: text. Out: a `Reading`; never an exception.

The events come from libyaml, which makes them one by one, so nothing is built that a limit forbids. PyYAML is loaded
at the first reading: much that imports this folder reads no YAML.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from prosa.data.reading import Findings, Reading
from prosa.data.yaml_build import StopReading, TreeBuilder
from prosa.data.yaml_errors import add_syntax_problem
from prosa.data.yaml_shield import shield


def read_yaml(text: str, *, offset: int = 0) -> Reading:
    """The data of a YAML document, every span moved right by ``offset``.

    Problems: ``yaml-syntax``, ``duplicate-key``, ``complex-key``, ``custom-tag``, ``alias-bomb``, ``merge-key``,
    ``nested-too-deep``, ``several-documents``, ``lone-surrogate``. A text without data has no node.
    """
    from yaml import YAMLError

    if text.startswith("\ufeff"):
        text, offset = text[1:], offset + 1  # libyaml skips a byte-order mark without counting it
    findings = Findings(offset)
    shielded = shield(text, findings)
    builder = TreeBuilder(text, shielded, findings)
    parser = _parser_class()(shielded.text)
    try:
        _feed(parser, builder, findings)
    except StopReading:
        pass
    except YAMLError as error:
        add_syntax_problem(error, text, findings)
    finally:
        parser.dispose()
    return Reading(builder.close(), tuple(findings.problems))


def _parser_class() -> Any:
    """libyaml's parser, or PyYAML's own with the same events, ten times slower, where it was built without."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_HANDLERS: dict[str, Callable[[TreeBuilder, Any], None]] = {
    "MappingStartEvent": partial(TreeBuilder.on_start, mapping=True),
    "SequenceStartEvent": partial(TreeBuilder.on_start, mapping=False),
    "MappingEndEvent": TreeBuilder.on_end,
    "SequenceEndEvent": TreeBuilder.on_end,
    "AliasEvent": TreeBuilder.on_alias,
}


def _feed(parser: Any, builder: TreeBuilder, findings: Findings) -> None:
    documents = 0
    while True:
        event = parser.get_event()
        name = type(event).__name__
        if name == "ScalarEvent":  # most events are, and a `match` looks at one name after the other as well
            builder.on_scalar(event)
        elif name in _HANDLERS:
            _HANDLERS[name](builder, event)
        elif name == "DocumentStartEvent":
            documents += 1
            if documents > 1:
                notes = ("Only the first document was read.",)
                start, end = event.start_mark.index, event.end_mark.index
                findings.add("several-documents", "a second YAML document", start, end, notes=notes)
                return
        elif name == "StreamEndEvent":
            return
