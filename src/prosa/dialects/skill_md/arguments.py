"""What a skill takes as arguments, and its text with a request in their place.

Agents fill `$ARGUMENTS` with what the user typed, as it is, and `$1`, `$ARGUMENTS[0]` and the names of the field
`arguments` with its words, split as a shell splits them. What no word fills stays as it is written. In: a text and a
request. Out: text. The request is data: nothing in it is filled again, and no template is read.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec import Struct

from prosa.regex import regex

FOLDER = "${CLAUDE_SKILL_DIR}"
"""The folder of the skill, as its text may name it."""

_ALL = regex(r"\$ARGUMENTS(?![A-Za-z0-9_])")
_PLACE = regex(
    r"\$ARGUMENTS\[(?P<index>\d{1,3})\]"
    r"|\$ARGUMENTS(?![A-Za-z0-9_])"
    r"|\$(?P<number>\d)(?![\d_A-Za-z]|[.,]\d)"
    r"|\$(?P<name>[A-Za-z_][A-Za-z0-9_-]*)"
)
_ZERO = regex(r"\$(?:0(?![\d_A-Za-z]|[.,]\d)|ARGUMENTS\[\d)")
_FIRST = regex(r"\$[01](?![\d_A-Za-z]|[.,]\d)")


class Arguments(Struct, frozen=True):
    """How a skill takes its arguments: the names of the field `arguments`, and whether its text counts them from 0."""

    names: tuple[str, ...] = ()
    from_zero: bool = False


def arguments_of(text: str, prose: str, *, names: Sequence[str] = (), declared: bool = False) -> Arguments | None:
    """How the text of a skill takes arguments; None where it takes none and the request stands by itself.

    ``prose`` is the text without its code blocks: a `$1` in the code of a shell is no argument, unless the skill has
    ``declared`` in its front matter that it takes some. A text that uses `$0` counts from 0, as Claude Code does;
    one that has no `$0` counts from 1, as commands always have.
    """
    named = any(found["name"] in names for found in _PLACE.finditer(text)) if names else False
    if not (named or _ALL.search(text) or _FIRST.search(text if declared else prose)):
        return None
    return Arguments(tuple(names), _ZERO.search(text) is not None)


def filled(text: str, request: str, taken: Arguments) -> str:
    """The text with the request in its places."""
    words = split(request)
    first = 0 if taken.from_zero else 1
    pieces: list[str] = []
    end = 0
    for found in _PLACE.finditer(text):
        word: str | None = request
        if found["index"] is not None:
            word = _at(words, int(found["index"]))
        elif found["number"] is not None:
            word = _at(words, int(found["number"]) - first)
        elif found["name"] is not None:
            name = found["name"]
            word = _at(words, taken.names.index(name)) if name in taken.names else None
        if word is not None:
            pieces += (text[end : found.start()], word)
            end = found.end()
    return "".join((*pieces, text[end:]))


def _at(words: Sequence[str], index: int) -> str | None:
    return words[index] if 0 <= index < len(words) else None


def split(request: str) -> list[str]:
    """The words of a request as a shell splits them; at white space where its quotes do not match."""
    try:
        return shlex.split(request)
    except ValueError:
        return request.split()
