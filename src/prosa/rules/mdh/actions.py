"""The actions of a node: what they call, how they authenticate, the forms of their fields, pagination and examples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, span_at, to_value
from prosa.diagnostics import Annotation, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import ActionModel, NodeModel, PaginationModel, Text
from prosa.dialects.mdh.read import changing_word
from prosa.rules.mdh import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import Edit, Span
from prosa.source.url import http_origin

if TYPE_CHECKING:
    from prosa.schema import Schema

REPORTED = (
    RULES.reported("MH001", "node-without-front-matter", Severity.ERROR),
    RULES.reported("MH002", "identifier-form", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MH003", "bare-url-target", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MH004", "single-action", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MH005", "method-case", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MH006", "relative-action-url", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MH030", "bad-jsonpath", Severity.ERROR),
)
"""What readers report by name."""


_ORIGIN_NOTE = "credentials of a site never go to another one, so clients refuse such a call"


@RULES.document("MH010", "cross-origin-action", Severity.ERROR)
def cross_origin_action(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find an action whose URL leads away from its site (H11, HA12). The finding points at the URL. It is a warning if
    the `canonical_url` of the node has the same origin: then a path means the same."""
    model = subject.model
    own = http_origin(model.canonical_url.text) if model.canonical_url else ""
    for action in model.actions:
        url = action.url
        if url is None or not ("://" in url.text or url.text.startswith("//")):
            continue
        if own and http_origin(url.text) == own:
            yield _absolute(url, own, subject)
        else:
            message = f"{action.title_for_people} calls `{shown(url.text)}`, which is not a path on this site"
            yield Finding(message, url.span, (_ORIGIN_NOTE, "write a path from the root of the site"))


def _absolute(url: Text, own: str, subject: Subject[NodeModel]) -> Finding:
    message = f"the URL `{shown(url.text)}` of an action is absolute; it is a path from the root of the site"
    written = subject.source.slice(url.span)
    at = written.find(url.text)
    path = url.text[len(own) :]
    fix = None
    if at >= 0 and path.startswith("/"):
        start = url.span.start + at
        fix = Fix("leave the host out", (Edit(Span(start, start + len(own)), ""),))
    return Finding(message, url.span, fix=fix, severity=Severity.WARNING)


