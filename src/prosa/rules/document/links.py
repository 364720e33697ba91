"""The targets of the links and wikilinks of a corpus, ids of more than one document, and what a project demands of
front matter."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from unicodedata import is_normalized, normalize

from msgspec import Struct
from msgspec.structs import replace

from prosa.diagnostics import Applicability, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.document.anchors import sounding
from prosa.graph.names import Key, is_attachment, is_name, is_page, joined, stem_tiers, suffix_of
from prosa.graph.record import Record, Reference
from prosa.regex import regex
from prosa.rules.corpus_names import CorpusNames, PathState, corpus_names
from prosa.rules.document import RULES
from prosa.rules.moves import Moved, moved_to, replacement
from prosa.rules.rule import Corpus, DocumentFacts, Finding, LocalLink
from prosa.source import Edit


class FollowedLink(Struct, frozen=True):
    """A link and its target. ``shown`` is the path that was tried."""

    link: LocalLink
    place: PathState
    shown: str


@lru_cache(maxsize=1)
def followed(corpus: Corpus, path: Path) -> tuple[FollowedLink, ...]:
    """Return the local links of a document, resolved once for all rules."""
    return _followed_links(path, corpus.entries[path], corpus_names(corpus))


def _followed_links(path: Path, facts: DocumentFacts, names: CorpusNames) -> tuple[FollowedLink, ...]:
    folder = posixpath.dirname(path.as_posix())
    shown = [joined(folder, link.target) if link.target else "" for link in facts.links]
    places = names.at_all([target for target in shown if target])
    here = PathState("document", path)
    return tuple(
        [
            FollowedLink(link, places[name] if name else here, name)
            for link, name in zip(facts.links, shown, strict=True)
        ]
    )


@RULES.one_of_many("MD020", "unresolved-link", Severity.ERROR)
def unresolved_link(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a relative link to a file that does not exist within the root. The finding points at the destination.
    Addresses, site paths and placeholders are ignored (`rules.analyse`). Rules of MDH check the links to the nodes of
    a site."""
    if facts.dialect == "mdh" and corpus.rooted != "guessed":
        return
    for link in followed(corpus, path):
        if link.place.state == "missing":
            elsewhere = _by_name(corpus, link)
            if "\\" in link.link.target:
                yield _of_windows(corpus, path, link)
            elif not elsewhere:
                yield _missing(link, _lowered(corpus).get(_alike(link.shown)), _moved(corpus, path, link))
            elif not corpus_names(corpus).is_vault():
                yield _only_by_name(link, elsewhere)


