"""A corpus of mixed documents, the same for the same count and seed: pages, MAGI documents, YMJ records, MDH nodes,
chats, programs and skills that point at each other. One document in a hundred of each kind is flawed. With ``rare``
words are as unequal as words are; without, a few sentences' worth of words stand everywhere.

`python -m bench.mixed_corpus FOLDER [COUNT [SEED [rare]]]` writes one to look at.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.mixed_documents import PATHS, Place, magi, mdh, plain, prapti, program, skill, ymj

COUNT = 7_000
SEED = 20_260
FLAWED_EVERY = 100

KINDS = (*[plain] * 10, *[magi] * 3, *[mdh] * 2, *[prapti] * 2, ymj, program, skill)
"""What twenty documents in a row are."""


@dataclass(frozen=True, slots=True)
class Written:
    """What is in a corpus: documents, bytes, and how many diagnostics a check of it gives."""

    files: int
    size: int
    findings: int


def documents(count: int = COUNT, seed: int = SEED, *, rare: bool = False) -> Iterator[tuple[str, str, bool]]:
    """Path, text and whether it is flawed, of every document."""
    kinds = [KINDS[at % len(KINDS)] for at in range(count)]
    totals, seen = Counter(kinds), Counter[object]()
    for kind in kinds:
        index = seen[kind]
        seen[kind] += 1
        flawed = index % FLAWED_EVERY == FLAWED_EVERY // 2
        yield PATHS[kind](index), kind(Place(seed, index, totals[kind], flawed, rare)), flawed


def write_corpus(folder: Path, count: int = COUNT, seed: int = SEED, *, rare: bool = False) -> Written:
    """Write the corpus into ``folder``."""
    size = findings = 0
    for path, text, flawed in documents(count, seed, rare=rare):
        file, data = folder / path, text.encode()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        size += len(data)
        findings += flawed
    return Written(count, size, findings)


if __name__ == "__main__":
    print(write_corpus(Path(sys.argv[1]), *map(int, sys.argv[2:4]), rare=sys.argv[4:] == ["rare"]))
