"""Names: the one key space in which references look for documents, the same in memory and in the index.

In: a record and the known sites. Out: its keys, and for each of its references the tiers of keys to look up. The first
tier with a result decides; several results are ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

from msgspec import Struct


class Placed(Protocol):
    """A document in the caller's representation: a `Record`, a `Node`, a row. Its path identifies it."""

    @property
    def path(self) -> str:
        """Relative to the root of the corpus, with `/`."""
        ...


Document = TypeVar("Document", bound=Placed)
Found = TypeVar("Found", bound=Placed, covariant=True)

ACTION = "action"
"""The space of the URLs of actions, which are no documents."""


class Key(NamedTuple):
    r"""A name in a space.

    Spaces are `id` and `id@DIALECT`, `path` (relative to the root), `stem` and `stem~` (case folded), `title~`,
    `alias~`, `url` (absolute, without fragment), `site`: `ROOT\\0PATH`, root folder of a site and a URL path, with a
    `~` before the path of a name that is tried last, and `action`: the same for the URL of an action, a last part
    `{…}` as `{}`. A match under an action is not the target of a reference.
    """

    space: str
    name: str


class Tier(Struct, frozen=True):
    """Keys that are equally good. ``exact`` is False where a hit is a match but for case (YA21)."""

    keys: tuple[Key, ...]
    exact: bool = True


class Names(Protocol[Found]):
    """Where documents are found by key: a dictionary (`graph.build`) or the index (`adapters.sqlite`)."""

    def find(self, key: Key) -> Sequence[Found]:
        """Return the documents that answer to a key, each once, in the order of their paths."""
        ...
