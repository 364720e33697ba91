"""Where wikilinks lead (Y21, YA21): to the document with that file stem, exactly or but for case.

In: a corpus. Out: each wikilink with the documents it may mean. Outside YMJ double brackets may mean anything, so a
document's own are taken for links only when one of them leads somewhere.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from prosa.rules.subject import Corpus, Facts, LocalLink


class Followed(NamedTuple):
    """A wikilink of the document at ``source``, and what it may mean; ``exact`` when the case is as written."""

    source: Path
    link: LocalLink
    candidates: tuple[Path, ...]
    exact: bool


@lru_cache(maxsize=1)
def followed_wikilinks(corpus: Corpus) -> tuple[Followed, ...]:
    """Every wikilink of the corpus that is one."""
    if not any(facts.wikilinks for facts in corpus.entries.values()):
        return ()
    exact: dict[str, list[Path]] = {}
    loose: dict[str, list[Path]] = {}
    for path in corpus.entries:
        exact.setdefault(path.stem, []).append(path)
        loose.setdefault(path.stem.casefold(), []).append(path)
    return tuple(each for path, facts in corpus.entries.items() for each in _of_document(path, facts, exact, loose))


def _of_document(
    path: Path, facts: Facts, exact: dict[str, list[Path]], loose: dict[str, list[Path]]
) -> Iterator[Followed]:
    if facts.dialect == "mdh":
        return  # there no wikilink is followed, and `wikilink-in-node` says so (HA22)
    found = [_follow(path, link, exact, loose) for link in facts.wikilinks if link.target]
    if facts.dialect == "ymj" or any(each.candidates for each in found):
        yield from found


def _follow(path: Path, link: LocalLink, exact: dict[str, list[Path]], loose: dict[str, list[Path]]) -> Followed:
    """A target may name folders too: then the path must end with them."""
    folder, name = posixpath.split(link.target)
    stem = posixpath.splitext(name)[0] if name.lower().endswith((".md", ".ymj", ".mda", ".markdown")) else name
    same = [each for each in exact.get(stem, ()) if _ends(each, folder)]
    if same:
        return Followed(path, link, tuple(same), exact=True)
    similar = [each for each in loose.get(stem.casefold(), ()) if _ends(each, folder)]
    return Followed(path, link, tuple(similar), exact=False)


def _ends(path: Path, folder: str) -> bool:
    parent = path.parent.as_posix()
    return not folder or parent == folder or parent.casefold().endswith("/" + folder.strip("/").casefold())
