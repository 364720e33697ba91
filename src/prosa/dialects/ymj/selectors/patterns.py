"""`regex:<pattern>[/flags]` and `between:<start>:<end>` (Y27, YA16, X20). The patterns come from the document, so only
RE2 runs them: its time is linear in the text, and the product of pattern and text is bounded before it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from prosa.dialects.ymj.selectors.selector import BadSelector, Body, Finder, Target, TooCostly

MAX_PATTERN = 1_000
"""Characters of a pattern. Nobody reads a longer one."""

MAX_WORK = 25_000_000
"""Instructions of the compiled pattern times bytes of the body: about 100 ms in the worst case (YA16)."""

MAX_MEMORY = 8 * 1024 * 1024
"""Bytes that RE2 may use for one pattern; a pattern that expands beyond it is refused."""

_FLAGS = re.compile(r"[imsx]*")


def regex(rest: str) -> Finder:
    """The first group of the first match, or all of the match where the pattern has no group."""
    pattern, flags = _with_flags(rest)
    compiled = _compile(pattern, flags)

    def find(body: Body) -> Target | None:
        _affordable(compiled, body.text)
        match = _search(compiled, body.text)
        if match is None:
            return None
        text = match.group(1 if compiled.groups else 0)
        return Target(text) if text is not None else None

    return find


def between(rest: str) -> Finder:
    """What stands between the first match of one pattern and the next match of another."""
    first, second = _two_patterns(rest)

    def find(body: Body) -> Target | None:
        _affordable(first, body.text)
        _affordable(second, body.text)
        start = _search(first, body.text)
        end = _search(second, body.text, start.end()) if start else None
        if start is None or end is None:
            return None
        return Target(body.text[start.end() : end.start()].strip("\n"))

    return find


def _with_flags(rest: str) -> tuple[str, str]:
    """A pattern may hold slashes: what follows the last one is flags only when it is nothing or flags."""
    pattern, slash, flags = rest.rpartition("/")
    if not slash or not _FLAGS.fullmatch(flags):
        return rest, ""
    if "x" in flags:
        raise BadSelector("asks for the flag `x`, which RE2 does not have: write the pattern without spaces")
    return pattern, flags


def _two_patterns(rest: str) -> tuple[Any, Any]:
    """The first colon that leaves two patterns divides; `\\:` never does."""
    problem = BadSelector("needs two patterns, `between:<!-- start -->:<!-- end -->` for example")
    for first, second in _halves(rest):
        try:
            return _compile(first, ""), _compile(second, "")
        except BadSelector as error:
            problem = error
    raise problem


def _halves(rest: str) -> Iterator[tuple[str, str]]:
    if len(rest) > 2 * MAX_PATTERN:
        raise BadSelector(f"is longer than {MAX_PATTERN:,} characters")
    for match in re.finditer(r"(?<!\\):", rest):
        if rest[: match.start()] and rest[match.end() :]:
            yield rest[: match.start()], rest[match.end() :]


def _compile(pattern: str, flags: str) -> Any:
    """The pattern compiled by RE2. Raises `BadSelector`."""
    import re2  # only here: few records have a pattern

    if not pattern or len(pattern) > MAX_PATTERN:
        raise BadSelector(f"needs a pattern of 1 to {MAX_PATTERN:,} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    options.case_sensitive = "i" not in flags
    inline = "".join(flag for flag in "ms" if flag in flags)
    try:
        return re2.compile(f"(?{inline}){pattern}" if inline else pattern, options)
    except re2.error as error:
        raise BadSelector(f"is not a pattern of RE2: {_words(error)}") from None
    except UnicodeEncodeError:
        raise BadSelector("holds a character that cannot be searched for") from None


def _words(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


def _affordable(compiled: Any, text: str) -> None:
    """Refuses work beyond the limit before any of it is done."""
    if compiled.programsize * len(text) > MAX_WORK:
        raise TooCostly(f"the pattern is too expensive for a body of {len(text):,} characters")


def _search(compiled: Any, text: str, start: int = 0) -> Any:
    """The first match, or None; a text with half a surrogate pair is no text to RE2."""
    try:
        return compiled.search(text, start)
    except UnicodeEncodeError:
        return None
