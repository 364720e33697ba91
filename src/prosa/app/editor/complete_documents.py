"""The documents of a workspace as candidates: by name, by path, by URL, by id; and the parts of one of them.

In: a cursor and the typed text. Out: candidates; near documents count before far ones. Names and paths come from the
catalogue in memory; for headings and blocks only their document is read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from pathlib import Path

from msgspec.structs import replace

from prosa.app.editor.candidates import MOST, Candidate, rank_of, steps_between
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.cursor import CursorContext, NamedDocument, runs_of
from prosa.corpus.moves.writing import percent_encoded
from prosa.dialects import DialectName
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import DIALECTS, DOCUMENT_SUFFIXES
from prosa.document.document import NAMED_BLOCK
from prosa.document.references import Origin
from prosa.graph.names import suffix_of
from prosa.graph.record import Record, Reference
from prosa.graph.sites import below
from prosa.regex import regex

_NO_NAME = regex(r"[\[\]|#^`<>\r\n]")
"""What no wikilink can name."""

_TITLES = {row.name: row.title for row in DIALECTS}

MAX_SHOWN = 80
"""Characters of a block that are shown beside its name."""


def stems(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    """Yield the documents as wikilinks name them: by stem, by path where a stem is not enough, by their other names."""
    for known, far in _nearest(cursor, typed):
        name = known.stem
        if cursor.catalogue.stems[known.stem.casefold()] > 1:
            name = posixpath.join(known.folder, known.stem)
        if _NO_NAME.search(name):
            continue
        names = tuple(text for text in (known.stem, known.title, known.path) if text)
        yield Candidate(name, "document", None, _detail(known), names=names, far=far, about=known.real)
        for alias in known.aliases:
            if not _NO_NAME.search(alias) and rank_of(alias, typed.casefold()) is not None:
                yield Candidate(alias, "document", f"{name}|{alias}", known.path, far=far + 1, about=known.real)


def _detail(known: NamedDocument) -> str:
    title = known.title if known.title and known.title != known.stem else ""
    return f"{title} · {known.path}" if title else known.path


def _nearest(
    cursor: CursorContext, typed: str, documents: Sequence[NamedDocument] | None = None, *, prefix: str = ""
) -> list[tuple[NamedDocument, int]]:
    """Return the documents with a name that matches the typed text, the best and nearest of them, each with its
    distance. Paths count from after ``prefix``, which all documents share."""
    wanted, cut = typed.casefold(), len(prefix)
    ranked: list[tuple[int, int, int, NamedDocument]] = []
    perfect = 0
    for far, at, known in _by_distance(cursor, documents):
        best = _best(known.folded, wanted, cut) if wanted else 0
        if best is None or (known.path == cursor.here and known.real == cursor.path):
            continue
        ranked.append((best, far, at, known))
        perfect += best == 0
        if perfect > MOST:
            break  # what follows is farther away, and matches no better
    return [(known, far) for _, far, _, known in nsmallest(MOST + 1, ranked)]


def _by_distance(
    cursor: CursorContext, documents: Sequence[NamedDocument] | None
) -> Iterator[tuple[int, int, NamedDocument]]:
    """Yield documents, each with its distance and its number, the nearest first, and in their order."""
    catalogue = cursor.catalogue
    runs = catalogue.runs if documents is None else runs_of(documents)
    documents = catalogue.documents if documents is None else documents
    levels: dict[int, list[tuple[int, int]]] = {}
    for folder, start, stop in runs:
        levels.setdefault(steps_between(cursor.folder, folder), []).append((start, stop))
    for far in sorted(levels):
        for start, stop in levels[far]:
            for at in range(start, stop):
                yield far, at, documents[at]


def _best(names: tuple[str, ...], wanted: str, cut: int) -> int | None:
    """Return the best rank of a name, as `candidates.rank_of` gives it for names in lower case; the last name is a
    path."""
    best: int | None = None
    for name in (*names[:-1], names[-1][cut:]) if cut else names:
        at = name.find(wanted)
        if at == 0:
            return 0
        if at > 0:
            rank = 2 if name[at - 1].isalnum() and wanted[0].isalnum() else 1
            best = rank if best is None or rank < best else best
    return best


# ---- paths and URLs ----


def link_paths(cursor: CursorContext, typed: str, *, embedded: bool = False) -> Iterator[Candidate]:
    """Yield the destinations of a link: paths of documents and of other files, URLs within a site."""
    if typed.startswith("/"):
        yield from _from_root(cursor, typed)
        return
    for known, path, far in () if embedded else _paths(cursor, typed):
        names = (known.title, known.stem)
        text = percent_encoded(path, typed, spaces=False)
        detail = known.title or _TITLES[known.dialect]
        yield Candidate(path, "document", text, detail, names=names, far=far, about=known.real)
    for path in _file_paths(cursor, typed):
        text = percent_encoded(path, typed, spaces=False)
        yield Candidate(path, "file", text, far=20, names=(path.rpartition("/")[2],))


def _paths(
    cursor: CursorContext, typed: str, documents: Sequence[NamedDocument] | None = None
) -> Iterator[tuple[NamedDocument, str, int]]:
    """Yield documents with their paths from the folder of the cursor, in the style of the typed text: below the folder
    that it starts with, else anywhere."""
    folder, slash, rest = typed.rpartition("/")
    if slash or typed in (".", ".."):
        lead = f"{folder}{slash}" if slash else ""
        base = posixpath.normpath(posixpath.join(cursor.folder, folder)) if slash else cursor.folder
        if typed in (".", "..") or base.startswith(".."):
            return
        prefix = "" if base == "." or not base else f"{base}/"
        inside = [document for document in _all(cursor, documents) if document.path.startswith(prefix)]
        for known, far in _nearest(cursor, rest, inside, prefix=prefix):
            yield known, f"{lead}{known.path[len(prefix) :]}", far
        return
    folders: dict[str, str] = {}
    for known, far in _nearest(cursor, rest, documents):
        if known.folder not in folders:
            way = posixpath.relpath(known.folder or ".", cursor.folder or ".")
            folders[known.folder] = "" if way == "." else f"{way}/"
        yield known, folders[known.folder] + known.path.rpartition("/")[2], far


def _all(cursor: CursorContext, documents: Iterable[NamedDocument] | None) -> Iterable[NamedDocument]:
    return cursor.catalogue.documents if documents is None else documents


def _from_root(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    """Destinations that begin with a slash: URLs where the document is part of a site, else paths below the root."""
    sites = EditorCorpus(cursor.workspace).lookup.sites
    root = sites.root_of(cursor.here)
    if root is None:
        for known, far in _nearest(cursor, typed[1:]):
            path = f"/{known.path}"
            text = percent_encoded(path, typed, spaces=False)
            yield Candidate(path, "document", text, known.title, names=(known.title,), far=far, about=known.real)
        return
    inside = [document for document in cursor.catalogue.documents if sites.root_of(document.path) == root]
    for known, far in _nearest(cursor, typed[1:], inside, prefix=f"{root}/" if root else ""):
        names = (known.title, f"/{below(root, known.path)}")
        url = sites.url_of(known.path)
        yield Candidate(url, "url", None, known.title or known.path, names=names, far=far, about=known.real)


def _file_paths(cursor: CursorContext, typed: str) -> Iterator[str]:
    """Yield the files below the root other than documents, as paths from the folder of the cursor, `MOST` at most."""
    names = cursor.workspace.names
    if names is None:
        return
    wanted = typed.removeprefix("./").casefold()
    lead = "./" if typed.startswith("./") else ""
    count = 0
    listed = names.file_names()
    for path in names.derived("attachments", "paths", lambda: tuple(filter(_is_attachment, listed.values()))):
        near = posixpath.relpath(path, cursor.folder or ".")
        if not wanted or wanted in near.casefold():
            yield f"{lead}{near}"
            count += 1
            if count > MOST:
                return


def _is_attachment(path: str) -> bool:
    return suffix_of(path) not in DOCUMENT_SUFFIXES


def attachments(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    """Return the files that are no documents."""
    return (Candidate(path, "file", names=(path.rpartition("/")[2],)) for path in _file_paths(cursor, typed))


def attached(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    """Yield the same as double brackets name them: by file name."""
    for path in _file_paths(cursor, typed):
        name = path.rpartition("/")[2]
        if not _NO_NAME.search(name):
            yield Candidate(name, "file", detail=path, far=20)


def program_paths(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    """Yield the programs of the workspace as imports name them: by path, with `./` in front."""
    programs = [*cursor.catalogue.of_dialect("markdownlang")]
    for known, path, far in _paths(cursor, typed, programs):
        shown = path if path.startswith(".") else f"./{path}"
        name = known.ids[0] if known.ids else known.stem
        yield Candidate(shown, "program", None, name, names=(known.stem, name), far=far, about=known.real)


# ---- ids and relations ----


def ids(dialect: DialectName) -> Callable[[CursorContext, str], Iterator[Candidate]]:
    """Return the ids of the documents of one dialect."""

    def offered(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
        documents = [document for document in cursor.catalogue.of_dialect(dialect) if document.ids]
        for known, far in _nearest(cursor, typed, documents):
            for identifier in known.ids[:1]:
                names = (known.title, known.stem)
                yield Candidate(identifier, "id", None, _detail(known), names=names, far=far, about=known.real)

    return offered


def nodes(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    """Yield the possible link targets of a node: ids of nodes, and after `url:` URLs of the site."""
    if typed.startswith("url:"):
        for candidate in _from_root(cursor, typed.removeprefix("url:") or "/"):
            yield replace(candidate, label=f"url:{candidate.label}", text=None)
        return
    yield from ids("mdh")(cursor, typed)
    yield Candidate("url:", "url", None, "a URL of this site or of another one", far=50)


def shared_actions(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    """Yield the actions of other nodes, which a node may have too."""
    del typed
    for known in cursor.catalogue.of_dialect("mdh"):
        facts = cursor.workspace.entries.get(known.real) if known.real != cursor.path else None
        declared = facts.extra.get("actions") if facts is not None else None
        for action in declared if isinstance(declared, list | tuple) else ():
            name, method, url = (str(part) for part in action[:3])
            far = steps_between(cursor.folder, known.folder)
            yield Candidate(name, "command", None, f"{method} {url} · {known.path}", far=far, about=known.real)


def edges(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    """Yield what an edge of a record may lead to: documents by name, in brackets, or by path."""
    for stem in stems(cursor, typed.removeprefix("[[").removesuffix("]]")):
        name = stem.label if stem.text is None else stem.text
        yield replace(stem, label=f"[[{name}]]", text=None, names=(*stem.names, name))


def relation_types(origin: Origin, dialect: DialectName) -> Callable[[CursorContext, str], Iterator[Candidate]]:
    """Return the relations that documents of one dialect write at one place."""

    def offered(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
        del typed
        known = cursor.catalogue.relations(origin, dialect)
        return (Candidate(rel, "relation", detail="written in this corpus", far=1) for rel in known[:MOST])

    return offered


# ---- the parts of a document ----


def anchors(reading: DialectReading[object], real: Path) -> Iterator[Candidate]:
    """Yield the headings of a document by the fragments that lead to them, and its other anchors."""
    seen: set[str] = set()
    for section in reading.document.sections:
        if section.anchor:
            seen.add(section.anchor)
            marks = "#" * section.level
            shown = section.heading.plain or section.anchor
            detail, names = f"{marks} {section.anchor}", (section.anchor,)
            yield Candidate(shown, "heading", section.anchor, detail, names=names, about=real, fragment=section.anchor)
    for anchor in sorted(reading.document.anchors - seen):
        yield Candidate(anchor, "heading", None, "an anchor", far=1, about=real, fragment=anchor)


def headings(reading: DialectReading[object], real: Path) -> Iterator[Candidate]:
    """Yield the headings of a document as wikilinks name them."""
    for section in reading.document.sections:
        text = " ".join(section.heading.plain.split())
        if text and not _NO_NAME.search(text):
            yield Candidate(text, "heading", None, "#" * section.level, about=real, fragment=section.anchor)


def block_names(reading: DialectReading[object], real: Path) -> Iterator[Candidate]:
    """Yield the names of the blocks of a document, each with the line it ends."""
    text = reading.front.source.text
    for match in NAMED_BLOCK.finditer(text):
        if not reading.document.in_code(match.start(1)):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
            yield Candidate(match[1], "block", None, line[:MAX_SHOWN], about=real, fragment=f"^{match[1]}")


def document_named(cursor: CursorContext, target: str, *, wikilink: bool) -> Path | None:
    """Return the document that a target leads to from the cursor; the document itself for an empty one."""
    if not target:
        return cursor.path
    corpus = EditorCorpus(cursor.workspace)
    if corpus.workspace.names is None:
        return None
    reference = Reference("wikilink" if wikilink else "inline", target, "stem" if wikilink else "path", 0, 0, 0)
    lead = corpus.lookup.resolve(Record(cursor.here, cursor.dialect), reference)
    return corpus.real_of(lead.paths[0]) if lead.paths else None
