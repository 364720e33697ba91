"""The findings of a check, cached for the next one in this process, for callers that load one document after the
other.

In: rows by key, as in `prosa.rules.cache.Store`. Out: the same rows, up to a limit of memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from prosa.rules.cache import Stamped

MOST_CHARACTERS = 64_000_000
"""Beyond this size the cache is cleared: rows still needed are added again."""


class MemoryStore(Struct):
    """Meets `prosa.rules.cache.Store`. Several threads may use it at once: what one forgets another makes again."""

    rows: dict[str, str] = {}
    files: dict[str, tuple[Stamped, str]] = {}
    characters: int = 0

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the existing rows."""
        rows = self.rows
        return {key: row for key in keys if (row := rows.get(key)) is not None}

    def put(self, rows: Mapping[str, str]) -> None:
        """Keep rows."""
        self.characters += sum(len(text) - len(self.rows.get(key, "")) for key, text in rows.items())
        if self.characters > MOST_CHARACTERS:
            self.rows, self.files, self.characters = {}, {}, 0
        else:
            self.rows.update(rows)

    def digests(self, stamps: Mapping[str, Stamped]) -> Mapping[str, str]:
        """Return the digests of the files that look as they did when they were hashed, by path."""
        files = self.files
        found = {path: known for path in stamps if (known := files.get(path)) is not None}
        return {path: digest for path, (stamp, digest) in found.items() if stamp == stamps[path]}

    def remember(self, digests: Mapping[str, tuple[Stamped, str]]) -> None:
        """Keep the digests of files with their stamps."""
        self.files.update(digests)

    def close(self) -> None:
        """Keep everything: the next check is in the same process."""
