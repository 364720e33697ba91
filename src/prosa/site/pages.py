"""From one page of an answer to the next (H15, H16, HA17). Pure: an answer and a state in, the next request out.

Only signals whose path is declared count. A next link is followed if declared and present; otherwise a cursor that is
neither null nor empty; the walk ends when every declared signal agrees. A cursor or link seen before and a link to
another origin end the walk with `PageProblem`.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urldefrag, urljoin

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value
from prosa.dialects.mdh.jsonpath import Parts
from prosa.site.contract import Contract
from prosa.site.problems import PageProblem
from prosa.site.request import Request
from prosa.source.url import MAX_URL, origin_of, requoted_path

MAX_PAGES = 1_000
"""Pages of one walk where the caller names no number: a listing without end must end somewhere."""

MAX_CURSOR = 4_096
"""Characters of a cursor."""

_ENVELOPE = ("page", "links", "query")


class Pages(Struct, frozen=True):
    """The state of a walk: the request of its current page, the number of pages requested, and the links followed."""

    request: Request
    count: int = 1
    seen: frozenset[str] = frozenset()
    limit: int = MAX_PAGES

    @property
    def full(self) -> bool:
        """Whether no further page may be requested."""
        return self.count >= self.limit


def next_page(contract: Contract, answer: Value, state: Pages) -> Pages | None:
    """Return the walk with its next request, or None at the last page. The caller checks the limit: `Pages.full`.

    Raises `PageProblem`.
    """
    pages = contract.pagination
    if pages is None:
        return None
    link = _signal(pages.next_link, answer, "next link")
    if link is not None:
        return _step(state, _linked(state.request, link), f"link {link}", "next link")
    cursor = _signal(pages.next_cursor, answer, "next cursor")
    if cursor is None:
        return None
    if not pages.cursor_param:
        raise PageProblem("the answer names a next cursor, but the action declares no `cursor_param` to send it in")
    query = [pair for pair in state.request.query if pair[0] != pages.cursor_param]
    request = replace(state.request, query=(*query, (pages.cursor_param, cursor)))
    return _step(state, request, f"cursor {cursor}", "cursor")


def items_of(answer: Value) -> list[Value]:
    """Return the items of a page: the answer where it is a list, else its only list beside `page`, `links` and `query`
    (H16); otherwise the answer is itself the only item."""
    if isinstance(answer, list):
        return answer
    if isinstance(answer, dict):
        lists = [value for name, value in answer.items() if isinstance(value, list) and name not in _ENVELOPE]
        if len(lists) == 1:
            return lists[0]
    return [answer]


def value_at(parts: Parts, answer: Value) -> Value:
    """Return what a singular path leads to, None where it leads nowhere (RFC 9535, HA18)."""
    for part in parts:
        if isinstance(part, str) and isinstance(answer, dict):
            answer = answer.get(part)
        elif isinstance(part, int) and isinstance(answer, list) and -len(answer) <= part < len(answer):
            answer = answer[part]
        else:
            return None
    return answer


def _step(state: Pages, request: Request, mark: str, what: str) -> Pages:
    if mark in state.seen:
        raise PageProblem(f"the {what} of page {state.count} was followed before: the listing is a cycle")
    return replace(state, request=request, count=state.count + 1, seen=state.seen | {mark})


def _signal(path: Parts | None, answer: Value, what: str) -> str | None:
    value = value_at(path, answer) if path is not None else None
    if value is None or value == "" or value is False:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise PageProblem(f"the {what} in the answer must be a text or null")
    text = str(value)
    if len(text) > (MAX_CURSOR if what == "next cursor" else MAX_URL) or any(char in text for char in "\r\n\0"):
        raise PageProblem(f"the {what} in the answer is too long, or has line ends")
    return text


def _linked(request: Request, link: str) -> Request:
    """Return the request of a next link; the credential goes along, since the origin is the same (HA12)."""
    try:
        url = urldefrag(urljoin(request.url, link))[0]
        origin = origin_of(url)
    except ValueError:
        raise PageProblem("the next link in the answer is not a URL that can be requested") from None
    if origin != request.origin:
        raise PageProblem(f"the next link leads to {origin}, another origin than {request.origin}; it is not followed")
    where, _, query = url.partition("?")
    return replace(request, url=requoted_path(where), query=tuple(parse_qsl(query, keep_blank_values=True)))
