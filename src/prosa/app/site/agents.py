"""The queries of agents about a folder: search, read, outline, links, check, list. In: a site and a query. Out: plain
data.

Only published content is returned (X23). Nothing runs. Answers that need the index wait a moment for the first one, and
have ``complete``, which is true if it was available.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.check.baseline import Baseline, open_baseline
from prosa.app.check.changed import UnknownRevision, changed_groups
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import Group
from prosa.app.check.project import project_at
from prosa.app.site.live import READY_SECONDS, LiveSite
from prosa.app.site.neighbours import neighbourhood
from prosa.app.site.published import PublishedGroup, published_files
from prosa.app.site.search import published_hits
from prosa.corpus.search import Search
from prosa.data import Value
from prosa.diagnostics import Diagnostic
from prosa.diagnostics.nearest import nearest
from prosa.dialects import DialectName
from prosa.document.model import Section
from prosa.render.json import diagnostic_object
from prosa.settings.environment import given_here
from prosa.site.layout import Neighbour, NodeRow, NodeView
from prosa.source import FileProblem, SourceText, TextFiles

CHARACTERS_OF_TOKEN = 4
"""The approximate number of characters per token."""

READ_TOKENS = 4_000
"""Default number of tokens of one `read`."""

MOST_TOKENS = 50_000
LIST_PAGE = 100
"""Documents of one page of `list`."""

MOST_HITS = 50
MOST_TEXT = 1_000_000
"""Maximum length of a text that `check` reads."""

NEW_TEXT = "text.md"
"""The file that a text would be, in the root of the site."""


class CheckScope(Struct, frozen=True):
    """What the owner of a site chose for the checks of agents: the environment, a file with findings that are known,
    and a revision of git, since which documents have to have changed where none is named."""

    environ: Mapping[str, str]
    baseline: Path | None = None
    changed_since: str | None = None


class UnknownDocument(Exception):
    """No published document is called so; the message says which one may have been meant."""


def search(
    site: LiveSite, query: str, *, limit: int = 10, where: str = "", dialects: Sequence[str] = ()
) -> Mapping[str, Value]:
    """Return the published sections that answer a query, best first. Raises `WhereError`."""
    if not site.index.wait_ready(READY_SECONDS):
        return {"hits": [], "complete": False}
    asked = Search(query, max(1, min(limit, MOST_HITS)), tuple(dialects), where=where)
    hits: list[Value] = [
        {
            "path": hit.path,
            "id": row.id,
            "title": row.title,
            "heading": hit.heading,
            "section": hit.anchor,
            "line": hit.line,
            "snippet": hit.snippet,
        }
        for hit, row in published_hits(site, asked)
    ]
    return {"hits": hits, "complete": True}


def read(
    site: LiveSite, document: str, *, section: str = "", start_line: int = 1, max_tokens: int = READ_TOKENS
) -> Mapping[str, Value]:
    """Return the text of a document, or of one section, from a line on: as much as fits, cut before a heading if one
    is near. ``next_line`` is where it continues, None at the end. Raises `UnknownDocument`, `FileProblem`."""
    view = _view(site, document)
    source, sections = _parts(view)
    first, last = _lines(source, sections, section, view.path)
    first = max(first, min(start_line, last)) if start_line > 1 else first
    end = _end(source, sections, first, last, max(100, min(max_tokens, MOST_TOKENS)) * CHARACTERS_OF_TOKEN)
    lines = source.lines
    text = source.text[lines.offset(first, 1) : lines.offset(end + 1, 1) if end < lines.count else len(source.text)]
    limit = MOST_TOKENS * CHARACTERS_OF_TOKEN
    return {
        **_named(view),
        "line": first,
        "end_line": end,
        "next_line": end + 1 if end < last else None,
        "text": text[:limit],
    }


def outline(site: LiveSite, document: str) -> Mapping[str, Value]:
    """Return the metadata of a document, and its headings. Raises `UnknownDocument`, `FileProblem`."""
    view = _view(site, document)
    source, sections = _parts(view)
    headings: list[Value] = [
        {
            "level": section.level,
            "text": section.heading.text,
            "section": section.anchor,
            "line": source.position(section.span.start).line,
        }
        for section in sections
    ]
    return {**_named(view), "summary": view.summary, "fields": dict(view.fields), "headings": headings}


def links(site: LiveSite, document: str) -> Mapping[str, Value]:
    """Return the links of a document and the links to it. Raises `UnknownDocument`, `FileProblem`."""
    site.index.wait_ready(READY_SECONDS)
    view = _view(site, document)
    nearby = neighbourhood(site.index, view.path)
    if nearby is None:
        return {**_named(view), "relationships": [], "links": [], "backlinks": [], "complete": False}
    by_url = site.index.catalogue.by_url
    return {
        **_named(view),
        "relationships": [_neighbour(relationship, by_url) for relationship in nearby.relationships],
        "links": [_neighbour(link, by_url) for link in nearby.links],
        "backlinks": [_neighbour(backlink, by_url) for backlink in nearby.backlinks],
        "complete": True,
    }


def check(
    site: LiveSite,
    scope: CheckScope,
    *,
    document: str = "",
    text: str = "",
    dialect: DialectName | None = None,
) -> Mapping[str, Value]:
    """Return the problems of a document, or of an unsaved text. Only published files around it are known, and all
    paths are relative to the root. Raises `UnknownDocument`, `FileProblem`, and `UnknownName` for an unknown dialect.
    """
    name = _view(site, document).path if document else NEW_TEXT
    group = _group(site, scope, (Path(name),))
    if not document:
        group = replace(group, files=TextFiles(SourceText(text[:MOST_TEXT], name), group.files))
    diagnostics = _found(group, replace(scope, baseline=scope.baseline if document else None), dialect)[name]
    return {
        "path": name if document else None,
        "diagnostics": [_diagnostic(diagnostic, site) for diagnostic in diagnostics],
    }


def check_changed(site: LiveSite, scope: CheckScope, dialect: DialectName | None = None) -> Mapping[str, Value]:
    """Return the problems of all published documents that changed since the revision of the scope, each with the path
    of its document. Raises `FileProblem`, `UnknownName` and `UnknownRevision`, none of which names a place outside."""
    group = _group(site, scope, ())
    every = replace(group, paths=tuple(group.beside()[0]))
    try:
        changed = changed_groups((every,), scope.changed_since or "").groups
    except UnknownRevision:
        raise UnknownRevision(f"nothing can be compared with the revision {scope.changed_since!r}") from None
    by_path = _found(changed[0] if changed else group, scope, dialect)
    diagnostics: list[Value] = [
        {"path": path, **_diagnostic(item, site)} for path, items in by_path.items() for item in items
    ]
    return {"path": None, "documents": list(by_path), "diagnostics": diagnostics}


def _group(site: LiveSite, scope: CheckScope, paths: tuple[Path, ...]) -> PublishedGroup:
    project = project_at(site.root, Path(), given_here(scope.environ))
    return PublishedGroup(published_files(site, project), paths, site.root, project, given=True, site=site)


def _found(group: Group, scope: CheckScope, dialect: DialectName | None) -> Mapping[str, Sequence[Diagnostic]]:
    """Return the findings in each document of a group that its baseline does not hold."""
    known = _baseline(scope.baseline) if scope.baseline is not None else None
    by_path: dict[str, list[Diagnostic]] = {path.as_posix(): [] for path in group.paths}
    for diagnostic in Checker.of(CheckOptions(dialect), scope.environ).check(group).diagnostics:
        if diagnostic.path in by_path:
            by_path[diagnostic.path].append(diagnostic)
    return {path: known.new_in(group.root / path, items) for path, items in by_path.items()} if known else by_path


def _baseline(path: Path) -> Baseline:
    try:
        return open_baseline(path)
    except FileProblem as problem:
        raise FileProblem(Path(path.name), problem.kind, problem.reason) from None


def _diagnostic(diagnostic: Diagnostic, site: LiveSite) -> dict[str, Value]:
    notes: list[Value] = [site.told(note) for note in diagnostic.notes]
    return diagnostic_object(diagnostic) | {"message": site.told(diagnostic.message), "notes": notes}


def listing(site: LiveSite, *, where: str = "", cursor: str = "") -> Mapping[str, Value]:
    """Return the published documents by path, a page at a time. Raises `WhereError`."""
    if not site.index.wait_ready(READY_SECONDS):
        return {"documents": [], "next_cursor": None, "complete": False}
    rows = site.index.catalogue.rows
    if where:
        asked = Search("", len(rows) or 1, where=where)
        wanted = {hit.row.path for hit in published_hits(site, asked)}
        rows = tuple(row for row in rows if row.path in wanted)
    rows = tuple(row for row in sorted(rows, key=lambda row: row.path) if row.path > cursor)
    page = rows[:LIST_PAGE]
    return {
        "documents": [_row(row) for row in page],
        "next_cursor": page[-1].path if len(rows) > len(page) else None,
        "complete": True,
    }


def _view(site: LiveSite, name: str) -> NodeView:
    """Return the published document at a path, or with an id."""
    catalogue = site.index.catalogue
    path = name.removeprefix("./").strip("/")
    row = catalogue.by_id.get(name) or catalogue.by_node.get(name)
    for candidate in (path, row.path if row is not None else ""):
        try:
            view = site.view(candidate)
        except FileProblem as problem:
            if problem.kind != "missing":
                raise
            continue
        if view is not None:
            return view
    near = nearest(path, [address for row in catalogue.rows for address in (row.path, row.id)])
    hint = f"; did you mean {near}?" if near else ""
    if not site.index.is_ready:
        hint = "; ids are not known before the index is there: give the path, or ask again in a moment"
    raise UnknownDocument(f"there is no document {name!r}{hint}")


def _parts(view: NodeView) -> tuple[SourceText, tuple[Section, ...]]:
    assert view.reading is not None
    return view.reading.front.source, view.reading.document.sections


def _named(view: NodeView) -> dict[str, Value]:
    return {"path": view.path, "id": view.id, "title": view.title, "dialect": view.dialect}


def _lines(source: SourceText, sections: Sequence[Section], section: str, path: str) -> tuple[int, int]:
    """Return the first and the last line of a section, or of the whole document. Raises `UnknownDocument`."""
    if not section:
        return 1, source.lines.count
    wanted = section.removeprefix("#")
    chosen = next((candidate for candidate in sections if wanted in (candidate.anchor, candidate.heading.text)), None)
    if chosen is None:
        near = nearest(wanted, [candidate.anchor for candidate in sections])
        hint = f"; did you mean {near}?" if near else ""
        raise UnknownDocument(f"{path} has no section {section!r}{hint}")
    last = max(chosen.span.start, chosen.span.end - 1)
    return source.position(chosen.span.start).line, source.position(last).line


def _end(source: SourceText, sections: Sequence[Section], first: int, last: int, most: int) -> int:
    """Return the last line that fits: in front of a heading where one is in the second half of what fits."""
    lines = source.lines
    start = lines.offset(first, 1)
    if (lines.offset(last + 1, 1) if last < lines.count else len(source.text)) - start <= most:
        return last
    fits = max(first, lines.line(start + most) - 1)
    borders = [source.position(section.span.start).line - 1 for section in sections]
    return max((border for border in borders if first + (fits - first) // 2 <= border <= fits), default=fits)


def _neighbour(neighbour: Neighbour, by_url: Mapping[str, NodeRow]) -> dict[str, Value]:
    row = by_url.get(neighbour.url)
    place = {"path": row.path, "id": row.id} if row is not None else {"url": neighbour.url} if neighbour.url else {}
    rel = {"rel": neighbour.rel} if neighbour.rel else {}
    return {"title": neighbour.title, **rel, **place, **({"note": neighbour.note} if neighbour.note else {})}


def _row(row: NodeRow) -> dict[str, Value]:
    return {"path": row.path, "id": row.id, "title": row.title, "type": row.type, "dialect": row.dialect}
