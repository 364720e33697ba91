"""What an action declares about its requests: pagination, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from prosa.data import Entry, Mapping, Node, span_at, to_value
from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import ActionModel, NodeModel, PaginationModel
from prosa.rules.mdh import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.schema import Schema

REPORTED = (RULES.reported("MH030", "bad-jsonpath", Severity.ERROR),)
"""What readers report by name."""


@RULES.document("MH031", "unknown-pagination", Severity.WARNING)
def unknown_pagination(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find a `pagination.type` other than `cursor`, the only one that is specified (H15). The finding points at the
    type."""
    for action in subject.model.actions:
        kind = action.pagination.type if action.pagination else None
        if kind is not None and kind.text != "cursor":
            message = f"the pagination `{shown(kind.text)}` of {action.title_for_people} is one that no client follows"
            yield Finding(message, kind.span, ("MDH specifies `cursor`",))


@RULES.document("MH032", "pagination-without-next", Severity.WARNING)
def pagination_without_next(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find pagination that only lets a client read the first page (H15, HA17). The finding points at the key
    `pagination`, or at the path of a cursor that is never sent."""
    for action in subject.model.actions:
        pages = action.pagination
        if pages is None or (pages.type is not None and pages.type.text != "cursor"):
            continue
        yield from _lacking(pages, action.title_for_people)


def _lacking(pages: PaginationModel, title: str) -> Iterator[Finding]:
    if pages.next_link is not None or (pages.next_cursor is not None and pages.cursor_param is not None):
        return
    if pages.next_cursor is not None:
        message = f"{title} gives a next cursor, and no `request.cursor_param` says how to send it"
        yield Finding(message, pages.next_cursor.span)
        return
    message = f"the pagination of {title} does not say where a response names the next page"
    notes = ("write `response.next_cursor_jsonpath` or `response.next_link_jsonpath`",)
    yield Finding(message, pages.span, notes)


@RULES.document("MH033", "undeclared-pagination-parameter", Severity.WARNING)
def undeclared_pagination_parameter(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find a cursor or limit that the query does not declare (H13, H15, HA11). The finding points at the name of the
    parameter. An action without `query` declares nothing, and is left alone."""
    for action in subject.model.actions:
        if action.pagination is None or action.query is None:
            continue
        for name in (action.pagination.cursor_param, action.pagination.limit_param):
            if name is None or name.text in action.query.names:
                continue
            guess = nearest(name.text, sorted(action.query.names))
            notes = (f"did you mean `{guess}`?",) if guess else ("add it to `query.optional`",)
            message = f"the parameter `{shown(name.text)}` of the pagination is not in `query`"
            meant = Misspelling(name.text, guess) if guess else None
            yield Finding(message, name.span, notes, misspelling=meant)


@RULES.document("MH040", "example-mismatch", Severity.WARNING)
def example_mismatch(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find an example that is not a valid request of its action (H11, H13, HA16). The finding points at the parameter,
    or at the place in the body.

    The specification does not define the form of an example; `query` and `body` are checked, directly in it or under
    `request`. Everything else in it is free.
    """
    for action in subject.model.actions:
        if action.examples:
            judge = _Judge(action)
            for example in action.examples:
                yield from judge.problems(example)


class _Judge:
    """The contract of one action; its schema is compiled for the first example with a body."""

    def __init__(self, action: ActionModel) -> None:
        self.action = action

    @cached_property
    def schema(self) -> Schema | None:
        from prosa.schema import Schema

        ref = self.action.body_schema
        if ref is None or ref.url is not None or not ref.valid:
            return None
        return Schema({"type": "object"} | ref.value)

    def problems(self, example: Node) -> Iterator[Finding]:
        """Yield the problems of one example."""
        if not isinstance(example, Mapping):
            return
        request = example.get("request")
        holder = request if isinstance(request, Mapping) else example
        query, body = holder.entry("query"), holder.entry("body")
        if query is not None and isinstance(query.value, Mapping) and self.action.query is not None:
            yield from self._query(query, query.value)
        if body is not None and self.schema is not None:
            for problem in self.schema.problems(to_value(body.value)):
                span = span_at(body.value, problem.pointer)
                yield self._problem(f"the body does not fit `body_schema`: {problem.message}", span)

    def _query(self, entry: Entry, query: Mapping) -> Iterator[Finding]:
        declared = self.action.query
        assert declared is not None
        for each in query:
            name = each.key.text
            if name not in declared.names and name not in self.action.path_names:
                guess = nearest(name, sorted(declared.names))
                notes = (f"did you mean `{guess}`?",) if guess else ()
                meant = Misspelling(name, guess) if guess else None
                yield self._problem(f"`{shown(name)}` is no parameter of it", each.key.span, notes, meant)
        given = {each.key.text for each in query}
        for needed in declared.required:
            if needed.text not in given:
                yield self._problem(f"the required parameter `{shown(needed.text)}` is missing", entry.key.span)

    def _problem(self, what: str, span: Span, notes: tuple[str, ...] = (), meant: Misspelling | None = None) -> Finding:
        message = f"an example of {self.action.title_for_people}: {what}"
        return Finding(message, span, notes, misspelling=meant)
