"""The result of a conversion for the content of its source (X31): a record for each part that is not simply kept.

In: the findings of a reader, a writer or the comparison of two neutral values. Out: frozen values; renderers make the
words.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Value

Level: TypeAlias = Literal["moved", "guessed", "lost", "manual"]
"""``moved``: carried along where the target form ignores it. ``guessed``: written although the source does not state
it. ``lost``: not in the target. ``manual``: for a person to do."""

LEVELS: tuple[Level, ...] = ("moved", "guessed", "lost", "manual")


class Note(Struct, frozen=True):
    """What a reader or a writer has to say of a part. ``key`` names the part (`neutral.flat`), ``to`` where in the
    target it is; an ``offset`` points into the source where the part as a whole is too wide."""

    level: Level
    key: str
    message: str
    to: str = ""
    offset: int | None = None


class Item(Struct, frozen=True):
    """One line of a report. ``line`` is 1-based; ``pointer`` is a JSON Pointer into the front matter or the JSON of the
    source, empty for its body; ``part`` the key of the part that it is about (`neutral.flat`)."""

    level: Level
    path: str
    line: int
    pointer: str
    to: str
    message: str
    part: str = ""


class Report(Struct, frozen=True):
    """The report of one conversion: ``kept`` parts are expressed by the target itself."""

    kept: int
    items: tuple[Item, ...] = ()

    @property
    def loses(self) -> bool:
        """Whether anything is lost."""
        return any(item.level == "lost" for item in self.items)

    def data(self) -> dict[str, Value]:
        """Return the report as plain data, as `--report json` prints it."""
        return {"kept": self.kept, "items": [_data(item) for item in self.items]}


def _data(item: Item) -> dict[str, Value]:
    place = {"path": item.path, "line": item.line, "pointer": item.pointer}
    return {"level": item.level, "from": place, "to": item.to, "message": item.message}
