"""YAML 1.2 core with a span for every key and value (X1). In: text. Out: a `Reading`; never an exception.

What most front matter holds is read line by line; what reads anything else is loaded with the first such text.
"""

from __future__ import annotations

from prosa.data.reading import Reading
from prosa.data.yaml_plain import read_plain_yaml


def read_yaml(text: str, *, offset: int = 0) -> Reading:
    """Return the data of a YAML document, every span moved right by ``offset``.

    Problems: ``yaml-syntax``, ``duplicate-key``, ``complex-key``, ``custom-tag``, ``alias-bomb``, ``merge-key``,
    ``nested-too-deep``, ``several-documents``, ``lone-surrogate``. A text without data has no node.
    """
    plain = read_plain_yaml(text, offset)
    if plain is not None:
        return Reading(plain)
    from prosa.data.yaml_events import read_events

    return read_events(text, offset)