@RULES.document("MH011", "parameter-declared-twice", Severity.WARNING)
def parameter_declared_twice(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find a parameter that an action declares in two places (H13, HA10). The finding points at the later one."""
    for action in subject.model.actions:
        yield from _of_action(action)


def _of_action(action: ActionModel) -> Iterator[Finding]:
    if action.query is None:
        return
    first: dict[str, tuple[str, Text | None]] = dict.fromkeys(action.path_names, ("the URL", action.url))
    for place, names in (("`required`", action.query.required), ("`optional`", action.query.optional)):
        for name in names:
            earlier, where = first.setdefault(name.text, (place, name))
            if where is name:
                continue
            message = f"the parameter `{shown(name.text)}` of {action.title_for_people} is already in {earlier}"
            notes = ("declare it once: a name in the URL is required by itself",) if where is action.url else ()
            annotations = (Annotation(where.span, "the first one"),) if where else ()
            yield Finding(message, name.span, notes, annotations)


@RULES.document("MH012", "body-of-get", Severity.WARNING)
def body_of_get(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find a GET action that declares a request body (H14, H17). The finding points at the schema, or at the content
    type where there is none."""
    for action in subject.model.actions:
        if action.verb != "GET":
            continue
        span = action.body_schema.node.span if action.body_schema else None
        if span is None and action.content_type:
            span = action.content_type.span
        if span is not None:
            message = f"{action.title_for_people} is a GET and has a body; servers and caches ignore it"
            notes = ("declare the values under `query`, or use POST where it changes something",)
            yield Finding(message, span, notes)


@RULES.document("MH013", "state-changing-get", Severity.WARNING)
def state_changing_get(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find a GET action whose name suggests that it changes something (H5, H17, HA19). The finding points at
    the method."""
    for action in subject.model.actions:
        if action.verb != "GET" or action.method is None:
            continue
        if word := changing_word(action.id.text if action.id else "", action.title.text if action.title else ""):
            message = f"{action.title_for_people} is a GET, and its name suggests a change: `{word}`"
            notes = ("a GET must have no side effects; use POST, PUT, PATCH or DELETE",)
            yield Finding(shown(message, 200), action.method.span, notes)


_AUTH_NOTE = "write `auth: {type: none}` for an action that anybody may call"


@RULES.document("MH020", "action-without-auth", Severity.WARNING)
def action_without_auth(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find an action that does not say how to authenticate (H21 SHOULD 6, HA14). The finding points at the first key of
    the action."""
    for action in subject.model.actions:
        if action.node.get("auth") is None:
            message = f"{action.title_for_people} has no `auth` (MDH conformance, SHOULD 6); no credentials are sent"
            yield Finding(message, action.anchor, (_AUTH_NOTE,))


_CSRF = "csrf"
_CSRF_NOTE = "MDH section 10.4: say in the action, under `csrf` for example, or in the text how to get the token"


@RULES.document("MH021", "undocumented-csrf", Severity.WARNING)
def undocumented_csrf(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find a state-changing action with a cookie and no word about CSRF (H12, H20, HA3). The finding points at the type
    of the authentication, where neither the action nor the text of the node speaks of CSRF."""
    model = subject.model
    concerned = [action for action in model.actions if _concerned(action)]
    if not concerned or _CSRF in subject.source.slice(model.body).lower():
        return
    for action in concerned:
        if action.auth and action.auth.type and not _speaks(action.node):
            message = f"{action.title_for_people} makes a change with a cookie and does not document CSRF protection"
            yield Finding(message, action.auth.type.span, (_CSRF_NOTE,))


def _concerned(action: ActionModel) -> bool:
    kind = action.auth.type if action.auth else None
    return kind is not None and kind.text == "cookie" and action.changes_state


def _speaks(node: Node) -> bool:
    if isinstance(node, Scalar):
        return _CSRF in node.text.lower()
    if isinstance(node, Sequence):
        return any(_speaks(item) for item in node.items)
    assert isinstance(node, Mapping)
    return any(_CSRF in entry.key.text.lower() or _speaks(entry.value) for entry in node)


@RULES.document("MH022", "oauth2-without-token-url", Severity.WARNING)
def oauth2_without_token_url(subject: Subject[NodeModel]) -> Iterator[Finding]:
    """Find `oauth2` without the place where a token comes from (H12, HA15). The finding points at the type of the
    authentication."""
    for action in subject.model.actions:
        auth = action.auth
        if auth and auth.type and auth.type.text == "oauth2" and not auth.token_url and not auth.token_help:
            message = f"{action.title_for_people} needs an OAuth2 token and does not say where one comes from"
            notes = ("write `token_url`, or say it in `token_help`",)
            yield Finding(message, auth.type.span, notes)


# What an action declares about its requests: pagination, and examples.


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
        if ref is None or not isinstance(ref.value, dict) or not ref.valid:
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
        for field in query:
            name = field.key.text
            if name not in declared.names and name not in self.action.path_names:
                guess = nearest(name, sorted(declared.names))
                notes = (f"did you mean `{guess}`?",) if guess else ()
                meant = Misspelling(name, guess) if guess else None
                yield self._problem(f"`{shown(name)}` is not a parameter of it", field.key.span, notes, meant)
        names = {field.key.text for field in query}
        for needed in declared.required:
            if needed.text not in names:
                yield self._problem(f"the required parameter `{shown(needed.text)}` is missing", entry.key.span)

    def _problem(self, what: str, span: Span, notes: tuple[str, ...] = (), meant: Misspelling | None = None) -> Finding:
        message = f"an example of {self.action.title_for_people}: {what}"
        return Finding(message, span, notes, misspelling=meant)
