"""Ids of nodes and actions: opaque, but one word, so that a link, a URL or a tool can carry them (H9, H11, HA20)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import Text


def identifier_problems(identifier: Text | None, owner: str) -> Iterator[Problem]:
    """`identifier-form` where an id has white space, or begins as only a URL in `target` does (HA4)."""
    if identifier is None:
        return
    text = identifier.text
    if any(character.isspace() for character in text):
        message = f"the id `{shown(text)}` of {owner} has white space"
        yield Problem("identifier-form", message, identifier.span, ("write one word, with hyphens or dots",))
    elif text.startswith("url:"):
        message = f"the id `{shown(text)}` of {owner} begins with `url:`, as only URLs in `target` do"
        yield Problem(
            "identifier-form", message, identifier.span, ("a prefix of your own is fine, `svc:` for example",)
        )
