"""Where the links of a corpus lead, and ids that lead to more than one document.

A link leads to a document, a file, nothing, or unknown. Unknown is what only a site generator can tell: pages by their
address (`guide/`, `guide.html`). Nothing is said of what lies outside the root."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

from prosa.diagnostics import Applicability, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.graph.pages import FILE_SUFFIXES, is_page, joined, page_sources, suffix_of
from prosa.rules.corpus_names import file_names, is_vault
from prosa.rules.document import RULES
from prosa.rules.document.wikilinks import followed_wikilinks
from prosa.rules.rule import Finding
from prosa.rules.subject import Corpus, Facts, LocalLink
from prosa.source import Edit

if TYPE_CHECKING:
    from prosa.document import Def

State: TypeAlias = Literal["document", "file", "missing", "unknown"]


class FollowedLink(NamedTuple):
    """A link and where it leads. ``real`` is set for a document and ``shown`` is the path it was looked for at."""

    source: Path
    link: LocalLink
    state: State
    real: Path | None
    shown: str


@lru_cache(maxsize=1)
def followed(corpus: Corpus) -> tuple[FollowedLink, ...]:
    """Every local link of the corpus, followed once for all rules that ask."""
    walk = _Walk(corpus, {path.as_posix(): path for path in corpus.entries})
    return tuple(found for path, facts in corpus.entries.items() for found in walk.of(path, facts))


class _Walk(Struct):
    corpus: Corpus
    by_name: dict[str, Path]
    known: dict[str, tuple[State, Path | None]] = field(default_factory=dict)

    def of(self, path: Path, facts: Facts) -> Iterator[FollowedLink]:
        """The links of one document."""
        folder = posixpath.dirname(path.as_posix())
        for link in facts.links:
            if not link.target:
                yield FollowedLink(path, link, "document", path, "")
                continue
            name = joined(folder, link.target)
            found = self.known.get(name)
            if found is None:
                found = self.known[name] = self._look(name)
            yield FollowedLink(path, link, *found, name)

    def _look(self, name: str) -> tuple[State, Path | None]:
        if (document := self.by_name.get(name)) is not None:
            return "document", document
        suffix = suffix_of(name)
        if is_page(name, suffix):
            sources = (self.by_name.get(each) for each in page_sources(name, suffix))
            made_of = next((each for each in sources if each is not None), None)
            return ("document", made_of) if made_of is not None else ("unknown", None)
        if self.corpus.files.exists(Path(name)):
            is_document = suffix in DOCUMENT_SUFFIXES
            return ("document", Path(name)) if is_document else ("file", None)
        wrong = suffix in FILE_SUFFIXES and self.corpus.files.inside_root(Path(name))
        return ("missing" if wrong else "unknown"), None


@RULES.corpus("MD020", "unresolved-link", Severity.ERROR)
def unresolved_link(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Finds a relative link to a file that does not exist within the root. The finding points at the destination.
    Addresses, site paths and placeholders are not looked at (`rules.analyse`)."""
    lowered: dict[str, str] = {}
    for found in followed(corpus):
        if found.state == "missing" and not _in_site(corpus, found):
            elsewhere = _by_name(corpus, found)
            if elsewhere and is_vault(corpus):
                continue
            if elsewhere:
                yield found.source, _only_by_name(found, elsewhere)
                continue
            lowered = lowered or {path.as_posix().lower(): path.as_posix() for path in corpus.entries}
            yield found.source, _missing(found, lowered.get(found.shown.lower()))


def _in_site(corpus: Corpus, found: FollowedLink) -> bool:
    """Whether the rules of MDH look at this link: the nodes of a site are known by their URLs."""
    return corpus.rooted != "guessed" and corpus.entries[found.source].dialect == "mdh"


def _by_name(corpus: Corpus, found: FollowedLink) -> str:
    """Where a file of this name lies, for an image that is given as a name alone (YA21); empty where there is none."""
    if not found.link.embedded or "/" in found.link.target:
        return ""
    return file_names(corpus).get(found.link.target.casefold(), "")


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


_NO_HEADING = re.compile(r":~:|[Ll][0-9]+|fn|footnote|top\Z|_[0-9]*\Z|[!/=?]")
"""Fragments that name something else: a text, lines of a file, a footnote, the top of the page, a heading without
letters that a generator numbered, the state of an app."""

