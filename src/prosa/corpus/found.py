"""The result of a scan of the files of a corpus, and of a refresh of its index. Plain values."""

# Without postponed annotations: `NamedTuple` compiles each of those when the module is imported.

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, overload

from msgspec import Struct

from prosa.dialects import DialectName
from prosa.source import FileProblem

StampTuple: TypeAlias = tuple[int, int, int, int]
"""A `Stamp` as it is kept."""


class Stamp(NamedTuple):
    """The stamp of a file, without reading it: bytes, times in nanoseconds, and its number."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


RACY_NS = 2_000_000_000
"""A file that changed this recently before the scan may change again without a new stamp: file systems count time in
steps, the coarsest of two seconds. Its stamp is not trusted the next time."""

UNSURE = -1
"""The time of a file with an untrusted stamp."""


def is_sure(stamp: StampTuple, old_ns: int) -> bool:
    """Return whether a stamp reveals every later change of the file: its last change was at least `RACY_NS` before the
    scan.

    The time of the last change can only be forged by changing the clock; where the system has none (Windows), the time
    of the content is used.
    """
    _, mtime_ns, ctime_ns, _ = stamp
    return (max(mtime_ns, ctime_ns) if sys.platform == "win32" else ctime_ns) <= old_ns


def sure(stamp: StampTuple, at_ns: int) -> StampTuple:
    """Return the stamp to store for a file that was scanned at the time ``at_ns``: one that matches nothing if the
    file may change again with the same stamp."""
    size, _, ctime_ns, inode = stamp
    return stamp if is_sure(stamp, at_ns - RACY_NS) else (size, UNSURE, ctime_ns, inode)


SettingsHint: TypeAlias = DialectName | Literal[""]
"""The dialect that the settings of the project give a document, or an empty text."""


class FoundDocument(Struct, frozen=True):
    """A document. ``path`` is relative to the root of the corpus, with `/`; ``place`` is the path to open; ``hint`` is
    the dialect from the settings of the project, or an empty text; ``vault`` is true in a vault (X45)."""

    path: str
    place: str
    stamp: Stamp
    hint: SettingsHint = ""
    vault: bool = False

    @property
    def hint_text(self) -> str:
        """What was known of the document before it was read: where that changes, it is read again."""
        return f"{self.hint} vault" if self.vault else self.hint


Stamps: TypeAlias = dict[str, dict[str, StampTuple]]
"""The stamps of documents by folder and name; a folder is a path with a slash at its end, the root an empty text."""


class Folders(Sequence[FoundDocument]):
    """Documents below ``root``, created from their ``stamps`` on access: by folder, in the order of their names.
    ``hint`` returns the dialect in the settings for the file at a path; ``vaults`` are the folders that are vaults,
    each as in ``stamps``."""

    def __init__(
        self,
        root: str,
        stamps: Stamps,
        hint: Callable[[Path], SettingsHint] | None = None,
        vaults: Sequence[str] = (),
    ) -> None:
        self.root = root
        self.stamps = stamps
        self.hint = hint
        self.vaults = tuple(vaults)

    def __len__(self) -> int:
        return sum(map(len, self.stamps.values()))

    def __iter__(self) -> Iterator[FoundDocument]:
        for folder, names in self.stamps.items():
            for name in sorted(names):
                yield self.found(folder, name)

    @overload
    def __getitem__(self, at: int) -> FoundDocument: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[FoundDocument, ...]: ...

    def __getitem__(self, at: int | slice) -> FoundDocument | tuple[FoundDocument, ...]:
        return tuple(self)[at]

    def found(self, folder: str, name: str) -> FoundDocument:
        """Return one of them."""
        path = folder + name
        place = f"{self.root}{path}"
        hint = self.hint(Path(place)) if self.hint is not None else ""
        return FoundDocument(path, place, Stamp(*self.stamps[folder][name]), hint, folder.startswith(self.vaults))


class Scan(Struct, frozen=True):
    """The documents of a corpus in the file system. ``at_ns`` is the time when the scan started; ``problems`` are
    folders that cannot be listed and files that cannot be examined. ``hints`` is a text that changes if the settings'
    hints for paths or the vaults change. ``links`` are the paths of documents that are links to files elsewhere."""

    documents: Sequence[FoundDocument]
    at_ns: int
    problems: tuple[FileProblem, ...] = ()
    hints: str = ""
    links: tuple[str, ...] = ()


class Refreshed(Struct, frozen=True):
    """The result of a refresh. The first four count documents; ``unreadable`` are those that are not in the index, and
    folders that cannot be listed. ``seconds`` is its duration; ``healed`` says what was wrong with an index that was
    rebuilt, empty if none was."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    unreadable: tuple[FileProblem, ...] = ()
    seconds: float = 0.0
    healed: str = ""

    @property
    def documents(self) -> int:
        """How many documents are in the index now."""
        return self.added + self.changed + self.unchanged
