"""Lists and maps as text, without recursion. In: a value and a layout. Out: text of bounded depth and length.

A layout says how brackets, keys and leaves look; JSON (X12) and Go's ``[1 2]``, ``map[a:1]`` are two layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from prosa.data import Value
from prosa.template.function import FunctionError, joined
from prosa.template.values import described

MAX_NESTING: Final = 1_000
"""Lists and maps inside one another. The readers stop at 64; this stops a Python value that contains itself."""


class Layout(Struct, frozen=True):
    """The format of nested values. ``leaf`` writes anything but lists and maps, ``key`` a key and the separator after
    it."""

    list_marks: tuple[str, str]
    map_marks: tuple[str, str]
    separator: str
    leaf: Callable[[object], str]
    key: Callable[[str], str]
    sorted_keys: bool


def laid_out(value: Value, layout: Layout) -> str:
    """Return the text of a value under a layout. Raises `FunctionError` beyond `MAX_NESTING` or `MAX_RESULT`."""
    return joined(_pieces(value, layout))


def _pieces(value: Value, layout: Layout) -> Iterator[str]:
    open_members: list[tuple[Iterator[tuple[str, object]], str]] = []
    prefix = ""
    while True:
        yield prefix
        if isinstance(value, list | dict):
            marks = layout.list_marks if isinstance(value, list) else layout.map_marks
            yield marks[0]
            open_members.append((_members(value, layout), marks[1]))
            if len(open_members) > MAX_NESTING:
                raise FunctionError(f"lists and maps are nested more than {MAX_NESTING:,} levels deep")
        else:
            yield layout.leaf(value)
        while open_members:
            members, closing = open_members[-1]
            following = next(members, None)
            if following is not None:
                prefix, value = following
                break
            yield closing
            open_members.pop()
        else:
            return


def _members(value: list[object] | dict[str, object], layout: Layout) -> Iterator[tuple[str, object]]:
    """Yield what stands before each member, separator and key, and the member."""
    separator = ""
    if isinstance(value, list):
        for item in value:
            yield separator, item
            separator = layout.separator
        return
    for key in value:
        if not isinstance(key, str):
            raise FunctionError(f"a key of a map is {described(key)}; only strings are keys of data")
    for key in sorted(value) if layout.sorted_keys else value:
        yield separator + layout.key(key), value[key]
        separator = layout.separator
