"""Meta files of a corpus, and what documents inherit from them (M20, MA18, X33).

In: a corpus. Out: for a document the fields that it lacks, each with the meta file it comes from. Callers that show or
judge them mark them as inherited.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

from prosa.data import Value
from prosa.dialects.magi.meta import Inherited, MetaFile, inherited_by
from prosa.dialects.reading import DialectReading
from prosa.rules.rule import Corpus

if TYPE_CHECKING:
    from prosa.dialects.magi import CorpusFacts


@lru_cache(maxsize=1)
def meta_files(corpus: Corpus) -> tuple[MetaFile[Value], ...]:
    """Return the meta files below the root."""
    known = {**corpus.entries, **corpus.metas}
    magi = (
        (real, cast("CorpusFacts", facts.extra))
        for real, facts in known.items()
        if facts.dialect == "magi" and "globs" in facts.extra
    )
    return tuple(MetaFile(below_root(corpus, real), tuple(extra["globs"]), extra["lends"]) for real, extra in magi)


def inherited_in(corpus: Corpus, real: Path, reading: DialectReading[object]) -> dict[str, Inherited[Value]]:
    """Return what the document at a real path inherits, by field. Meta files are named as the user names documents."""
    metas = meta_files(corpus)
    inherited = inherited_by(reading, str(below_root(corpus, real)), metas) if metas else {}
    if not inherited:
        return inherited
    named = {below_root(corpus, place): facts.path for place, facts in {**corpus.entries, **corpus.metas}.items()}
    return {name: Inherited(field.value, PurePosixPath(named[field.by])) for name, field in inherited.items()}


def below_root(corpus: Corpus, real: Path) -> PurePosixPath:
    """Return the path of a document as its project knows it; where no root is known, that from the root of the disk."""
    base = corpus.root if corpus.root is not None and real.is_relative_to(corpus.root) else Path(real.anchor)
    return PurePosixPath(real.relative_to(base).as_posix())
