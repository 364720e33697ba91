"""Sections that were found → hits with place and snippet; a query → expressions of FTS5.

The full-text index itself reports the matches, so that marks never disagree with it; substrings are searched in the
text. Every term is a quoted string, so nothing in it is read as an operator.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from prosa.corpus.query import Query, Term, occurrences
from prosa.corpus.search import Hit
from prosa.corpus.snippet import MAX_MARKS, Mark, snippet
from prosa.corpus.words import fold
from prosa.regex import regex

_LINE_END = regex(r"\r\n|\n|\r")
_FIRST_PRIVATE, _LAST_PRIVATE = 0xE000, 0xF8FF
LONG = 100_000
"""Minimum length of a text whose matches are counted before FTS5 is queried for their places."""

MAX_COPIED = 500_000_000
"""Characters that FTS5 may copy for the places in one text: a tenth of a second."""

BATCH = 500
"""Ids in one statement; SQLite takes some thousands of parameters."""


class SectionHit(NamedTuple):
    """A section by its id, with its document and its score."""

    section: int
    document: int
    score: float


class _Section(NamedTuple):
    id: int
    document: int
    level: int
    heading: str
    anchor: str
    line: int
    text: str
    seen: str | None
    path: str
    node: str
    title: str
    dialect: str


_SELECT = (
    "SELECT s.id, s.document, s.level, s.heading, s.anchor, s.line, s.text, s.seen, d.path, d.node, d.title, d.dialect"
    " FROM section AS s JOIN document AS d ON d.id = s.document WHERE "
)

_HIGHLIGHT = """SELECT highlight(section_text, 1, ?, ?), highlight(section_text, 3, ?, ?) FROM section_text
  WHERE section_text MATCH ? AND rowid = ?"""


def hits_of(
    connection: sqlite3.Connection, query: Query, hits: Sequence[SectionHit], *, sections: bool = False
) -> list[Hit]:
    """Return the hits. A document that is found by its title or tags alone is shown from its beginning; with
    ``sections`` every section as it was found."""
    rows = {row.id: row for row in _rows(connection, [hit.section for hit in hits])}
    hits = [hit for hit in hits if hit.section in rows]
    matched = _matched(connection, query, rows.values())
    elsewhere = [hit.document for hit in hits if hit.section not in matched and not sections]
    begins = {beginning.document: beginning for beginning in _beginnings(connection, elsewhere)}
    return [_hit(begins.get(hit.document, rows[hit.section]), hit.score, matched.get(hit.section, ())) for hit in hits]


def _hit(row: _Section, score: float, marks: Sequence[Mark]) -> Hit:
    shown = snippet(row.text, row.seen, marks, heading=row.level > 0)
    line, column = _position(row.text, shown.at)
    return Hit(
        path=row.path,
        node=row.node,
        title=row.title,
        heading=row.heading,
        anchor=row.anchor,
        line=row.line + line,
        column=column,
        end_line=row.line + len(_LINE_END.findall(row.text)),
        score=score,
        snippet=shown.text,
        marks=shown.marks,
        dialect=row.dialect,
    )


def _position(text: str, offset: int) -> tuple[int, int]:
    """Return lines in front of an offset, and its column counted from 1."""
    count, start = 0, 0
    for match in _LINE_END.finditer(text, 0, offset):
        count, start = count + 1, match.end()
    return count, offset - start + 1


def _rows(connection: sqlite3.Connection, ids: Sequence[int]) -> Iterator[_Section]:
    for some in _batches(ids):
        yield from map(_Section._make, connection.execute(f"{_SELECT} s.id IN ({_holes(some)})", some))


def _beginnings(connection: sqlite3.Connection, documents: Sequence[int]) -> Iterator[_Section]:
    """Yield the first section of each document."""
    first = "s.number = (SELECT min(number) FROM section WHERE document = s.document)"
    for some in _batches(documents):
        statement = f"{_SELECT} s.document IN ({_holes(some)}) AND {first}"
        yield from map(_Section._make, connection.execute(statement, some))


def _matched(connection: sqlite3.Connection, query: Query, rows: Iterable[_Section]) -> dict[int, tuple[Mark, ...]]:
    """Return the sections that match by their text or their headings, with what matched in the text: offsets, in order,
    apart."""
    texts = {row.id: (row.heading, row.text) for row in rows}
    by_section: dict[int, list[Mark]] = {}
    plain = [term for term in query.terms if not term.is_cjk]
    pieces = [term for term in query.terms if term.is_cjk]
    if plain:
        for id_, marks in _highlights(connection, plain, texts):
            by_section.setdefault(id_, []).extend(marks)
    if pieces:
        in_heading, in_text = (_pattern(pieces, field) for field in ("heading", "text"))
        for id_, (heading, text) in texts.items():
            marks = [match.span() for match in in_text.finditer(text)]
            if marks or in_heading.search(heading):
                by_section.setdefault(id_, []).extend(marks)
    return {id_: _apart(marks)[:MAX_MARKS] for id_, marks in by_section.items()}


def _highlights(
    connection: sqlite3.Connection, terms: Sequence[Term], texts: dict[int, tuple[str, str]]
) -> Iterator[tuple[int, list[Mark]]]:
    """Yield the matches of FTS5 itself, marked by two characters that occur in none of the texts; empty for a section
    that only matches in other columns."""
    signs = _unused(text for both in texts.values() for text in both)
    if signs is None:
        return
    match = match_any(terms)
    for id_, (heading, text) in texts.items():
        if _is_laborious(text, terms):
            marks = list(islice(occurrences(text, terms, "text"), MAX_MARKS))
            if marks or any(occurrences(heading, terms, "heading")):
                yield id_, marks
            continue
        row = connection.execute(_HIGHLIGHT, (*signs, *signs, match, id_)).fetchone()
        if row is not None and (signs[0] in row[0] or signs[0] in row[1]):
            yield id_, list(_between(row[1], *signs))


def _is_laborious(text: str, terms: Sequence[Term]) -> bool:
    """Return whether FTS5 would copy too much: it copies the text for every place. Most texts are far too short for
    that."""
    if len(text) < LONG:
        return False
    if not text.isascii():
        return True
    lower = text.lower()
    return sum(lower.count(fold(term.text)) for term in terms) * len(text) > MAX_COPIED


def _between(marked: str, opens: str, closes: str) -> Iterator[Mark]:
    """Yield the places between the signs, as offsets in the text without them."""
    removed = 0
    at = marked.find(opens)
    while at >= 0:
        end = marked.find(closes, at)
        if end < 0:
            return
        yield at - removed, end - removed - 1
        removed += 2
        at = marked.find(opens, end)


def _unused(texts: Iterable[str]) -> tuple[str, str] | None:
    """Return two characters of the private area that stand in none of the texts; they are almost never in one."""
    held = set[str]()
    for text in texts:
        if not text.isascii():
            held.update(text)
    free = (chr(code) for code in range(_FIRST_PRIVATE, _LAST_PRIVATE + 1) if chr(code) not in held)
    opens, closes = next(free, ""), next(free, "")
    return (opens, closes) if closes else None


def _pattern(terms: Sequence[Term], field: str) -> re.Pattern[str]:
    """Return any of the terms that are looked for in a column; nothing at all where there is none."""
    wanted = {term.text for term in terms if term.field in (None, field)}
    longest = sorted(wanted, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest)) or r"(?!)", re.IGNORECASE)


def _apart(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """In order, those that touch or overlap joined."""
    joined: list[Mark] = []
    for start, end in sorted(marks):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def _holes(values: Sequence[int]) -> str:
    return ", ".join("?" * len(values))


WEIGHTS = "8.0, 5.0, 4.0, 1.0"
"""What BM25 counts for a match in title, heading, tags and text: the columns of `section_text`, in their order."""

CJK_WEIGHTS = "1.0, 8.0, 5.0, 4.0"
"""The same for `section_cjk`, whose columns begin with the text."""

TRIGRAM = 3
"""Characters of the shortest text that a trigram table finds."""


def match_query(query: Query, column: str = "") -> str:
    """Return the whole query; it needs a clause. ``column`` may say where everything must stand: `{title} : `."""
    expression = " AND ".join(f"({match_any(clause)})" for clause in query.clauses)
    expression = f"({column}({expression}))" if column else expression
    return f"({expression}) NOT ({match_any(query.excluded)})" if query.excluded else expression


def match_any(terms: Iterable[Term]) -> str:
    """Return any of the terms."""
    return " OR ".join(match_term(term) for term in terms)


def match_term(term: Term) -> str:
    """Return one term. The words of a phrase, or of `foo-bar`, follow one another."""
    column = f"{{{term.field}}} : " if term.field else ""
    return f"{column}{quoted(term.text)}{' *' if term.prefix and not term.is_cjk else ''}"


def quoted(text: str) -> str:
    """Return a string of FTS5; NUL would end the expression, and half of a surrogate pair cannot be sent at all."""
    clean = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return '"' + clean.replace('"', '""') + '"'
