"""Files beside documents whose URLs mean something else: indexes of the site, or the JSON form of a document (HA7).

In: the root and the published nodes. Out: each such file with the reason. What wins is the site's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from prosa.dialects.mdh.url import RESERVED, SUFFIXES
from prosa.site.view import NodeRow


def hidden_files(root: Path, rows: Sequence[NodeRow]) -> Iterator[tuple[str, str]]:
    """The files, by their path below the root, and why they cannot be read."""
    for name in RESERVED:
        if (root / name).is_file():
            yield name, "the site makes its own"
    for row in rows:
        suffix = next((each for each in SUFFIXES if row.path.endswith(each)), "")
        twin = f"{row.path.removesuffix(suffix)}.json"
        if (root / twin).is_file():
            yield twin, f"it is the JSON form of {row.path!r}"
