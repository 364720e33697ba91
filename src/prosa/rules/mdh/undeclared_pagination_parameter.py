"""`undeclared-pagination-parameter`: a cursor or limit that the query does not declare (H13, H15, HA11)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the name of the parameter. An action without `query` declares nothing, and is left alone."""
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
            yield Problem("undeclared-pagination-parameter", message, name.span, notes, misspelling=meant)
