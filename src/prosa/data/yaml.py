"""YAML 1.2 core with a span for every key and value (X1). In: text. Out: a `Reading`; never an exception.

The events come from libyaml, which makes them one by one, so nothing is built that a limit forbids.
"""

from __future__ import annotations

from typing import Any, cast

import yaml

from prosa.data.reading import Findings, Reading
from prosa.data.yaml_build import StopReading, TreeBuilder
from prosa.data.yaml_errors import add_syntax_problem
from prosa.data.yaml_shield import shield

# The pure Python parser gives the same events, ten times slower, where PyYAML was built without libyaml.
_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str, *, offset: int = 0) -> Reading:
    """The data of a YAML document, every span moved right by ``offset``.

    Problems: ``yaml-syntax``, ``duplicate-key``, ``complex-key``, ``custom-tag``, ``alias-bomb``, ``merge-key``,
    ``nested-too-deep``, ``several-documents``, ``lone-surrogate``. A text without data has no node.
    """
    if text.startswith("\ufeff"):
        text, offset = text[1:], offset + 1  # libyaml skips a byte-order mark without counting it
    findings = Findings(offset)
    shielded = shield(text, findings)
    builder = TreeBuilder(text, shielded, findings)
    parser = _Parser(shielded.text)
    try:
        _feed(parser, builder, findings)
    except StopReading:
        pass
    except yaml.YAMLError as error:
        add_syntax_problem(error, text, findings)
    finally:
        parser.dispose()
    return Reading(builder.close(), tuple(findings.problems))


def _feed(parser: yaml.SafeLoader, builder: TreeBuilder, findings: Findings) -> None:
    documents = 0
    while True:
        event = parser.get_event()  # type: ignore[no-untyped-call]
        match event:
            case yaml.ScalarEvent():
                builder.on_scalar(event)
            case yaml.MappingStartEvent():
                builder.on_start(event, mapping=True)
            case yaml.SequenceStartEvent():
                builder.on_start(event, mapping=False)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                builder.on_end(event)
            case yaml.AliasEvent():
                builder.on_alias(event)
            case yaml.DocumentStartEvent():
                documents += 1
                if documents > 1:
                    first, last = cast("Any", event.start_mark), cast("Any", event.end_mark)
                    notes = ("Only the first document was read.",)
                    findings.add("several-documents", "a second YAML document", first.index, last.index, notes=notes)
                    return
            case yaml.StreamEndEvent():
                return
