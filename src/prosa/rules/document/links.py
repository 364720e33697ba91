"""The targets of the links of a corpus, and ids of more than one document.

A link leads to a document, a file, nothing, or an unknown target, which only a site generator can resolve: pages by
their address (`guide/`, `guide.html`). Targets outside the root are not judged.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from prosa.diagnostics import Applicability, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.document.anchors import sounding
from prosa.graph.names import Key
from prosa.graph.pages import is_page, joined, suffix_of
from prosa.regex import regex
from prosa.rules.corpus_names import CorpusNames, Place, corpus_names
from prosa.rules.document import RULES
from prosa.rules.document.wikilinks import followed_wikilinks
from prosa.rules.rule import Finding
from prosa.rules.subject import Corpus, Facts, LocalLink
from prosa.source import Edit


class FollowedLink(NamedTuple):
    """A link and its target. ``shown`` is the path that was tried."""

    link: LocalLink
    place: Place
    shown: str


@lru_cache(maxsize=1)
def followed(corpus: Corpus, path: Path) -> tuple[FollowedLink, ...]:
    """Return the local links of a document, resolved once for all rules."""
    return tuple(_of_document(path, corpus.entries[path], corpus_names(corpus)))


def _of_document(path: Path, facts: Facts, names: CorpusNames) -> Iterator[FollowedLink]:
    folder = posixpath.dirname(path.as_posix())
    for link in facts.links:
        if link.target:
            name = joined(folder, link.target)
            yield FollowedLink(link, names.at(name), name)
        else:
            yield FollowedLink(link, Place("document", path), "")


@RULES.one_of_many("MD020", "unresolved-link", Severity.ERROR)
def unresolved_link(corpus: Corpus, path: Path, facts: Facts) -> Iterator[Finding]:
    """Find a relative link to a file that does not exist within the root. The finding points at the destination.
    Addresses, site paths and placeholders are ignored (`rules.analyse`). Rules of MDH check the links to the nodes of
    a site."""
    if facts.dialect == "mdh" and corpus.rooted != "guessed":
        return
    for found in followed(corpus, path):
        if found.place.state == "missing":
            elsewhere = _by_name(corpus, found)
            if not elsewhere:
                yield _missing(found, _lowered(corpus).get(found.shown.lower()))
            elif not corpus_names(corpus).is_vault():
                yield _only_by_name(found, elsewhere)


@RULES.one_of_many("MD029", "unresolved-path", Severity.WARNING)
def unresolved_path(corpus: Corpus, path: Path, facts: Facts) -> Iterator[Finding]:
    """Find a relative link to a folder, or to a file without a known suffix, that does not exist within the root. The
    finding points at the destination. It is silent if documents are linked by the addresses of their pages: a site
    generator may create the target."""
    if facts.dialect == "mdh" or not corpus.complete:
        return
    for found in followed(corpus, path):
        if found.place.state == "absent" and not _has_addresses(corpus):
            target = found.link.target
            notes = ["a relative link starts at the folder of the document"]
            if _HOST.fullmatch(target.partition("/")[0]):
                notes.append(f"the address of another site begins with a scheme: `https://{target}`")
            yield Finding(f"`{target}` does not exist", found.link.span, tuple(notes))


_HOST = regex(r"(?:[\w-]+\.)+[A-Za-z]{2,}")


def _has_addresses(corpus: Corpus) -> bool:
    """Return whether any document is linked by the address of its page: `guide/` or `guide` for `guide.md`."""
    names = corpus_names(corpus)

    def is_address(path: Path, link: LocalLink) -> bool:
        if not is_page(link.target, suffix_of(link.target)):
            return False  # as most are: a file has a suffix
        name = joined(posixpath.dirname(path.as_posix()), link.target)
        made_of = names.at(name).real if is_page(name, suffix_of(name)) else None
        return made_of is not None and made_of.stem == posixpath.splitext(posixpath.basename(name.rstrip("/")))[0]

    def look() -> bool:
        return any(
            is_address(path, link) for path, facts in corpus.entries.items() for link in facts.links if link.target
        )

    return names.derived("addresses", "links", look)


def _lowered(corpus: Corpus) -> Mapping[str, str]:
    """Return the paths of all documents by their lower case."""
    names = corpus_names(corpus)
    return names.derived(
        "lowered", "paths", lambda: {path.as_posix().lower(): path.as_posix() for path in corpus.entries}
    )


def _by_name(corpus: Corpus, found: FollowedLink) -> str:
    """Return the path of a file of this name, for an image given by its name alone (YA21); empty if there is none."""
    if not found.link.embedded or "/" in found.link.target:
        return ""
    return corpus_names(corpus).file_names().get(found.link.target.casefold(), "")


def _only_by_name(found: FollowedLink, elsewhere: str) -> Finding:
    message = f"`{found.link.target}` is found by its name alone, at {elsewhere}"
    note = "Obsidian looks for it there; everywhere else the link needs the path"
    return Finding(message, found.link.span, (note,), severity=Severity.HINT)


def _missing(found: FollowedLink, other_case: str | None) -> Finding:
    target, span = found.link.target, found.link.span
    message = f"`{target}` does not exist"
    if other_case is None:
        return Finding(message, span, ("a relative link starts at the folder of the document",))
    name = posixpath.basename(other_case)
    note = f"there is `{name}`: upper and lower case matter on most systems"
    fix = None
    if posixpath.dirname(other_case) == posixpath.dirname(found.shown) and target.isascii() and " " not in target:
        written = f"{target.removesuffix(posixpath.basename(target))}{name}"
        edited = written + (f"#{found.link.fragment}" if found.link.fragment else "")
        fix = Fix(f"write `{edited}`", (Edit(span, edited),), Applicability.UNSAFE)
    return Finding(message, span, (note,), fix=fix)


_NO_HEADING = regex(r":~:|[Ll][0-9]+|fn|footnote|top\Z|_[0-9]*\Z|[!/=?]")
"""Fragments that name something else: a text, lines of a file, a footnote, the top of the page, a heading without
letters that a generator numbered, the state of an app."""

_NUMBER = "0123456789"
_SITE_PREFIX = "user-content-"
"""What GitHub puts before the ids of a document."""

MAX_GUESSED = 200
"""Headings of one document that are compared with a mistyped one."""


class Named(NamedTuple):
    """A heading that a document names: the link, the document that should contain it, and whether the link gives it as
    an anchor (`#the-end`) or as text, like wikilinks."""

    link: LocalLink
    real: Path
    as_address: bool = True


@RULES.one_of_many("MD021", "unresolved-anchor", Severity.WARNING)
def unresolved_anchor(corpus: Corpus, path: Path, _: Facts) -> Iterator[Finding]:
    """Find a link to a heading or to a block that its target does not have. The finding points at the destination.
    Generators make anchors in different ways, so only letters and digits of headings are compared."""
    names = corpus_names(corpus)
    for each in _named(corpus, path):
        target = names.facts(each.real)
        written = each.link.fragment.removeprefix(_SITE_PREFIX)
        if target is None or written in target.anchors:
            continue  # as most are: nothing has to be compared
        there = _headings(target.anchors)
        if there is None:
            continue
        if each.link.fragment.startswith("^"):
            if each.link.fragment.lower() not in target.anchors:
                yield _no_block(each, target.anchors)
            continue
        heard = sounding(written)
        if heard and heard not in there:
            yield _problem(each, target)


def _named(corpus: Corpus, path: Path) -> Iterator[Named]:
    """Of `[[a#b#c]]` the last part counts, and `^c` is a block. Which document a wikilink names is certain only
    where all documents are known."""
    for found in followed(corpus, path):
        real, fragment = found.place.real, found.link.fragment
        if real is not None and fragment and not _NO_HEADING.match(fragment):
            yield Named(found.link, real)
    for each in followed_wikilinks(corpus, path) if corpus.complete else ():
        heading = each.link.fragment.rpartition("#")[2].strip()
        if len(each.candidates) == 1 and heading and not _NO_HEADING.match(heading):
            yield Named(each.link._replace(fragment=heading), each.candidates[0], as_address=False)


def _problem(named: Named, facts: Facts) -> Finding:
    link = named.link
    where = f"`{link.target}`" if link.target else "this document"
    guess = nearest(link.fragment, _written(facts)) if named.as_address else None
    notes = (f"did you mean `#{guess}`?",) if guess else ()
    message = f"{where} has no heading `#{link.fragment}`"
    meant = Misspelling(f"#{link.fragment}", f"#{guess}") if guess else None
    return Finding(message, link.span, notes, misspelling=meant)


def _written(facts: Facts) -> list[str]:
    return sorted(each for each in facts.anchors if not each.startswith("^"))[:MAX_GUESSED]


def _no_block(named: Named, anchors: frozenset[str]) -> Finding:
    link = named.link
    where = f"`{link.target}`" if link.target else "this document"
    guess = nearest(link.fragment, sorted(each for each in anchors if each.startswith("^"))[:MAX_GUESSED])
    notes = (f"did you mean `#{guess}`?" if guess else "a block is named by ` ^name` at its end",)
    return Finding(f"{where} has no block `#{link.fragment}`", link.span, notes)


@lru_cache(maxsize=1024)
def _headings(anchors: frozenset[str]) -> frozenset[str] | None:
    """Return the anchors as they are compared; None where not all of them are known. Some generators leave out the
    number before a heading."""
    if "*" in anchors:
        return None
    heard = [sounding(each) for each in anchors if not each.startswith("^")]
    return frozenset((*heard, *(each.lstrip(_NUMBER) for each in heard)))


_WITH_IDS = ("magi", "mdh")
"""Dialects whose ids are meant to be unique (HA20). Two programs may have one name: importing both is the error."""


@RULES.one_of_many("MD023", "duplicate-id", Severity.ERROR)
def duplicate_id(corpus: Corpus, path: Path, facts: Facts) -> Iterator[Finding]:
    """Find two documents of one dialect with the same id, which makes references ambiguous. The findings point at each
    of the ids, so that each document shows it if it is checked alone."""
    if facts.dialect not in _WITH_IDS:
        return
    own = [each for each in facts.defs if each.kind == "id"]
    for each in own:
        same = corpus_names(corpus).find(Key(f"id@{facts.dialect}", each.name))
        if len(same) > 1 or sum(twin.name == each.name for twin in own) > 1:
            other = next((twin.real for twin in same if twin.real != path), path)
            message = f"`{each.name}` is also the id of {corpus.entries[other].path}"
            yield Finding(message, each.span, ("give one of them another id",))
