"""Where keys are looked for: the environment, and where a variable is not set the user's file of keys (X7).

In: an environment. Out: the same, with the keys of the file behind it. The file is opened only when a key is asked for
that the environment lacks, and only the code that chooses a key for an endpoint is handed this mapping.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WithStoredKeys(Mapping[str, str]):
    """``environ``, then `keys.toml`. An empty variable counts as not set. Raises `RunError` for a file of keys that
    others may read."""

    environ: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        found = self.environ.get(name, "")
        if not found.strip() and not name.endswith("_URL"):
            found = self._stored().get(name, found)
        if not found and name not in self.environ:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.environ)

    def __len__(self) -> int:
        return len(self.environ)

    def _stored(self) -> Mapping[str, str]:
        from prosa.adapters.files import config_dir
        from prosa.adapters.files.key_store import stored_keys

        return stored_keys(config_dir(self.environ))
