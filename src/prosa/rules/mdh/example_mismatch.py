"""`example-mismatch`: an example that is no request of its action (H11, H13, HA16).

The specification does not say what an example looks like; `query` and `body` are looked at, directly in it or under
`request`. Everything else in it is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from prosa.data import Entry, Mapping, Node, span_at, to_value
from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import ActionModel
from prosa.rules.subject import Subject
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.schema import Schema


def check(subject: Subject) -> Iterator[Problem]:
    """At the parameter, or at the place in the body."""
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

    def problems(self, example: Node) -> Iterator[Problem]:
        """What is wrong with one example."""
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

    def _query(self, entry: Entry, query: Mapping) -> Iterator[Problem]:
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

    def _problem(self, what: str, span: Span, notes: tuple[str, ...] = (), meant: Misspelling | None = None) -> Problem:
        message = f"an example of {self.action.title_for_people}: {what}"
        return Problem("example-mismatch", message, span, notes, misspelling=meant)
