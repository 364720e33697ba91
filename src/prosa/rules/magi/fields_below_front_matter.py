"""`fields-below-front-matter`: the front matter holds nothing, and its fields stand in a second block below it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.data import Mapping, read_yaml
from prosa.data.limits import MAX_FRONT_MATTER_BYTES
from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.magi.fields import FRONT, squashed
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject
from prosa.source import Edit, Span

_BLANK = re.compile(r"\s*")
_CLOSE = re.compile(r"(?:\r\n|\n|\r)---(?=[\r\n]|\Z)")
_KNOWN = frozenset(squashed(field.name) for field in FRONT)


def check(subject: Subject) -> Iterator[Problem]:
    """At the fence that ends the front matter too early."""
    model: MagiModel = subject.model
    front = model.front
    if not has_fields_below(model):
        return
    fence = front.source.text.rfind("---", 0, front.body.start)
    edit = Edit(Span(fence, front.body.start), "")
    fix = Fix("remove the fence between the two blocks", (edit,), Applicability.UNSAFE)
    message = "the front matter ends here without a field; what follows looks like its fields but is body text"
    notes = ("front matter is one block, closed by the first line that is exactly `---`",)
    yield Problem("fields-below-front-matter", message, Span(fence, fence + 3), notes, fix=fix)


def has_fields_below(model: MagiModel) -> bool:
    """Whether the front matter is empty and the block below it holds fields of MAGI."""
    front, text = model.front, model.source.text
    if front.fields is None or front.fields.entries or not front.present:
        return False
    blank = _BLANK.match(text, model.front.body.start)
    start = blank.end() if blank else model.front.body.start
    close = _CLOSE.search(text, start, start + MAX_FRONT_MATTER_BYTES)
    if close is None:
        return False
    reading = read_yaml(text[start : close.start()])
    fields = reading.node if isinstance(reading.node, Mapping) and not reading.problems else ()
    return any(squashed(entry.key.text) in _KNOWN for entry in fields)
