"""The sites whose actions are tools of a program: the field `mdh`, a list of URLs (X15).

In: its entry as written. Out: the URLs in the order declared, each once, and what is wrong with them. Nothing is
fetched: what a site offers is known only while a program runs.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from prosa.data import Entry, Mapping, Scalar, Sequence
from prosa.diagnostics import Problem, Severity

FIELD = "mdh"
MAX_SITES = 16
"""Pages on which one run may begin; each is read before a model is asked."""

_UNSAFE = '\\\x7f<>"{}'


def site_form(text: str) -> str | None:
    """What keeps a text from being the URL of a page, as the rest of a sentence; None for one that can be asked."""
    if any(char <= " " or char in _UNSAFE for char in text):
        return "must be a URL without white space, braces or backslashes"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not a URL: its host or port cannot be read"
    if parts.scheme.lower() not in ("http", "https") or not host:
        return "must be a URL that begins with `https://` or `http://` and names a host"
    if "@" in parts.netloc:
        return "must not carry a name or a password; a token is given on the command line, with --site-token"
    return "must have a host without `%`" if "%" in host else None


def as_list(mapping: Mapping) -> tuple[Mapping, tuple[Problem, ...]]:
    """The front matter with a single URL as a list of one, and a hint where that was done."""
    entry = next((each for each in mapping if each.key.text == FIELD), None)
    if entry is None or not isinstance(entry.value, Scalar) or entry.value.value is None:
        return mapping, ()
    changed = Entry(entry.key, Sequence((entry.value,), entry.value.span))
    entries = tuple(changed if each is entry else each for each in mapping)
    message = f"`{FIELD}` is a list, and this is one value: it is read as a list of one"
    return replace(mapping, entries=entries), (
        Problem("scalar-for-list", message, entry.value.span, severity=Severity.HINT),
    )


def read_sites(entry: Entry | None) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """The URLs of a well-formed entry, at most `MAX_SITES`, and a problem for more than those."""
    if entry is None or not isinstance(entry.value, Sequence):
        return (), ()
    items = {item.text: item for item in entry.value.items if isinstance(item, Scalar)}
    beyond = list(items.values())[MAX_SITES:]
    message = f"`{FIELD}` names {len(items)} URLs; a program has at most {MAX_SITES}"
    problems = (Problem("wrong-form", message, beyond[0].span),) if beyond else ()
    return tuple(items)[:MAX_SITES], problems
