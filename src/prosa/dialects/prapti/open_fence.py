"""Which lines of a growing text are code in a fence, decided line by line as the text arrives (PA1, PA6).

In: the lines of a message as they stand in the file, in order. Out: whether a line is code, and the mark that would
close what is open. A line is called code only when the Markdown parser calls it so, whatever follows; where that cannot
be told within bounds, the answer is that it cannot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prosa.document.mask import encodable
from prosa.document.walk import walk

MAX_PROBED = 1024 * 1024
"""Characters that may be parsed again for one message to place its indented fences: far more than a reply that a person
reads needs, and still a moment's work."""

_TAB = 4
_BLANKS = " \t"
_OPENER = re.compile(
    r"(?P<before>[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)(?:(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*)", re.DOTALL
)
_CLOSER = re.compile(r"[ \t]*(?P<mark>`{3,}|~{3,}) *")
_BLANK = re.compile(r"[ \t]*")
_INDENT = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class OpenFence:
    """``mark`` closes it; lines with less than ``column`` columns of indentation end it with the list around it."""

    mark: str
    column: int


Opened: TypeAlias = "OpenFence | Literal['unsure'] | None"
"""What a line opens; ``unsure`` where it cannot be told within bounds."""


def column_of(text: str) -> int:
    """The column behind a text that begins a line, tabs expanded (CommonMark 2.2)."""
    return len(text.expandtabs(_TAB))


def indentation(line: str) -> int:
    """Columns of blank space in front of a line."""
    return column_of(_INDENT.match(line).group())  # type: ignore[union-attr]


@dataclass(slots=True)
class Fences:
    """Where a text stands after the lines that it was told. ``fence`` is what is open."""

    fence: OpenFence | None = None
    _since: list[str] = field(default_factory=list)
    """The lines since the last one at which nothing else was open."""
    _size: int = 0
    _after_blank: bool = True
    _left: int = MAX_PROBED

    def covers(self, line: str) -> bool:
        """Whether the next line belongs to the open fence, as code or as its end."""
        if self.fence is None:
            return False
        return _BLANK.fullmatch(line) is not None or indentation(line) >= self.fence.column

    def opens(self, line: str) -> Opened:
        """What the next line opens, where the open fence does not cover it."""
        found = _OPENER.fullmatch(line)
        if found is None:
            return None
        mark = found["ticks"] or found["tildes"]
        if not found["before"]:  # whatever else is open ends here
            return OpenFence(mark, 0)
        return self._probed(line, mark, column_of(found["before"]))

    def take(self, line: str, opened: OpenFence | None = None) -> None:
        """The next line as it stands in the file; ``opened`` is what it opens."""
        blank = _BLANK.fullmatch(line) is not None
        if self.covers(line):
            if self.fence is not None and _closes(line, self.fence):
                self.fence = None
        else:
            self.fence = opened
            if self._after_blank and not blank and line[0] not in _BLANKS:
                self._since, self._size = [], 0  # behind a blank line nothing goes on without indentation
        self._since.append(line)
        self._size += len(line) + 1
        self._after_blank = blank

    def _probed(self, line: str, mark: str, column: int) -> Opened:
        """What an indented line opens. A list around it may begin at any of the last four columns."""
        columns = range(0 if column < _TAB else column - _TAB + 1, column + 1)
        size = self._size + len(line) + 1
        if self._left < size * len(columns):
            return "unsure"
        text = "\n".join((*self._since, line)) + "\n"
        for at in columns:
            self._left -= size
            if _is_code(f"{text}{' ' * at}x\n"):
                return OpenFence(mark, at)
        return None


def _closes(line: str, fence: OpenFence) -> bool:
    found = _CLOSER.fullmatch(line)
    if found is None or not found["mark"].startswith(fence.mark):
        return False
    return indentation(line) < fence.column + _TAB


def _is_code(text: str) -> bool:
    """Whether the last line of a text is code in a fence."""
    blocks = walk(encodable(text)).code_blocks
    if not blocks or blocks[-1].info is None or not blocks[-1].pieces:
        return False
    return blocks[-1].pieces[-1][2]["end"] >= len(encodable(text).encode()) - 1