@RULES.one_of_many("MD029", "unresolved-path", Severity.WARNING)
def unresolved_path(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a relative link to a folder, or to a file without a known suffix, that does not exist within the root. The
    finding points at the destination. It is silent if documents are linked by the addresses of their pages: a site
    generator may create the target."""
    if facts.dialect == "mdh" or not corpus.complete:
        return
    for link in followed(corpus, path):
        if link.place.state == "absent" and not _has_addresses(corpus):
            target = link.link.target
            notes = ["a relative link starts at the folder of the document"]
            if _HOST.fullmatch(target.partition("/")[0]):
                notes.append(f"the address of another site begins with a scheme: `https://{target}`")
            yield Finding(f"`{target}` does not exist", link.link.span, tuple(notes))


_HOST = regex(r"(?:[\w-]+\.)+[A-Za-z]{2,}")


def _has_addresses(corpus: Corpus) -> bool:
    """Return whether any document is linked by the address of its page: `guide/` or `guide` for `guide.md`."""
    names = corpus_names(corpus)

    def is_address(path: Path, link: LocalLink) -> bool:
        target = link.target
        if target.endswith(".md") and target[-4:-3] not in ("", ".", "/"):
            return False  # as most are: a file has a suffix
        if not is_page(target, suffix_of(target)):
            return False
        name = joined(posixpath.dirname(path.as_posix()), target)
        made_of = names.at(name).real if is_page(name, suffix_of(name)) else None
        return made_of is not None and made_of.stem == posixpath.splitext(posixpath.basename(name.rstrip("/")))[0]

    def look() -> bool:
        return any(
            is_address(path, link) for path, facts in corpus.entries.items() for link in facts.links if link.target
        )

    return names.derived("addresses", "links", look)


def _lowered(corpus: Corpus) -> Mapping[str, str]:
    """Return the paths of all documents by their lower case, composed."""
    names = corpus_names(corpus)
    return names.derived(
        "lowered", "paths", lambda: {_alike(path.as_posix()): path.as_posix() for path in corpus.entries}
    )


def _alike(path: str) -> str:
    """Return what two paths share that differ in case, or in the Unicode form of letters with marks."""
    return path.lower() if path.isascii() else normalize("NFC", path).lower()


def _by_name(corpus: Corpus, link: FollowedLink) -> str:
    """Return the path of a file of this name, for an image given by its name alone (YA21); empty if there is none."""
    if not link.link.embedded or "/" in link.link.target:
        return ""
    return corpus_names(corpus).file_names().get(link.link.target.casefold(), "")


def _only_by_name(link: FollowedLink, elsewhere: str) -> Finding:
    message = f"`{link.link.target}` is found by its name alone, at {elsewhere}"
    note = "Obsidian looks for it there; everywhere else the link needs the path"
    return Finding(message, link.link.span, (note,), severity=Severity.HINT)


def _moved(corpus: Corpus, path: Path, link: FollowedLink) -> tuple[Moved, str] | None:
    """Return where the target of a link is now, and the path as the document writes it. History is read only for what
    agents read: it takes time."""
    of_agents = corpus.entries[path].dialect in ("context", "skill_md")
    moved = moved_to(corpus, Path(link.shown)) if of_agents else None
    return (moved, moved.seen_from(path)) if moved is not None else None


_PLAIN = regex(r"[A-Za-z0-9_./@+~-]+")
"""A path that is the same as the destination of a link."""


def _missing(link: FollowedLink, other_case: str | None, moved: tuple[Moved, str] | None) -> Finding:
    target, span = link.link.target, link.link.span
    message = f"`{target}` does not exist"
    if other_case is None and moved is not None:
        there, written = moved
        fragment = f"#{link.link.fragment}" if link.link.fragment else ""
        plain = len(span) == len(target) + len(fragment) and _PLAIN.fullmatch(written)
        return Finding(message, span, (there.note,), fix=replacement(span, written + fragment) if plain else None)
    if other_case is None:
        return Finding(message, span, ("a relative link starts at the folder of the document",))
    name = posixpath.basename(other_case)
    note = f"there is `{name}`: upper and lower case matter on most systems"
    if posixpath.basename(link.shown).lower() != name.lower():
        form = "NFC" if is_normalized("NFC", name) else "NFD"
        note = f"there is `{name}`, which looks alike: its letters with marks are in the Unicode form {form}"
    fix = None
    if posixpath.dirname(other_case) == posixpath.dirname(link.shown) and target.isascii() and " " not in target:
        written = f"{target.removesuffix(posixpath.basename(target))}{name}"
        edited = written + (f"#{link.link.fragment}" if link.link.fragment else "")
        fix = Fix(f"write `{edited}`", (Edit(span, edited),), Applicability.UNSAFE)
    return Finding(message, span, (note,), fix=fix)


def _of_windows(corpus: Corpus, path: Path, link: FollowedLink) -> Finding:
    target, span = link.link.target, link.link.span
    written = target.replace("\\", "/")
    note, fix = "a path in a link is written with `/`", None
    there = corpus_names(corpus).at(joined(posixpath.dirname(path.as_posix()), written))
    if there.state not in ("missing", "absent"):
        fragment = f"#{link.link.fragment}" if link.link.fragment else ""
        note = f"there is `{written}`: {note}"
        if len(span) == len(target) + len(fragment) and _PLAIN.fullmatch(written):
            fix = replacement(span, written + fragment, Applicability.UNSAFE)
    return Finding(f"`{target}` does not exist", span, (note,), fix=fix)


_NO_HEADING = regex(r":~:|[Ll][0-9]+|fn|footnote|top\Z|_[0-9]*\Z|[!/=?]")
"""Fragments that name something else: a text, lines of a file, a footnote, the top of the page, a heading without
letters that a generator numbered, the state of an app."""

_NUMBER = "0123456789"
_SITE_PREFIX = "user-content-"
"""What GitHub puts before the ids of a document."""

MAX_GUESSED = 200
"""Headings of one document that are compared with a mistyped one."""


class Named(Struct, frozen=True):
    """A heading that a document names: the link, the document that should contain it, and whether the link gives it as
    an anchor (`#the-end`) or as text, like wikilinks."""

    link: LocalLink
    real: Path
    as_address: bool = True


@RULES.one_of_many("MD021", "unresolved-anchor", Severity.WARNING)
def unresolved_anchor(corpus: Corpus, path: Path, _: DocumentFacts) -> Iterator[Finding]:
    """Find a link to a heading or to a block that its target does not have. The finding points at the destination.
    Generators make anchors in different ways, so only letters and digits of headings are compared."""
    names = corpus_names(corpus)
    for named in _named(corpus, path):
        target = names.facts(named.real)
        written = named.link.fragment.removeprefix(_SITE_PREFIX)
        if target is None or written in target.anchors:
            continue  # as most are: nothing has to be compared
        there = _headings(target.anchors)
        if there is None:
            continue
        if named.link.fragment.startswith("^"):
            if named.link.fragment.lower() not in target.anchors:
                yield _no_block(named, target.anchors)
            continue
        sound = sounding(written)
        if sound and sound not in there:
            yield _problem(named, target)


def _named(corpus: Corpus, path: Path) -> Iterator[Named]:
    """Of `[[a#b#c]]` the last part counts, and `^c` is a block. Which document a wikilink names is certain only
    where all documents are known."""
    for link in followed(corpus, path):
        real, fragment = link.place.real, link.link.fragment
        if real is not None and fragment and not _NO_HEADING.match(fragment):
            yield Named(link.link, real)
    for wikilink in followed_wikilinks(corpus, path) if corpus.complete else ():
        heading = wikilink.link.fragment.rpartition("#")[2].strip()
        if len(wikilink.candidates) == 1 and heading and not _NO_HEADING.match(heading):
            yield Named(replace(wikilink.link, fragment=heading), wikilink.candidates[0], as_address=False)


def _problem(named: Named, facts: DocumentFacts) -> Finding:
    link = named.link
    where = f"`{link.target}`" if link.target else "this document"
    guess = nearest(link.fragment, _written(facts)) if named.as_address else None
    notes = (f"did you mean `#{guess}`?",) if guess else ()
    message = f"{where} has no heading `#{link.fragment}`"
    meant = Misspelling(f"#{link.fragment}", f"#{guess}") if guess else None
    return Finding(message, link.span, notes, misspelling=meant)


def _written(facts: DocumentFacts) -> list[str]:
    return sorted(anchor for anchor in facts.anchors if not anchor.startswith("^"))[:MAX_GUESSED]


def _no_block(named: Named, anchors: frozenset[str]) -> Finding:
    link = named.link
    where = f"`{link.target}`" if link.target else "this document"
    guess = nearest(link.fragment, sorted(anchor for anchor in anchors if anchor.startswith("^"))[:MAX_GUESSED])
    notes = (f"did you mean `#{guess}`?" if guess else "a block is named by ` ^name` at its end",)
    return Finding(f"{where} has no block `#{link.fragment}`", link.span, notes)


@lru_cache(maxsize=1024)
def _headings(anchors: frozenset[str]) -> frozenset[str] | None:
    """Return the anchors as they are compared; None where not all of them are known. Some generators leave out the
    number before a heading."""
    if "*" in anchors:
        return None
    sounds = [sounding(anchor) for anchor in anchors if not anchor.startswith("^")]
    return frozenset((*sounds, *(anchor.lstrip(_NUMBER) for anchor in sounds)))


_WITH_IDS = ("magi", "mdh")
"""Dialects whose ids are meant to be unique (HA20). Two programs may have one name: importing both is the error."""


@RULES.one_of_many("MD023", "duplicate-id", Severity.ERROR)
def duplicate_id(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find two documents of one dialect with the same id, which makes references ambiguous. The findings point at each
    of the ids, so that each document shows it if it is checked alone."""
    if facts.dialect not in _WITH_IDS:
        return
    own = [definition for definition in facts.defs if definition.kind == "id"]
    for definition in own:
        same = corpus_names(corpus).find(Key(f"id@{facts.dialect}", definition.name))
        if len(same) > 1 or sum(twin.name == definition.name for twin in own) > 1:
            other = next((twin.real for twin in same if twin.real != path), path)
            message = f"`{definition.name}` is also the id of {corpus.entries[other].path}"
            yield Finding(message, definition.span, ("give one of them another id",))


# The targets of wikilinks (Y21, YA21), resolved as in the graph.


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
    return tuple(_followed_wikilinks(path, corpus.entries[path], corpus_names(corpus)))


def _followed_wikilinks(path: Path, facts: DocumentFacts, names: CorpusNames) -> Iterator[FollowedWikilink]:
    if facts.dialect == "mdh" or not facts.wikilinks:
        return  # in a node no wikilink is followed; `wikilink-in-node` reports it (HA22)
    source = Record(path.as_posix(), facts.dialect)
    wikilinks = [_follow(source, link, names) for link in facts.wikilinks if link.target]
    if facts.dialect == "ymj":
        yield from wikilinks
    elif any(wikilink.candidates or wikilink.is_file for wikilink in wikilinks):
        yield from (
            wikilink
            for wikilink in wikilinks
            if wikilink.candidates or wikilink.is_file or _may_be_meant(wikilink.link.target, names)
        )


def _follow(source: Record, link: LocalLink, names: CorpusNames) -> FollowedWikilink:
    from prosa.graph.resolve import resolve_tiers  # only here: most documents hold no wikilink

    reference = Reference("wikilink", link.target, "stem", link.start, link.end, 0)
    resolution = resolve_tiers(source, reference, stem_tiers(source, reference), names)
    is_file = not resolution.targets and is_attachment(link.target) and _lies_somewhere(link.target, names)
    return FollowedWikilink(link, tuple(target.real for target in resolution.targets), resolution.exact, is_file)


def _lies_somewhere(target: str, names: CorpusNames) -> bool:
    return target.rpartition("/")[2].casefold() in names.file_names()


def _may_be_meant(target: str, names: CorpusNames) -> bool:
    """Return whether unresolved brackets were meant as a link: as the name of a document, or, if all files are known,
    as that of another file."""
    return is_name(target) or (is_attachment(target) and bool(names.file_names()))


_ANYWHERE = "a file is found by its name anywhere below the root"


@RULES.one_of_many("MD024", "unresolved-wikilink", Severity.WARNING)
def unresolved_wikilink(corpus: Corpus, path: Path, _: DocumentFacts) -> Iterator[Finding]:
    """Find a `[[name]]` that no document is called (YA21). The finding points at the link; there is none unless all
    documents below the root are known."""
    if not corpus.complete:
        return
    for wikilink in followed_wikilinks(corpus, path):
        if not wikilink.candidates and not wikilink.is_file:
            guess = nearest(wikilink.link.target, corpus_names(corpus).stems())
            is_file = is_attachment(wikilink.link.target)
            notes = (f"did you mean `[[{guess}]]`?",) if guess else (_ANYWHERE,) if is_file else ()
            what = "file" if is_file else "document"
            message = f"no {what} is called `{wikilink.link.target}`"
            meant = Misspelling(wikilink.link.target, guess) if guess else None
            yield Finding(message, wikilink.link.span, notes, misspelling=meant)


MAX_NAMED = 3
"""Documents that the message names."""


@RULES.one_of_many("MD025", "ambiguous-wikilink", Severity.WARNING)
def ambiguous_wikilink(corpus: Corpus, path: Path, _: DocumentFacts) -> Iterator[Finding]:
    """Find a `[[name]]` where several documents have this file name (YA21). The finding points at the link. A document
    in the same folder is meant before all others."""
    for wikilink in followed_wikilinks(corpus, path):
        if len(wikilink.candidates) > 1:
            paths = [corpus.entries[other].path for other in wikilink.candidates]
            named = ", ".join(paths[:MAX_NAMED])
            more = ", …" if len(wikilink.candidates) > MAX_NAMED else ""
            message = f"`{wikilink.link.target}` may be any of {named}{more}"
            note = "write as much of the path as makes it one: `[[folder/name]]`"
            if not _is_file_name(wikilink.link.target, paths):
                note = f"each of them has this as another name: write the name of a file: `[[{Path(paths[0]).stem}]]`"
            yield Finding(message, wikilink.link.span, (note,))


def _is_file_name(target: str, paths: Iterable[str]) -> bool:
    name = posixpath.basename(target).casefold()
    return any(name in (Path(path).stem.casefold(), Path(path).name.casefold()) for path in paths)


@RULES.one_of_many("MD026", "wikilink-case", Severity.HINT)
def wikilink_case(corpus: Corpus, path: Path, _: DocumentFacts) -> Iterator[Finding]:
    """Find a `[[name]]` that differs from the file name in upper and lower case (YA21). The finding points at the
    link; it is still followed."""
    for wikilink in followed_wikilinks(corpus, path):
        if wikilink.candidates and not wikilink.exact:
            name = wikilink.candidates[0].stem
            message = f"`{wikilink.link.target}` is written `{name}` in the name of the file"
            yield Finding(message, wikilink.link.span, (f"write `[[{name}]]`",))


@RULES.one_of_many("MD027", "unresolved-relation", Severity.WARNING)
def unresolved_relation(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a field of front matter that names other documents, as `[relations]` of the project says, and matches none
    or several. The finding points at the value. A missing document is only reported if all documents below the root
    are known."""
    if corpus.relations:
        from prosa.rules.front_demands import unresolved_relations

        yield from unresolved_relations(corpus, path, facts)


@RULES.one_of_many("MD028", "schema-mismatch", Severity.ERROR)
def schema_mismatch(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find front matter that does not satisfy the JSON Schema which the project gives it (`[schemas]`). The finding
    points at the value, at the name of an undescribed field, or, for a missing field, at the opening fence. A schema
    that cannot be read is reported with the settings."""
    if corpus.schemas is not None:
        from prosa.rules.front_demands import schema_mismatches

        yield from schema_mismatches(corpus, path, facts)
