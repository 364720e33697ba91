"""`second-footer`: another footer right in front of the last one (Y2)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, read_json
from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import is_blank
from prosa.rules.subject import Subject
from prosa.source import Span


def check(subject: Subject) -> Iterator[Problem]:
    """At the last block of the body, where it has `schema` and `index` as a footer has."""
    model: YmjModel = subject.model
    fence = model.document.fences[-1] if model.document.fences else None
    if model.footer is None or fence is None or fence.nested or fence.language.lower() != "json":
        return
    if not is_blank(subject.source.text[fence.span.end : model.body.end]):
        return
    node = read_json(model.document.fence_text(fence)).node
    if isinstance(node, Mapping) and node.entry("schema") is not None and node.entry("index") is not None:
        message = "two footers follow each other; only the last one is read"
        span = Span(fence.span.start, min(fence.span.end, fence.span.start + 7))
        yield Problem("second-footer", message, span, ("join the two, or remove one",))
