"""A suggestion for a missing file.

In: a path. Out: a similar existing path, in the same notation, or None. It reads the names in that folder, and opens
nothing.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from prosa.diagnostics.nearest import nearest
from prosa.dialects.table import DOCUMENT_SUFFIXES

MAX_NAMES = 10_000
"""Maximum number of names in a folder that are compared."""


def nearest_file(path: Path) -> Path | None:
    """Return the path with the name most like its own: a name without its suffix first, then one with another case,
    then a misspelt one. A folder on the way that is missing is replaced in the same manner."""
    # os.path has an answer for names that are too long, where Path raises.
    there = next((parent for parent in path.parents if os.path.isdir(parent)), None)  # noqa: PTH112
    if there is None:
        return None
    for part in path.parts[len(there.parts) :]:
        names = _names(there)
        name = part if part in names else _nearest_name(part, names)
        if name is None:
            return None
        there /= name
    return there


def _nearest_name(name: str, names: list[str]) -> str | None:
    """Return the most similar to ``name`` of ``names``. A name without a suffix is compared without suffixes."""
    folded = name.casefold()
    stems = {file.rpartition(".")[0]: file for file in names if file.lower().endswith(DOCUMENT_SUFFIXES)}
    for stem, file in stems.items():
        if stem.casefold() == folded:
            return file
    # The comparison takes a few hundred names; those of about this length that begin alike go first.
    known = sorted({*names, *stems}, key=lambda word: (word[:1].casefold() != folded[:1], abs(len(word) - len(name))))
    near = nearest(name, known)
    return stems.get(near, near) if near else None


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, MAX_NAMES))
    except OSError:
        return []
