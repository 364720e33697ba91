"""Whether the name of an action says that it changes something (H5, H17, HA19). Pure.

In: id and title. Out: the verb that says so. A rule warns of it where the method is GET, and clients ask before they
send such a GET.
"""

from __future__ import annotations

import re

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


def changing_word(id: str, title: str) -> str:  # noqa: A002 - the name of the field
    """The verb in an id or a title that says that something is changed; empty where none does."""
    return _of_id(id) or _of_title(title)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text[:_CUT])]


def _of_id(text: str) -> str:
    words = _words(text)
    if not words or READING.intersection(words):
        return ""
    places = {words[-1], *_words(re.split(r"[.:/]", text[:_CUT])[-1])[:1]}
    sure = sorted(places & CHANGING)
    if sure:
        return sure[0]
    return words[-1] if len(words) > 1 and words[-1] in AMBIGUOUS else ""


def _of_title(text: str) -> str:
    words = _words(text)
    if not words or READING.intersection(words):
        return ""
    first = words[0]
    if first in CHANGING and len(words) > 1:
        return first
    return first if first in AMBIGUOUS and words[1:2] and words[1] in ARTICLES else ""
