"""`pagination` of an action (H15, HA17, HA18): how to ask for the next page, and where a response names it."""

from __future__ import annotations

from prosa.data import Entry, Mapping
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Field, Owner, read_fields, shown
from prosa.dialects.mdh.fields import PAGINATION, REQUEST, RESPONSE
from prosa.dialects.mdh.jsonpath import JsonPathError, parse_jsonpath
from prosa.dialects.mdh.model import PaginationModel, Text
from prosa.source import SourceText, Span

_RFC = "JSONPath is RFC 9535 here, and a path leads to one value: `$.page.next_cursor`, `$['a b'][0]`"


def read_pagination(entry: Entry | None, source: SourceText) -> tuple[PaginationModel | None, tuple[Problem, ...]]:
    """The pagination of an action."""
    if entry is None or not isinstance(entry.value, Mapping):
        return None, ()
    top, problems = _fields(entry, PAGINATION, "pagination")
    request, request_problems = _fields(top.get("request"), REQUEST, "pagination.request")
    response, response_problems = _fields(top.get("response"), RESPONSE, "pagination.response")
    texts = {name: Text.of(each.value) for name, each in response.items()}  # type: ignore[arg-type]
    path_problems = [problem for name, text in texts.items() if (problem := _path_problem(name, text, source))]
    model = PaginationModel(
        type=_text(top.get("type")),
        cursor_param=_text(request.get("cursor_param")),
        limit_param=_text(request.get("limit_param")),
        next_cursor=texts.get("next_cursor_jsonpath"),
        prev_cursor=texts.get("prev_cursor_jsonpath"),
        next_link=texts.get("next_link_jsonpath"),
        self_link=texts.get("self_link_jsonpath"),
        span=entry.key.span,
    )
    return model, (*problems, *request_problems, *response_problems, *path_problems)


def _fields(entry: Entry | None, table: tuple[Field, ...], name: str) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    if entry is None or not isinstance(entry.value, Mapping):
        return {}, ()
    owner = Owner(f"`{name}`", entry.key.span, f"{name.split('.')[-1]}.", unknown=Severity.INFO)
    return read_fields(entry.value, table, owner)


def _text(entry: Entry | None) -> Text | None:
    return Text.of(entry.value) if entry is not None else None  # type: ignore[arg-type]


def _path_problem(name: str, path: Text, source: SourceText) -> Problem | None:
    try:
        parse_jsonpath(path.text)
    except JsonPathError as error:
        span = _inside(path, error.offset, source)
        return Problem("bad-jsonpath", f"the path `{shown(path.text)}` in `{name}` {error.message}", span, (_RFC,))
    return None


def _inside(path: Text, offset: int, source: SourceText) -> Span:
    """The character at which a path goes wrong, or all of it where quotes and escapes hide the place."""
    written = source.slice(path.span)
    at = written.find(path.text)
    if at < 0 or at > 1:
        return path.span
    start = path.span.start + at + min(offset, len(path.text))
    return Span(start, min(start + 1, path.span.end))
