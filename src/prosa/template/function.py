"""What a template function is: a name, how many arguments it takes, and what to call. And how it fails.

Positions are not known here; the executor adds them to the message of a `FunctionError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct

MAX_RESULT: Final = 10_485_760
"""Characters of one printed or joined value: as many as the largest document has bytes. A loop that doubles a
variable would otherwise fill the memory before any limit on the output sees a character."""


class FunctionError(Exception):
    """A function failed.

    ``message`` says why. The executor adds the name of the function and the position.
    """

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class Function(Struct, frozen=True):
    """A function of the template language.

    ``call`` gets the arguments in the order of the call and whether the last of them came through ``|`` (X14). The
    caller has counted them: at least ``min_args``, at most ``max_args`` unless that is None.
    """

    name: str
    call: Callable[[Sequence[object], bool], object]
    min_args: int
    max_args: int | None


def joined(pieces: Iterable[str], separator: str = "") -> str:
    """Return the pieces as one text. Raises `FunctionError` as soon as it would have more than `MAX_RESULT`
    characters."""
    kept: list[str] = []
    room = MAX_RESULT + len(separator)
    for piece in pieces:
        room -= len(piece) + len(separator)
        if room < 0:
            raise FunctionError(f"the result has more than {MAX_RESULT:,} characters")
        kept.append(piece)
    return separator.join(kept)


def bounded(text: str) -> str:
    """Return the text itself, or a `FunctionError` when it has more than `MAX_RESULT` characters."""
    return joined((text,))
