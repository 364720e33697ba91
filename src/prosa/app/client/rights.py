"""Permissions to change something, and the actions they are bound to (X7, HA19). Pure.

In: an action as a page declares it, and the user's text that names actions. Out: whether the text names the action. An
id alone is not enough, since any page of a site may declare any id: it applies to the declarations of the pages that
the user named. A text that names no action is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.dialects.mdh.fields import METHODS, action_url_form
from prosa.render.plain import safe
from prosa.site.offer import MAX_NAME
from prosa.source.url import Origin, origin_of

if TYPE_CHECKING:
    from prosa.site.contract import Contract

MAX_TEXT = 2_048
"""Characters of a text that names actions."""

_FORMS = "an id without white space, 'METHOD /path' or 'ORIGIN METHOD /path'"


class Declared(Struct, frozen=True):
    """An action as far as a permission goes. ``url`` is the template as written; ``auth`` is the kind of credential
    and its place, empty where it wants none."""

    origin: Origin
    id: str
    method: str
    url: str
    auth: tuple[str, ...] = ()


def declared(contract: Contract, origin: Origin) -> Declared:
    """Return the declaration of the page at an origin."""
    auth = contract.auth
    wanted = (auth.type, auth.place, auth.name) if auth.wants_token else ()
    return Declared(origin, contract.id, contract.method, contract.url, wanted)


class Permission(Struct, frozen=True):
    """Actions that the user names: by ``id``, else by ``method`` and ``url`` at one ``origin``, or where it is None at
    every site of the run."""

    id: str = ""
    origin: Origin | None = None
    method: str = ""
    url: str = ""

    def holds(self, action: Declared, named: Collection[Declared]) -> bool:
        """Return whether it is for this action. ``named`` are those of the pages that the user named."""
        if self.id:
            return action.id == self.id and action in named
        return (self.method, self.url) == (action.method, action.url) and self.origin in (None, action.origin)


def permission(text: str) -> Permission:
    """Return the permission that a text gives. Raises ValueError, in words, for one that names no action."""
    if len(text) > MAX_TEXT:
        raise _refused(text, f"it has at most {MAX_TEXT} characters")
    words = text.split()
    if not words:
        raise _refused(text, f"it is empty; expected {_FORMS}")
    if len(words) == 1:
        return Permission(id=_id(words[0], text))
    if len(words) > 3:
        raise _refused(text, f"expected {_FORMS}")
    method, url = _method(words[-2], text), _url(words[-1], text)
    return Permission(origin=_origin(words[0], text) if len(words) == 3 else None, method=method, url=url)


def _id(word: str, text: str) -> str:
    if word.startswith("/"):
        raise _refused(text, "expected a method before the path, as in 'POST /path'")
    if word in METHODS:
        raise _refused(text, f"expected a path after the method, as in '{word} /path', in quotes")
    if word.lower().startswith(("http://", "https://")) and word.rstrip("/").count("/") == 2:
        raise _refused(text, "it is the origin alone; expected 'ORIGIN METHOD /path'")
    if len(word) > MAX_NAME:
        raise _refused(text, f"an id has at most {MAX_NAME} characters")
    return word


def _origin(word: str, text: str) -> Origin:
    try:
        origin = origin_of(word)
    except ValueError as error:
        raise _refused(text, f"the origin {error}") from None
    if word.rstrip("/").count("/") > 2 or "?" in word or "#" in word:
        raise _refused(text, "expected an origin without a path")
    return origin


def _method(word: str, text: str) -> str:
    method = word.upper()
    if method not in METHODS:
        raise _refused(text, f"expected {_FORMS}, with a method of {', '.join(METHODS)}")
    return method


def _url(word: str, text: str) -> str:
    if not word.startswith("/"):
        raise _refused(text, "expected a path that begins with `/`, as the page declares it")
    if wrong := action_url_form(word):
        raise _refused(text, f"its path {wrong}")
    return word


def _refused(text: str, why: str) -> ValueError:
    shown = safe(text[:60]) + ("…" if len(text) > 60 else "")
    return ValueError(f"{shown!r} names no action that a run may be permitted: {why}")