_SILENT = re.compile(r"[\W_]+")
_NUMBER = "0123456789"
_SITE_PREFIX = "user-content-"
"""What GitHub puts before the ids of a document."""

MAX_GUESSED = 200
"""Headings of one document that are compared with a mistyped one."""


class Named(NamedTuple):
    """A heading that a document names: the link at ``source``, the document it is looked for in, and whether the link
    names it as an address does (`#the-end`) or as it reads, like wikilinks."""

    source: Path
    link: LocalLink
    real: Path
    as_address: bool = True


@RULES.corpus("MD021", "unresolved-anchor", Severity.WARNING)
def unresolved_anchor(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Finds a link to a heading or to a block that its target does not have. The finding points at the destination.
    Generators make anchors in different ways, so only letters and digits of headings are compared."""
    known: dict[Path, frozenset[str] | None] = {}
    for each in _named(corpus):
        if each.real not in known:
            known[each.real] = _headings(_facts(corpus, each.real))
        there = known[each.real]
        if each.link.fragment.startswith("^"):
            if there is not None and each.link.fragment.lower() not in _anchors(corpus, each.real):
                yield each.source, _no_block(each, _anchors(corpus, each.real))
            continue
        heard = _heard(each.link.fragment.removeprefix(_SITE_PREFIX))
        if there is not None and heard and heard not in there:
            yield each.source, _problem(each, _facts(corpus, each.real))


def _named(corpus: Corpus) -> Iterator[Named]:
    """Of `[[a#b#c]]` the last part counts, and `^c` is a block. Which document a wikilink names is certain only
    where all documents are known."""
    for found in followed(corpus):
        if found.real is not None and found.link.fragment and not _NO_HEADING.match(found.link.fragment):
            yield Named(found.source, found.link, found.real)
    for each in followed_wikilinks(corpus) if corpus.complete else ():
        heading = each.link.fragment.rpartition("#")[2].strip()
        if len(each.candidates) == 1 and heading and not _NO_HEADING.match(heading):
            yield Named(each.source, each.link._replace(fragment=heading), each.candidates[0], as_address=False)


def _problem(named: Named, facts: Facts | None) -> Finding:
    link = named.link
    where = f"`{link.target}`" if link.target else "this document"
    guess = nearest(link.fragment, _written(facts)) if facts and named.as_address else None
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


def _anchors(corpus: Corpus, real: Path) -> frozenset[str]:
    facts = _facts(corpus, real)
    return facts.anchors if facts is not None else frozenset()


def _facts(corpus: Corpus, real: Path) -> Facts | None:
    return corpus.entries.get(real) or corpus.load(real)


def _headings(facts: Facts | None) -> frozenset[str] | None:
    """The anchors as they are compared; None where not all of them are known. Some generators leave out the number
    before a heading."""
    if facts is None or "*" in facts.anchors:
        return None
    heard = [_heard(each) for each in facts.anchors if not each.startswith("^")]
    return frozenset((*heard, *(each.lstrip(_NUMBER) for each in heard)))


def _heard(anchor: str) -> str:
    """Letters and digits, without accents: some generators take them away."""
    return _SILENT.sub("", unicodedata.normalize("NFKD", anchor.casefold()))


_WITH_IDS = ("magi", "mdh")
"""Dialects whose ids are meant to be unique (HA20). Two programs may have one name: importing both is the error."""


@RULES.corpus("MD023", "duplicate-id", Severity.ERROR)
def duplicate_id(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Finds two documents of one dialect with the same id; whoever names it cannot know which is meant. The findings
    point at each of the ids, so that each document shows it when it is checked alone."""
    found: dict[tuple[str, str], list[tuple[Path, Def]]] = {}
    for path, facts in corpus.entries.items():
        if facts.dialect in _WITH_IDS:
            for each in facts.defs:
                if each.kind == "id":
                    found.setdefault((facts.dialect, each.name), []).append((path, each))
    for same in found.values():
        if len(same) > 1:
            for path, each in same:
                other = next((candidate for candidate, _ in same if candidate != path), path)
                message = f"`{each.name}` is also the id of {corpus.entries[other].path}"
                yield path, Finding(message, each.span, ("give one of them another id",))
