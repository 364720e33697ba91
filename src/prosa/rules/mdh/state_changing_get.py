"""`state-changing-get`: a GET action whose name says that it changes something (H5, H17, HA19)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import ActionModel
from prosa.rules.subject import Subject

CHANGING = frozenset(
    (
        *("add", "approve", "borrow", "buy", "cancel", "checkout", "confirm", "create", "delete", "destroy", "enroll"),
        *("insert", "modify", "pay", "publish", "purchase", "reject", "remove", "rename", "renew", "send", "submit"),
        *("subscribe", "unsubscribe", "upload"),
    )
)
"""Verbs that change something wherever they stand first or last."""

AMBIGUOUS = frozenset(("book", "edit", "order", "post", "register", "reserve", "return", "save", "set", "update"))
"""Words that are verbs only by their place: `rooms.book`, "Book a room"; not in `book.show` or `orders`."""

READING = frozenset(
    (
        *("browse", "check", "count", "details", "fetch", "find", "form", "get", "help", "history", "info", "list"),
        *("lookup", "options", "policies", "policy", "preview", "query", "quote", "read", "search", "show", "status"),
        *("summary", "terms", "view"),
    )
)
"""Words that say a name is about reading, whatever else is in it."""

ARTICLES = frozenset(("a", "an", "the", "this", "these", "your", "my", "one"))

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CUT = 200
"""Characters of a name that are looked at."""


def check(subject: Subject) -> Iterator[Problem]:
    """At the method."""
    for action in subject.model.actions:
        if action.verb != "GET" or action.method is None:
            continue
        if found := _of_id(action) or _of_title(action):
            message = f"{action.title_for_people} is a GET, and its name says that it changes something: `{found}`"
            notes = ("a GET must have no side effects; use POST, PUT, PATCH or DELETE",)
            yield Problem("state-changing-get", shown(message, 200), action.method.span, notes)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text[:_CUT])]


def _of_id(action: ActionModel) -> str | None:
    words = _words(action.id.text) if action.id else []
    if not words or READING.intersection(words):
        return None
    last_part = _words(re.split(r"[.:/]", action.id.text[:_CUT])[-1]) if action.id else []
    places = {words[-1], *last_part[:1]}
    sure = sorted(places & CHANGING)
    if sure:
        return sure[0]
    return words[-1] if len(words) > 1 and words[-1] in AMBIGUOUS else None


def _of_title(action: ActionModel) -> str | None:
    words = _words(action.title.text) if action.title else []
    if not words or READING.intersection(words):
        return None
    first = words[0]
    if first in CHANGING and len(words) > 1:
        return first
    return first if first in AMBIGUOUS and words[1:2] and words[1] in ARTICLES else None
