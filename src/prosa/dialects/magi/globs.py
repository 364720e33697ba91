"""`globs` of a meta file: does it apply to a document? (M20, MA18). Patterns and paths in, a yes or no out.

As in a gitignore file: the last pattern that matches decides, `!` takes back, a pattern without a slash matches at any
depth, one that names a folder covers what is below it. Different from there: a leading slash means the root of the
project, and a pattern with `://` looks at the URL that the document came from. No regular expression is built from a
pattern, so no pattern can be slow: the work is at most the length of the pattern times that of the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

MAX_PATTERN = 1_024
"""Characters of a pattern; a longer one matches nothing."""

MAX_URL = 4_096
"""Characters of a URL that patterns look at; a longer one matches nothing."""


def applies(
    globs: Iterable[str], *, path: PurePosixPath | None, root_path: PurePosixPath | None = None, url: str | None = None
) -> bool:
    """Whether the metadata applies. ``path`` is relative to the folder of the meta file, None outside of it;
    ``root_path`` relative to the root of the project; ``url`` is the document's `source-url`."""
    answer = False
    for glob in globs:
        pattern, wanted = _sign(glob)
        if pattern and answer is not wanted and _matches(pattern, path, root_path, url):
            answer = wanted
    return answer


def glob_form(text: str) -> str | None:
    """The complaint about a pattern that can match nothing."""
    pattern, _ = _sign(text)
    if not pattern.strip("/"):
        return "holds a pattern that matches nothing"
    if len(pattern) > MAX_PATTERN:
        return f"holds a pattern of more than {MAX_PATTERN} characters"
    if "://" not in pattern and ".." in pattern.split("/"):
        return "holds a pattern that leaves its folder: begin with `/` to start at the root of the project"
    return None


def _sign(glob: str) -> tuple[str, bool]:
    return (glob[1:], False) if glob.startswith("!") else (glob, True)


def _matches(pattern: str, path: PurePosixPath | None, root_path: PurePosixPath | None, url: str | None) -> bool:
    if len(pattern) > MAX_PATTERN:
        return False
    if "://" in pattern:
        return url is not None and len(url) <= MAX_URL and _segments_match(pattern.split("/"), url.split("/"))
    if pattern.startswith("/"):
        return root_path is not None and _path_matches(pattern[1:], root_path, anchored=True)
    relative = pattern.removeprefix("./")
    anchored = relative != pattern or "/" in relative.rstrip("/")
    return path is not None and _path_matches(relative, path, anchored=anchored)


def _path_matches(pattern: str, path: PurePosixPath, *, anchored: bool) -> bool:
    """Whether a pattern matches a file or one of the folders above it."""
    folder_only = pattern.endswith("/")
    segments = [segment for segment in pattern.split("/") if segment]
    if not segments:
        return False
    if not anchored:
        segments = ["**", *segments]
    parts = path.parts
    ends = range(1, len(parts) if folder_only else len(parts) + 1)
    if segments[-1] == "**":  # everything inside, and nothing of the folder itself
        return _segments_match([*segments[:-1], "*", "**"], parts)
    return any(_segments_match(segments, parts[:end]) for end in ends)


def _segments_match(segments: Sequence[str], parts: Sequence[str]) -> bool:
    """`**` takes any number of parts; two positions that only move on, as in matching a `*`."""
    at = part = 0
    star, resume = -1, 0
    while part < len(parts):
        if at < len(segments) and segments[at] == "**":
            star, resume = at, part
            at += 1
        elif at < len(segments) and segment_matches(segments[at], parts[part]):
            at += 1
            part += 1
        elif star >= 0:
            resume += 1
            at, part = star + 1, resume
        else:
            return False
    return all(segment == "**" for segment in segments[at:])


def segment_matches(pattern: str, text: str) -> bool:
    """One part of a path: `*` any characters, `?` one, `[a-z]` and `[!a-z]` one of a set, a backslash escapes."""
    units = _units(pattern)
    at = place = 0
    star, resume = -1, 0
    while place < len(text):
        if at < len(units) and units[at] == "*":
            star, resume = at, place
            at += 1
        elif at < len(units) and _one_matches(units[at], text[place]):
            at += 1
            place += 1
        elif star >= 0:
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return all(unit == "*" for unit in units[at:])


def _units(pattern: str) -> list[str]:
    """The pattern in units: `*`, `?`, a set in brackets, a backslash with its character, one character."""
    units: list[str] = []
    at = 0
    while at < len(pattern):
        size = 1
        if pattern[at] == "\\" and at + 1 < len(pattern):
            size = 2
        elif pattern[at] == "[":
            close = pattern.find("]", at + (3 if pattern[at + 1 : at + 2] in ("!", "^") else 2))
            size = close - at + 1 if close > 0 else 1
        unit = pattern[at : at + size]
        if not (unit == "*" and units[-1:] == ["*"]):
            units.append(unit)
        at += size
    return units


def _one_matches(unit: str, character: str) -> bool:
    if unit == "?":
        return True
    if len(unit) == 2 and unit[0] == "\\":
        return unit[1] == character
    if len(unit) < 3:
        return unit == character
    inner = unit[1:-1]
    negative = inner[0] in "!^"
    return _in_set(inner[1:] if negative else inner, character) is not negative


def _in_set(inner: str, character: str) -> bool:
    at = 0
    while at < len(inner):
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            if inner[at] <= character <= inner[at + 2]:
                return True
            at += 3
        else:
            if inner[at] == character:
                return True
            at += 1
    return False
