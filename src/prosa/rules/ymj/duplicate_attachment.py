"""`duplicate-attachment`: one `uri` twice in one list; the first counts (Y14)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping
from prosa.diagnostics import Annotation, Problem
from prosa.dialects.fields import shown
from prosa.dialects.ymj.attachments import text_in
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject
from prosa.source import Span


def check(subject: Subject) -> Iterator[Problem]:
    """At the second and every further one."""
    model: YmjModel = subject.model
    yield from _in(model.catalog_items)
    yield from _in(model.ops_items("attachments"))


def _in(items: tuple[Mapping, ...]) -> Iterator[Problem]:
    seen: dict[str, Span] = {}
    for item in items:
        uri, entry = text_in(item, "uri"), item.entry("uri")
        if uri is None or entry is None:
            continue
        first = seen.setdefault(uri, entry.value.span)
        if first is not entry.value.span:
            there = (Annotation(first, "listed first here"),)
            message = f"`{shown(uri)}` is listed twice; the first counts"
            yield Problem("duplicate-attachment", message, entry.value.span, annotations=there)
