"""The events of the Markdown parser as the loops over them see them: for the type checker alone, nothing imports it.

An event is a text, or a dictionary with one kind; the content of that is again a text, or a dictionary with one name.
The loops tell a text from a dictionary by its type, and know from the kind what its content is. No union can say the
second, so `Event` and `Content` are texts for the checker that can do what the dictionaries in their places can.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import SupportsIndex, TypeAlias, TypedDict


class LinkTag(TypedDict):
    """What starts a link or an image. ``link_type`` is a dictionary for a wikilink."""

    link_type: str | dict[str, dict[str, bool]]
    dest_url: str
    title: str
    id: str


class HeadingTag(TypedDict):
    """What starts a heading: ``level`` is `H1` to `H6`."""

    level: str


class FencedCode(TypedDict):
    """What starts a block of code between fences, with its info string."""

    Fenced: str


Detail: TypeAlias = LinkTag | HeadingTag | FencedCode | str | int | tuple[str, ...] | None
"""What a tag holds besides its name: also the label of a footnote, the number of a list, the columns of a table."""


class Content(str):
    """A text, the name of a tag, or a tag with its detail."""

    popitem: Callable[[], tuple[str, Detail]]


class Event(str):
    """A break in a text, or a kind with its content."""

    popitem: Callable[[], tuple[str, Content]]

    def __getitem__(self, kind: str | SupportsIndex | slice, /) -> str:
        raise NotImplementedError
