"""Globs of a project's settings. In: a glob and a path below the root. Out: whether it matches.

`*` and `?` stay inside a folder, `**` crosses folders, `[abc]` is one of these. A glob without a slash matches the name
of a file or folder anywhere; one that names a folder matches everything in it.
"""

from __future__ import annotations

import re
from functools import cache

_TOKEN = re.compile(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?[^\]/]+\]|.", re.DOTALL)

MAX_GLOB = 1_000
"""Characters of a glob; a longer one is some other text and matches nothing."""


def glob_matches(glob: str, path: str) -> bool:
    """Whether ``glob`` matches ``path``, both with `/`."""
    return _compiled(glob).fullmatch(path) is not None


@cache
def _compiled(glob: str) -> re.Pattern[str]:
    if len(glob) > MAX_GLOB:
        return re.compile(r"(?!)")
    anchored = "/" in glob.rstrip("/")
    body = "".join(_part(token) for token in _TOKEN.findall(glob.removeprefix("./").strip("/")))
    try:
        return re.compile(f"{'' if anchored else '(?:.*/)?'}{body}(?:/.*)?", re.DOTALL)
    except re.error:
        return re.compile(r"(?!)")  # `[z-a]` is no set of characters


def _part(token: str) -> str:
    if token == "**/":  # noqa: S105 - a part of a glob
        return "(?:[^/]*/)*"
    if token in ("/**", "**"):
        return token.replace("**", ".*")
    if token == "*":  # noqa: S105
        return "[^/]*"
    if token == "?":  # noqa: S105
        return "[^/]"
    if token.startswith("[") and len(token) > 1:
        inside = re.sub(r"[\\\[&|~]", r"\\\g<0>", token[1:-1])
        return f"[^/{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(token)
