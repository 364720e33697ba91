"""The tables of the store, and how a file of an older version becomes one of this (X25).

In: a connection. Out: the same connection to a store of `SCHEMA_VERSION`. Every statement but the pragmas is meant for
PostgreSQL too: no functions of SQLite, no rowid, times as texts that sort.
"""

from __future__ import annotations

import sqlite3

from prosa.records.run import CallRecord, RunRecord

APPLICATION_ID = 0x50525253
"""Marks the file as a store of runs, in the header of SQLite."""

RUN_COLUMNS = RunRecord.__struct_fields__
CALL_COLUMNS = CallRecord.__struct_fields__

_FIRST = (
    """CREATE TABLE run (
        id TEXT PRIMARY KEY, door TEXT NOT NULL, batch TEXT NOT NULL, job TEXT NOT NULL, program TEXT NOT NULL,
        file TEXT NOT NULL, closure TEXT NOT NULL, model TEXT NOT NULL, input_sha TEXT NOT NULL,
        started TEXT NOT NULL, input TEXT, again TEXT, state TEXT NOT NULL, kind TEXT, error TEXT, output TEXT,
        attempts INTEGER NOT NULL, holder TEXT NOT NULL, host TEXT NOT NULL, ended TEXT, seconds REAL,
        calls INTEGER NOT NULL, tools INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL, cost REAL, priced TEXT, whole INTEGER NOT NULL)""",
    """CREATE TABLE call (
        run TEXT NOT NULL, path TEXT NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL, program TEXT NOT NULL,
        name TEXT NOT NULL, digest TEXT NOT NULL, started TEXT NOT NULL, state TEXT NOT NULL, answer TEXT,
        request TEXT, reply TEXT, is_error INTEGER NOT NULL, error TEXT, answered_by TEXT, service TEXT, finish TEXT,
        input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, seconds REAL,
        PRIMARY KEY (run, path, attempt))""",
    "CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE INDEX run_started ON run (started)",
    "CREATE INDEX run_program ON run (program, started)",
    "CREATE INDEX run_file ON run (file, started)",
    "CREATE INDEX run_batch ON run (batch)",
    "CREATE INDEX run_failed ON run (started) WHERE state <> 'done'",
    "CREATE INDEX run_whole ON run (started) WHERE whole = 1",
)

_SECOND = (
    "ALTER TABLE run ADD COLUMN number INTEGER",
    "ALTER TABLE run ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0",
    """CREATE TABLE batch (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, created TEXT NOT NULL, program TEXT NOT NULL, file TEXT NOT NULL,
        closure TEXT NOT NULL, model TEXT NOT NULL, rows_from TEXT NOT NULL, rows_sha TEXT NOT NULL,
        mapping TEXT NOT NULL, total INTEGER NOT NULL, state TEXT NOT NULL, holder TEXT NOT NULL, host TEXT NOT NULL,
        granted INTEGER NOT NULL, ended TEXT, reason TEXT, written TEXT)""",
    "DROP INDEX run_batch",
    "CREATE INDEX run_batch ON run (batch, number)",
    "CREATE INDEX batch_created ON batch (created)",
)
"""Batches: what each is made of, and whose rows are runs."""

_THIRD = (
    """CREATE TABLE message (
        id TEXT PRIMARY KEY, mailbox TEXT NOT NULL, sender TEXT NOT NULL, time TEXT NOT NULL, payload TEXT NOT NULL,
        thread TEXT NOT NULL, origin_run TEXT NOT NULL, origin_path TEXT NOT NULL, place INTEGER NOT NULL,
        returns TEXT, reply_to TEXT, hops INTEGER NOT NULL, reader TEXT, failed INTEGER NOT NULL, state TEXT NOT NULL,
        attempts INTEGER NOT NULL, run TEXT, lease_path TEXT NOT NULL, holder TEXT NOT NULL, leased TEXT, ended TEXT,
        error TEXT, UNIQUE (origin_run, origin_path))""",
    "CREATE INDEX message_place ON message (mailbox, place)",
    "CREATE INDEX message_state ON message (mailbox, state, place)",
    "CREATE INDEX message_run ON message (run)",
    "CREATE INDEX message_reader ON message (reader)",
    "CREATE INDEX message_ended ON message (ended)",
)
"""Mailboxes: what programs leave one another."""

_FOURTH = (
    "ALTER TABLE batch ADD COLUMN options TEXT",
    """CREATE TABLE item (
        batch TEXT NOT NULL, number INTEGER NOT NULL, job TEXT NOT NULL, input TEXT NOT NULL,
        PRIMARY KEY (batch, number))""",
    """CREATE TABLE lease (
        batch TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, turn INTEGER NOT NULL,
        holder TEXT NOT NULL, host TEXT NOT NULL, PRIMARY KEY (batch, first))""",
    """CREATE TABLE pace (
        id TEXT PRIMARY KEY, batch TEXT NOT NULL, service TEXT NOT NULL, at REAL NOT NULL, tokens INTEGER NOT NULL)""",
    "CREATE INDEX pace_at ON pace (batch, service, at)",
)
"""Several workers: inputs of rows, who has which of them, the calls of the last minute. Only a server has any."""

_FIFTH = (
    """CREATE TABLE wave (
        id TEXT PRIMARY KEY, batch TEXT NOT NULL, number INTEGER NOT NULL, backend TEXT NOT NULL,
        service TEXT NOT NULL, model TEXT NOT NULL, lines INTEGER NOT NULL, held BIGINT NOT NULL,
        created TEXT NOT NULL, state TEXT NOT NULL, file TEXT NOT NULL, remote TEXT NOT NULL, ended TEXT,
        reason TEXT)""",
    "CREATE INDEX wave_batch ON wave (batch, number)",
)
"""Batches of model services: what was sent in which, and its id there."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH)
"""What turns a store of version N into one of N + 1, for N from 0, which is an empty file."""

SCHEMA_VERSION = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of the tables, 0 for an empty file."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to this version, all or nothing. Another process may be doing the same."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[version_of(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it
            connection.execute("ROLLBACK")
        raise
