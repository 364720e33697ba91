"""The arguments of a skill, and its text with a request in their place.

Agents replace `$ARGUMENTS` with the user's text, and `$1`, `$ARGUMENTS[0]` and the names of the field `arguments` with
its words, split as a shell splits them. A placeholder without a word stays unchanged, and a request without a
placeholder is added below the text. In: a text and a request. Out: text. The request is data: no placeholder or
template in it is expanded.
"""

from __future__ import annotations

from collections.abc import Sequence
from re import Match

from msgspec import Struct

from prosa.regex import regex

FOLDER = "${CLAUDE_SKILL_DIR}"
"""The folder of the skill, as its text may name it."""

_ALL = regex(r"\$ARGUMENTS(?![A-Za-z0-9_\[])")
_PLACE = regex(
    r"\$ARGUMENTS\[(?P<index>\d{1,3})\]"
    r"|\$ARGUMENTS(?![A-Za-z0-9_])"
    r"|(?<![\\$])\$(?P<number>\d)(?![\d_A-Za-z]|[.,]\d)"
    r"|\$(?P<name>[A-Za-z_][A-Za-z0-9_-]*)"
)
_INDEX = regex(r"\$ARGUMENTS\[\d")
_CLEAR = regex(r"(?<![\w\\$])\$(?P<number>\d)(?![\d_A-Za-z%/+-]|[.,]\d)")
"""A number that is no amount of money, in a text that does not say that it takes arguments."""


class Arguments(Struct, frozen=True):
    """How a skill takes its arguments: the names of the field `arguments`, and whether its text counts them from 0."""

    names: tuple[str, ...] = ()
    from_zero: bool = False


def arguments_of(text: str, prose: str, *, names: Sequence[str] = (), declared: bool = False) -> Arguments | None:
    """Return how the text of a skill takes arguments; None if it takes none.

    ``prose`` is the text without its code blocks: a `$1` in the code of a shell is no argument, unless the skill has
    ``declared`` arguments in its front matter. A `$0` alone is an amount of money. A text with `$0` and others counts
    from 0, as Claude Code does; one without `$0` counts from 1, as commands always have.
    """
    every = _PLACE.finditer(text) if declared else _CLEAR.finditer(prose)
    numbers = {match["number"] for match in every if match["number"]}
    named = any(match["name"] in names for match in _PLACE.finditer(text)) if names else False
    indexed = _INDEX.search(text) is not None
    if not (named or indexed or _ALL.search(text) or "1" in numbers or (declared and numbers)):
        return None
    return Arguments(tuple(names), indexed or "0" in numbers)


def filled(text: str, request: str, taken: Arguments) -> str:
    """Return the text with the request in its places, and below it where some of the request has no place in it."""
    words = split(request)
    pieces: list[str] = []
    end, placed = 0, set[int]()
    for match in _PLACE.finditer(text):
        at = _index(match, taken)
        if at is None:
            continue
        if at == WHOLE:
            word = request
        elif 0 <= at < len(words):
            word = words[at]
        else:
            continue
        placed.add(at)
        pieces += (text[end : match.start()], word)
        end = match.end()
    complete = WHOLE in placed or placed >= set(range(len(words)))
    rest = "" if complete else f"\n\nARGUMENTS: {request}"
    return "".join((*pieces, text[end:], rest))


WHOLE = -1
"""The place of the whole request."""


def _index(match: Match[str], taken: Arguments) -> int | None:
    """Return which word of the request stands at a place; None where the text means something else."""
    if match["index"] is not None:
        return int(match["index"])
    if match["number"] is not None:
        number = int(match["number"]) - (0 if taken.from_zero else 1)
        return None if number < 0 else number
    if match["name"] is not None and match["name"] != "ARGUMENTS":
        return taken.names.index(match["name"]) if match["name"] in taken.names else None
    return WHOLE


def split(request: str) -> list[str]:
    """Return the words of a request as a shell splits them; at white space where its quotes do not match."""
    import shlex  # only here: few requests have arguments

    try:
        return shlex.split(request)
    except ValueError:
        return request.split()
