"""The views that a query sees: stable names for the tables of the index; `make docs` builds a page from them.

In: a connection. Out: the same with temporary views. They hide tables of the same name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from prosa.adapters.sqlite.schema import TABLES
from prosa.corpus.sql import Readable, View

_LINKS = (
    "FROM main.edge e JOIN main.document s ON s.id = e.document LEFT JOIN main.document t ON t.id = e.target_document"
)

VIEWS: tuple[View, ...] = (
    View(
        "documents",
        "the documents of the corpus",
        (
            ("id", "the id of its node: its own id where no other document has it, else its path"),
            ("path", "relative to the root of the corpus"),
            (
                "title",
                "its title, or the heading that stands for it, or the name of its file",
            ),
            ("type", "the type of an MDH node, the kind of a YMJ record"),
            (
                "dialect",
                "`magi`, `markdownlang`, `ymj`, `mdh`, `prapti`, `skill_md`, `context`, `test`, `evals` or `plain`",
            ),
            ("url", "the `md_url` of an MDH node on its site"),
            ("kind", "`kind` or `type`"),
            ("classification", "`classification`, in small letters"),
            ("visibility", "`visibility`, of a YMJ record `ops.visibility`"),
            ("language", "`language` or `lang`"),
            ("updated", "ISO 8601, a day or a time in UTC"),
            ("published", "the same"),
            ("expired", "the same"),
            ("words", "words of its body"),
            ("lines", "lines of the file"),
            ("size", "bytes of the file"),
            ("sha256", "of the file"),
        ),
        "SELECT node, path, title, type, dialect, url, kind, classification, visibility, language, updated, published,"
        " expired, words, lines, size, digest FROM main.document",
    ),
    View(
        "definitions",
        "names of documents",
        (
            ("document", "the id of a document"),
            ("path", "its path"),
            ("kind", "`id`, `title` or `alias`"),
            ("name", "the name"),
            ("line", "its line, from 1"),
        ),
        "SELECT d.node, d.path, f.kind, f.name, f.line"
        " FROM main.definition f JOIN main.document d ON d.id = f.document",
    ),
    View(
        "edges",
        "references as written; inverse edges are not listed",
        (
            ("source", "the id of the document that points"),
            ("target", "the id of the document it leads to, else the target as written"),
            ("rel", "the type of the relationship, or null"),
            (
                "origin",
                (
                    "`footnote`, `front-matter`, `inline`, `wikilink`, `ops.graph`, `ops.ticket`, `ops.trace`, "
                    "`import` or `include`"
                ),
            ),
            ("state", "`resolved`, `ambiguous`, `unresolved`, `external` or `file`"),
            ("line", "its line, from 1"),
            ("source_path", "the path of the source"),
            ("target_path", "the path of the target, null where it leads to no single document"),
            ("written", "the target as written"),
            ("fragment", "what followed `#`"),
            ("range", "the versions that are meant, as written"),
            ("strength", "0 to 1, or null"),
            ("bidirectional", "1 where the author says that it holds both ways"),
            ("exact", "0 where only another case of the name matched"),
        ),
        "SELECT s.node, coalesce(t.node, e.target), e.rel, e.origin, e.state, e.line, s.path, t.path, e.target,"
        f" e.fragment, e.range, e.strength, e.bidirectional, e.exact {_LINKS}",
    ),
    View(
        "sections",
        "the sections of documents; the text above the first heading is number 0",
        (
            ("id", "its row in `section_text`, the full-text table; another one after every change"),
            ("document", "the id of its document"),
            ("path", "the path of its document"),
            ("number", "from 0, in the order of the text"),
            ("level", "of its heading, 0 without one"),
            ("heading", "the headings above it and its own, `A › B`"),
            ("anchor", "the fragment that leads to it"),
            ("line", "where it begins, from 1"),
            ("text", "as written, its heading included"),
        ),
        "SELECT x.id, d.node, d.path, x.number, x.level, x.heading, x.anchor, x.line, x.text"
        " FROM main.section x JOIN main.document d ON d.id = x.document",
    ),
    View(
        "metadata",
        "every front matter field, one row for each value, including those inherited from meta files",
        (
            ("document", "the id of a document"),
            ("path", "its path"),
            ("key", "the name of the field; of nested ones the names with dots between"),
            ("n", "which value of that field, from 0"),
            ("kind", "`text`, `number`, `boolean`, `null`, or `list` and `mapping` for empty ones"),
            ("text", "the value as written"),
            ("number", "the value of a number, else null"),
            ("lent_by", "the path of the meta file that it is inherited from, else null"),
        ),
        "SELECT d.node, d.path, m.key, m.n, m.kind, m.text, m.number, l.path FROM main.metadata m"
        " JOIN main.document d ON d.id = m.document LEFT JOIN main.document l ON l.id = m.lent_by",
    ),
    View(
        "tags",
        "the tags of documents, whatever their dialect calls them",
        (("document", "the id of a document"), ("path", "its path"), ("tag", "without `#`")),
        "SELECT d.node, d.path, m.text FROM main.metadata m JOIN main.document d ON d.id = m.document"
        " WHERE m.key = 'tag'",
    ),
    View(
        "embeddings",
        "stored vectors, without their numbers",
        (
            ("document", "the id of a document"),
            ("path", "its path"),
            ("section", "the number of the section, null for the whole document"),
            ("model", "what made it"),
            ("dimension", "how many numbers it has"),
            ("sha256", "of what was embedded"),
            ("fresh", "1 while that is still what the document says"),
            ("source", "`footer` of a YMJ record, or `computed`"),
        ),
        "SELECT d.node, d.path, x.number, v.model, v.dimension, v.sha256, v.fresh, v.source FROM main.embedding v"
        " JOIN main.document d ON d.id = v.document LEFT JOIN main.section x ON x.id = v.section",
    ),
)
"""The readable parts for a query, besides `section_text`."""

FULL_TEXT = "section_text"
"""The full-text table (FTS5): `title`, `heading`, `tags` and `text` of the section whose id is its `rowid`."""

CORPUS_VIEWS = Readable(VIEWS, TABLES, frozenset(("section",)), FULL_TEXT, "prosa query --help")
"""What `prosa query` may read. The full-text table reads the texts of sections itself."""


def make_views(connection: sqlite3.Connection, views: Iterable[View] = VIEWS) -> None:
    """Make views, for this connection only."""
    for view in views:
        columns = ", ".join(name for name, _ in view.columns)
        connection.execute(f"CREATE TEMP VIEW {view.name} ({columns}) AS {view.select}")
