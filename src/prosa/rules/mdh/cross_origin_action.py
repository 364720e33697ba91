"""`cross-origin-action`: an action whose URL leads away from its site (H11, HA12)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem, Severity
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import NodeModel, Text
from prosa.dialects.mdh.url import origin_of
from prosa.rules.subject import Subject
from prosa.source import Edit, Span

_NOTE = "credentials of a site never go to another one, so clients refuse such a call"


def check(subject: Subject) -> Iterator[Problem]:
    """At the URL. A warning where the `canonical_url` of the node has the same origin: then a path says the same."""
    model: NodeModel = subject.model
    own = origin_of(model.canonical_url.text) if model.canonical_url else ""
    for action in model.actions:
        url = action.url
        if url is None or not ("://" in url.text or url.text.startswith("//")):
            continue
        if own and origin_of(url.text) == own:
            yield _absolute(url, own, subject)
        else:
            message = f"{action.title_for_people} calls `{shown(url.text)}`, which is no path on this site"
            yield Problem("cross-origin-action", message, url.span, (_NOTE, "write a path from the root of the site"))


def _absolute(url: Text, own: str, subject: Subject) -> Problem:
    message = f"the URL `{shown(url.text)}` of an action is absolute; it is a path from the root of the site"
    written = subject.source.slice(url.span)
    at = written.find(url.text)
    path = url.text[len(own) :]
    fix = None
    if at >= 0 and path.startswith("/"):
        start = url.span.start + at
        fix = Fix("leave the host out", (Edit(Span(start, start + len(own)), ""),))
    return Problem("cross-origin-action", message, url.span, fix=fix, severity=Severity.WARNING)
