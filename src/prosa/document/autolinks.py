"""Addresses in running text without markup: GFM's extended autolinks, as GitHub and Obsidian show them.

In: a text without markup. Out: the addresses in it, and their destinations. The caller leaves out code, links and
HTML.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from prosa.regex import regex

_HOST = regex(r"[\w-]++(?:\.[\w-]++)*+")
_REST = regex(r"[^\s<]*+")
_DOMAIN = regex(r"[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++)++")
_BEFORE = frozenset("*_~(")
_LOCAL = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-")
_ENTITY = regex(r"&[A-Za-z0-9]+;\Z")
_ENDS = frozenset("?!.,:*_~'\"")
_CLOSING = {")": "(", "]": "["}


class Address(NamedTuple):
    """An address in a text, and the ``destination`` of the link that it is."""

    start: int
    end: int
    destination: str


def may_hold_address(text: str) -> bool:
    """Return whether a search for addresses is worthwhile: most texts hold none."""
    return "://" in text or "@" in text or "www." in text


def addresses(text: str, marked: tuple[str, ...] = ()) -> Iterator[Address]:
    """Yield the addresses of a text in order: `http://`, `https://`, `www.` and mail (GFM 6.9), except those that
    directly follow one of the ``marked`` texts."""
    done = 0
    for at, look in sorted((at, look) for look, sign in enumerate(_SIGNS) for at in _places(text, sign)):
        if at >= done:
            address = _LOOKS[look](text, at, done, marked)
            if type(address) is Address:
                if not (marked and text.endswith(marked, 0, address.start)):
                    yield address
                done = address.end
            elif type(address) is int:
                done = address


def _url(text: str, at: int, done: int, marked: tuple[str, ...]) -> Address | int | None:
    """Return an address around `://`; where it is none, the end of its host, and the end of what it could be where it
    is ``marked``."""
    scheme = text[max(done, at - len("https")) : at].lower()
    if not scheme.endswith(("https", "http")):
        return None
    start = at - (len("https") if scheme == "https" else len("http"))
    before = text[max(start - 1, 0) : start]
    host = _HOST.match(text, at + len("://")) if not (before.isascii() and before.isalnum()) else None
    if host is None:
        return None
    if not _is_host(host[0]):
        return host.end()
    rest = _rest(text, host.end())
    if marked and text.endswith(marked, 0, start):
        return rest
    end = _end(text, start, rest)
    return Address(start, end, text[start:end])


def _www(text: str, at: int, _: int, __: tuple[str, ...]) -> Address | int | None:
    """Return an address that begins with `www.`, or the end of its host if it is not an address."""
    before = text[max(at - 1, 0) : at]
    host = _HOST.match(text, at)
    if host is None or not (not before or before.isspace() or before in _BEFORE):
        return None
    if not _is_host(host[0]):
        return host.end()
    end = _end(text, at, _rest(text, host.end()))
    return Address(at, end, f"http://{text[at:end]}") if "." in text[at + len("www.") : end] else None


def _mail(text: str, at: int, done: int, _: tuple[str, ...]) -> Address | int | None:
    """Return an address of mail around `@`."""
    start = at
    while start > done and text[start - 1] in _LOCAL:
        start -= 1
    domain = _DOMAIN.match(text, at + 1)
    if start == at or domain is None or not domain[0][-1].isalpha():
        return None
    url = f"mailto:{text[start : domain.end()]}"
    begin = start - len("mailto:")
    return Address(begin if begin >= done and text[begin:start].lower() == "mailto:" else start, domain.end(), url)


def _rest(text: str, at: int) -> int:
    match = _REST.match(text, at)
    return match.end() if match is not None else at


_LOOKS = (_url, _www, _mail)
_SIGNS = ("://", "www.", "@")


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + 1)


def _is_host(host: str) -> bool:
    """Return whether the last two parts hold no underscore."""
    return "_" not in host or not any("_" in part for part in host.split(".")[-2:])


def _end(text: str, start: int, end: int) -> int:
    """Return where an address ends: in front of punctuation, of a bracket that it did not open, of what may be an
    entity."""
    depth: dict[str, int] = {}
    while end > start:
        last = text[end - 1]
        if last.isalnum():  # most of them
            break
        if last in _CLOSING and last not in depth:
            depth[last] = text.count(last, start, end) - text.count(_CLOSING[last], start, end)
        if last in _ENDS:
            end -= 1
        elif depth.get(last, 0) > 0:
            depth[last] -= 1
            end -= 1
        elif last == ";":
            entity = _ENTITY.search(text, max(start, end - 40), end)
            end = entity.start() if entity else end - 1
        else:
            break
    return end
