"""`globs` of a meta file: does it apply to a document? (M20, MA18). Patterns and paths in, a yes or no out.

As in a gitignore file: the last pattern that matches decides, `!` takes back, a pattern without a slash matches at any
depth, one that names a folder covers what is below it. Different from there: a leading slash means the root of the
project, and a pattern with `://` looks at the URL that the document came from. The matching itself is that of all
globs (`source.wildmatch`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from prosa.source.wildmatch import MAX_GLOB, as_bytes, path_glob, wildcard

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
    if len(pattern) > MAX_GLOB:
        return f"holds a pattern of more than {MAX_GLOB} characters"
    if "://" not in pattern and ".." in pattern.split("/"):
        return "holds a pattern that leaves its folder: begin with `/` to start at the root of the project"
    return None


def _sign(glob: str) -> tuple[str, bool]:
    return (glob[1:], False) if glob.startswith("!") else (glob, True)


def _matches(pattern: str, path: PurePosixPath | None, root_path: PurePosixPath | None, url: str | None) -> bool:
    if len(pattern) > MAX_GLOB:
        return False
    if "://" in pattern:
        found = wildcard(as_bytes(pattern))
        return found is not None and url is not None and len(url) <= MAX_URL and found.matches(as_bytes(url))
    place = root_path if pattern.startswith("/") else path
    return place is not None and path_glob(as_bytes(_anchored(pattern))).covers(as_bytes(place.as_posix()))


def _anchored(pattern: str) -> str:
    """The pattern with a leading slash where it says that it begins here."""
    return f"/{pattern[2:]}" if pattern.startswith("./") else pattern
