"""Targets of front-matter links: the id of a node, or `url:` and a URL (H10, HA4)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

PREFIX = "url:"
BARE_URL = re.compile(r"(?:https?://|/|\.{1,2}/)", re.IGNORECASE)
"""What begins as no id does: a URL whose prefix was forgotten."""


class Target(NamedTuple):
    """What a target means: a node id, a path on the site, or an absolute URL; without the prefix."""

    kind: Literal["id", "path", "url"]
    text: str


def target_of(text: str) -> Target:
    """The meaning of a target. A URL without its prefix is understood, and reported by the reader."""
    bare = text.removeprefix(PREFIX)
    if bare == text and not BARE_URL.match(text):
        return Target("id", text)
    return Target("path" if bare.startswith(("/", "./", "../")) else "url", bare)
