"""`first_fenced:<lang>`, `nth_fenced:<lang>:<n>` and `block_id:<id>` (Y27, YA14, YA15). Fences come from the one parse
of the body, so the footer is never among them and a fence quoted inside a longer one does not count."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice

from prosa.dialects.ymj.body import normalised
from prosa.dialects.ymj.selectors.selector import BadSelector, Body, Finder, Target
from prosa.document import Document, Fence

_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_BRACES = re.compile(r"\{([^{}]*)\}")
_ID_WORD = re.compile(r"#([^\s{}#.]+)")
_ID_PAIR = re.compile(r"""(?:^|[\s{,])id\s*=\s*("[^"]*"|'[^']*'|[^\s{},"']+)""")
_COMMENT = re.compile(r"<!--\s*block_id\s*:\s*(.*?)\s*-->", re.DOTALL)


def first_fenced(rest: str) -> Finder:
    """The first fence of a language."""
    return _nth(_language(rest), 1)


def nth_fenced(rest: str) -> Finder:
    """The n-th fence of a language, counted from 1."""
    name, colon, number = rest.rpartition(":")
    if not colon or not _NUMBER.fullmatch(number.strip()):
        raise BadSelector("ends with `:` and a number that counts from 1, `nth_fenced:csv:2` for example")
    return _nth(_language(name), int(number))


def block_id(rest: str) -> Finder:
    """The fence with an id: `{#id}` or `id=…` in its info string, or a comment `block_id: id` right before it."""
    name = rest.strip()
    if not name or re.search(r"\s", name):
        raise BadSelector("needs an id without spaces, `block_id:prices` for example")

    def find(body: Body) -> Target | None:
        by_comment = _commented(body.document)
        for fence in body.document.fences:
            if name in info_ids(fence.info) or by_comment.get(fence.span.start) == name:
                return target_of(body.document, fence)
        return None

    return find


def fence_language(fence: Fence) -> str:
    """The first word of the info string in lower case, attributes left out."""
    return fence.language.partition("{")[0].lower()


def target_of(document: Document, fence: Fence) -> Target:
    """The code of a fence."""
    span = fence.content[0] if len(fence.content) == 1 else None
    return Target(normalised(document.fence_text(fence)), span or fence.span)


def nth_of(fences: tuple[Fence, ...], language: str, number: int) -> Fence | None:
    """The n-th of the fences in a language."""
    return next(islice((fence for fence in fences if fence_language(fence) == language), number - 1, None), None)


def info_ids(info: str) -> tuple[str, ...]:
    """The ids that an info string gives its fence."""
    found = [word for braces in _BRACES.findall(info) for word in _ID_WORD.findall(braces)]
    return (*found, *(pair.strip("\"'") for pair in _ID_PAIR.findall(info)))


def _nth(language: str, number: int) -> Finder:
    def find(body: Body) -> Target | None:
        fence = nth_of(body.document.fences, language, number)
        return target_of(body.document, fence) if fence else None

    return find


def _language(text: str) -> str:
    name = text.strip().lower()
    if not name or re.search(r"[\s`]", name):
        raise BadSelector("names the language of a fence, `first_fenced:csv` for example")
    return name


def _commented(document: Document) -> dict[int, str]:
    """Where a fence begins that a comment gives an id: only blank characters stand between the two."""
    starts = [fence.span.start for fence in document.fences]
    found: dict[int, str] = {}
    for html in document.html:
        match = _COMMENT.match(html.text) if html.comment else None
        at = bisect_right(starts, html.span.start)
        if match is None or at == len(starts) or starts[at] < html.span.start + match.end():
            continue
        between = html.text[match.end() :] + document.source.text[html.span.end : starts[at]]
        if not between.strip():
            found.setdefault(starts[at], match[1])
    return found
