"""`pagination-without-next`: pages of which a client can only read the first (H15, HA17)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.mdh.model import PaginationModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the key `pagination`, or at the path of a cursor that nothing sends."""
    for action in subject.model.actions:
        pages = action.pagination
        if pages is None or (pages.type is not None and pages.type.text != "cursor"):
            continue
        yield from _of(pages, action.title_for_people)


def _of(pages: PaginationModel, title: str) -> Iterator[Problem]:
    if pages.next_link is not None or (pages.next_cursor is not None and pages.cursor_param is not None):
        return
    if pages.next_cursor is not None:
        message = f"{title} gives a next cursor, and no `request.cursor_param` says how to send it"
        yield Problem("pagination-without-next", message, pages.next_cursor.span)
        return
    message = f"the pagination of {title} does not say where a response names the next page"
    notes = ("write `response.next_cursor_jsonpath` or `response.next_link_jsonpath`",)
    yield Problem("pagination-without-next", message, pages.span, notes)
