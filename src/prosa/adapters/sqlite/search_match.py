"""A query → expressions of FTS5. Every term is a quoted string, so nothing in it is read as an operator.

In: terms and clauses of `corpus.query`. Out: text for `MATCH`.
"""

from __future__ import annotations

from collections.abc import Iterable

from prosa.corpus.query import Query, Term

WEIGHTS = "8.0, 5.0, 4.0, 1.0"
"""What BM25 counts for a match in title, heading, tags and text: the columns of `section_text`, in their order."""

CJK_WEIGHTS = "1.0, 8.0, 5.0, 4.0"
"""The same for `section_cjk`, whose columns begin with the text."""

TRIGRAM = 3
"""Characters of the shortest text that a trigram table finds."""


def match_query(query: Query, column: str = "") -> str:
    """Return the whole query; it needs a clause. ``column`` may say where everything must stand: `{title} : `."""
    found = " AND ".join(f"({match_any(clause)})" for clause in query.clauses)
    found = f"({column}({found}))" if column else found
    return f"({found}) NOT ({match_any(query.excluded)})" if query.excluded else found


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
