"""The targets of wikilinks (Y21, YA21), resolved as in the graph.

Outside YMJ, double brackets may mean anything, so those of a document count as links only if one of them resolves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.graph.record import Record, Reference
from prosa.graph.stems import is_attachment, is_name, stem_tiers
from prosa.rules.corpus_names import CorpusNames, corpus_names
from prosa.rules.document import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import Corpus, Facts, LocalLink


class FollowedWikilink(Struct, frozen=True):
    """A wikilink and its possible targets; ``exact`` if the case matches. ``is_file`` is true if it names a file that
    is no document, anywhere below the root."""

    link: LocalLink
    candidates: tuple[Path, ...]
    exact: bool
    is_file: bool = False


@lru_cache(maxsize=1)
def followed_wikilinks(corpus: Corpus, path: Path) -> tuple[FollowedWikilink, ...]:
    """Return the wikilinks of a document that count as links, resolved once for all rules."""
    return tuple(_of_document(path, corpus.entries[path], corpus_names(corpus)))


def _of_document(path: Path, facts: Facts, names: CorpusNames) -> Iterator[FollowedWikilink]:
    if facts.dialect == "mdh" or not facts.wikilinks:
        return  # in a node no wikilink is followed; `wikilink-in-node` reports it (HA22)
    source = Record(path.as_posix(), facts.dialect)
    found = [_follow(source, link, names) for link in facts.wikilinks if link.target]
    if facts.dialect == "ymj":
        yield from found
    elif any(each.candidates or each.is_file for each in found):
        yield from (each for each in found if each.candidates or each.is_file or _may_be_meant(each.link.target, names))


def _follow(source: Record, link: LocalLink, names: CorpusNames) -> FollowedWikilink:
    from prosa.graph.resolve import resolve_tiers  # only here: most documents hold no wikilink

    reference = Reference("wikilink", link.target, "stem", link.start, link.end, 0)
    found = resolve_tiers(source, reference, stem_tiers(source, reference), names)
    is_file = not found.targets and is_attachment(link.target) and _lies_somewhere(link.target, names)
    return FollowedWikilink(link, tuple(each.real for each in found.targets), found.exact, is_file)


def _lies_somewhere(target: str, names: CorpusNames) -> bool:
    return target.rpartition("/")[2].casefold() in names.file_names()


def _may_be_meant(target: str, names: CorpusNames) -> bool:
    """Return whether unresolved brackets were meant as a link: as the name of a document, or, if all files are known,
    as that of another file."""
    return is_name(target) or (is_attachment(target) and bool(names.file_names()))


_ANYWHERE = "a file is found by its name anywhere below the root"


@RULES.one_of_many("MD024", "unresolved-wikilink", Severity.WARNING)
def unresolved_wikilink(corpus: Corpus, path: Path, _: Facts) -> Iterator[Finding]:
    """Find a `[[name]]` that no document is called (YA21). The finding points at the link; there is none unless all
    documents below the root are known."""
    if not corpus.complete:
        return
    for each in followed_wikilinks(corpus, path):
        if not each.candidates and not each.is_file:
            guess = nearest(each.link.target, corpus_names(corpus).stems())
            is_file = is_attachment(each.link.target)
            notes = (f"did you mean `[[{guess}]]`?",) if guess else (_ANYWHERE,) if is_file else ()
            what = "file" if is_file else "document"
            message = f"no {what} is called `{each.link.target}`"
            meant = Misspelling(each.link.target, guess) if guess else None
            yield Finding(message, each.link.span, notes, misspelling=meant)


MAX_NAMED = 3
"""Documents that the message names."""


@RULES.one_of_many("MD025", "ambiguous-wikilink", Severity.WARNING)
def ambiguous_wikilink(corpus: Corpus, path: Path, _: Facts) -> Iterator[Finding]:
    """Find a `[[name]]` where several documents have this file name (YA21). The finding points at the link. A document
    in the same folder is meant before all others."""
    for each in followed_wikilinks(corpus, path):
        if len(each.candidates) > 1:
            named = ", ".join(corpus.entries[other].path for other in each.candidates[:MAX_NAMED])
            more = ", …" if len(each.candidates) > MAX_NAMED else ""
            message = f"`{each.link.target}` may be any of {named}{more}"
            note = "write as much of the path as makes it one: `[[folder/name]]`"
            yield Finding(message, each.link.span, (note,))


@RULES.one_of_many("MD026", "wikilink-case", Severity.HINT)
def wikilink_case(corpus: Corpus, path: Path, _: Facts) -> Iterator[Finding]:
    """Find a `[[name]]` that differs from the file name in upper and lower case (YA21). The finding points at the
    link; it is still followed."""
    for each in followed_wikilinks(corpus, path):
        if each.candidates and not each.exact:
            name = each.candidates[0].stem
            message = f"`{each.link.target}` is written `{name}` in the name of the file"
            yield Finding(message, each.link.span, (f"write `[[{name}]]`",))
