"""Where wikilinks lead (Y21, YA21): to the document with that file stem, exactly or but for case.

In: a corpus. Out: each wikilink with the documents it may mean. Outside YMJ double brackets may mean anything, so a
document's own are taken for links only when one of them leads somewhere.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.rules.document.targets import FILE_SUFFIXES
from prosa.rules.subject import Corpus, Facts, LocalLink

_NAME = re.compile(r"[./]*[^\W\d_]|[./]*\d+[^\d]")
"""How the name of a document begins. `[[0]]` is an index, `[[ -f file ]]` a test, `[[:space:]]` a pattern."""


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
    if facts.dialect == "ymj":
        yield from found
        return
    found = [each if each.candidates else _in_wiki(each, exact, loose) for each in found]
    if any(each.candidates for each in found):
        yield from (each for each in found if each.candidates or _is_name(each.link.target))


def _in_wiki(found: Followed, exact: dict[str, list[Path]], loose: dict[str, list[Path]]) -> Followed:
    """Wikis write a hyphen for each blank in the name of a file."""
    written = found.link._replace(target=found.link.target.replace(" ", "-"))
    return _follow(found.source, written, exact, loose)._replace(link=found.link, exact=True)


def _is_name(target: str) -> bool:
    """Whether a target may be meant for a document, not for an attachment or no link at all."""
    suffix = posixpath.splitext(target)[1].lower()
    return bool(_NAME.match(target)) and (suffix in DOCUMENT_SUFFIXES or suffix not in FILE_SUFFIXES)


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
