"""The tables of the index, as numbered migrations. In: an open file. Out: the same file with every migration applied.

The index is a cache: whatever is in it was read from documents and can be read again. Its file carries the number of
the last migration in its name, so two versions of Prosa never share one. A migration that was released never changes.
"""

from __future__ import annotations

import sqlite3

APPLICATION_ID = 0x50727361
"""`PRAGMA application_id` of an index ("Prsa"): a file without it was made by something else."""

TABLES = frozenset(("document", "definition", "key", "edge", "lookup", "section", "metadata", "embedding", "meta"))
"""What every index has, whatever its version."""

_FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE document (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
  digest TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, hint TEXT NOT NULL DEFAULT '',
  dialect TEXT NOT NULL, own TEXT NOT NULL DEFAULT '', node TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '', type TEXT NOT NULL DEFAULT '',
  url TEXT NOT NULL DEFAULT '', kind TEXT, classification TEXT, visibility TEXT, language TEXT,
  updated TEXT, published TEXT, expired TEXT, words INTEGER NOT NULL DEFAULT 0, lines INTEGER NOT NULL DEFAULT 0,
  canonical TEXT NOT NULL DEFAULT '[]', actions TEXT NOT NULL DEFAULT '[]', globs TEXT);
CREATE INDEX document_own ON document (own) WHERE own <> '';
CREATE INDEX document_node ON document (node);
CREATE INDEX document_mdh ON document (path) WHERE dialect = 'mdh';
CREATE INDEX document_globs ON document (id) WHERE globs IS NOT NULL;

CREATE TABLE definition (document INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, line INTEGER NOT NULL);
CREATE INDEX definition_document ON definition (document);

CREATE TABLE key (space TEXT NOT NULL, name TEXT NOT NULL, document INTEGER NOT NULL,
  PRIMARY KEY (space, name, document)) WITHOUT ROWID;
CREATE INDEX key_document ON key (document);

CREATE TABLE edge (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, seq INTEGER NOT NULL,
  origin TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL, rel TEXT, strength REAL,
  bidirectional INTEGER NOT NULL DEFAULT 0, fragment TEXT NOT NULL DEFAULT '',
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, line INTEGER NOT NULL,
  state TEXT NOT NULL, target_document INTEGER, exact INTEGER NOT NULL DEFAULT 1, candidates TEXT);
CREATE INDEX edge_document ON edge (document, seq);
CREATE INDEX edge_rel ON edge (rel, document) WHERE rel IS NOT NULL;
CREATE INDEX edge_target ON edge (target_document) WHERE target_document IS NOT NULL;

CREATE TABLE lookup (space TEXT NOT NULL, name TEXT NOT NULL, edge INTEGER NOT NULL,
  PRIMARY KEY (space, name, edge)) WITHOUT ROWID;
CREATE INDEX lookup_edge ON lookup (edge);

CREATE TABLE section (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER NOT NULL, level INTEGER NOT NULL,
  title TEXT NOT NULL, heading TEXT NOT NULL, tags TEXT NOT NULL, anchor TEXT NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL,
  cjk INTEGER NOT NULL DEFAULT 0);
CREATE INDEX section_document ON section (document, number);
CREATE VIRTUAL TABLE section_text USING fts5 (title, heading, tags, text,
  content = 'section', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE section_word USING fts5vocab (section_text, row);
CREATE VIRTUAL TABLE section_cjk USING fts5 (text, title, heading, tags,
  content = 'section', content_rowid = 'id', tokenize = 'trigram');

CREATE TABLE metadata (
  document INTEGER NOT NULL, key TEXT NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL,
  text TEXT NOT NULL, number REAL, lent_by INTEGER,
  PRIMARY KEY (document, key, n)) WITHOUT ROWID;
CREATE INDEX metadata_text ON metadata (key, text);
CREATE INDEX metadata_number ON metadata (key, number) WHERE number IS NOT NULL;

CREATE TABLE embedding (
  document INTEGER NOT NULL, section INTEGER, model TEXT NOT NULL, dimension INTEGER NOT NULL, vector BLOB NOT NULL,
  sha256 TEXT NOT NULL, fresh INTEGER NOT NULL DEFAULT 1, source TEXT NOT NULL);
CREATE INDEX embedding_document ON embedding (document);
"""

_SECOND = """
CREATE TABLE vector (model TEXT NOT NULL, sha256 TEXT NOT NULL, vector BLOB NOT NULL,
  PRIMARY KEY (model, sha256)) WITHOUT ROWID;
CREATE INDEX embedding_section ON embedding (section, model) WHERE section IS NOT NULL;
CREATE INDEX embedding_model ON embedding (model, dimension);
"""
"""Vectors that were computed, by what they were computed from: a text that comes back is not paid for twice."""

_THIRD = """
DROP TABLE section;
CREATE TABLE section (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER NOT NULL, level INTEGER NOT NULL,
  title TEXT NOT NULL, heading TEXT NOT NULL, tags TEXT NOT NULL, anchor TEXT NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL,
  cjk INTEGER NOT NULL DEFAULT 0, seen TEXT NOT NULL);
CREATE INDEX section_document ON section (document, number)
"""
"""With the visible text of a section, which a search shows without a parse. Sections of an older version are in
another file, so none is lost; adding a column instead would make every connection reload its full-text tables."""

_FOURTH = _THIRD.replace("seen TEXT NOT NULL", "seen TEXT")
"""The visible text is only stored for long sections: a search parses the few others that it shows."""

_FIFTH = """
DROP TABLE edge;
CREATE TABLE edge (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, seq INTEGER NOT NULL,
  origin TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL, rel TEXT, strength REAL,
  bidirectional INTEGER NOT NULL DEFAULT 0, fragment TEXT NOT NULL DEFAULT '',
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, line INTEGER NOT NULL,
  state TEXT NOT NULL, target_document INTEGER, exact INTEGER NOT NULL DEFAULT 1, candidates TEXT,
  range TEXT NOT NULL DEFAULT '');
CREATE INDEX edge_document ON edge (document, seq);
CREATE INDEX edge_rel ON edge (rel, document) WHERE rel IS NOT NULL;
CREATE INDEX edge_target ON edge (target_document) WHERE target_document IS NOT NULL
"""
"""With the versions that a reference means."""

MIGRATIONS: tuple[str, ...] = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH)
"""What each migration does, the first one first. Its number is its place, counted from 1."""

SCHEMA_VERSION = len(MIGRATIONS)
"""The number of the last migration: `PRAGMA user_version` of a finished file, and the N of its name."""


def migrate(connection: sqlite3.Connection) -> None:
    """Apply missing migrations, each as one transaction.

    The caller holds no transaction. Raises `sqlite3.Error`.
    """
    for number, statements in enumerate(MIGRATIONS, start=1):
        if _version(connection) < number:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _apply(connection, number, statements)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def _apply(connection: sqlite3.Connection, number: int, statements: str) -> None:
    """One migration; another process may have been faster, which shows only once the file is locked."""
    if _version(connection) >= number:
        return
    for statement in statements.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {number}")


def _version(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    return int(number)
