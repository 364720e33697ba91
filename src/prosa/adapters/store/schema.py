"""The tables and views of the store, and how a file of an older version becomes one of this (X25).

Every statement but the pragmas is meant for PostgreSQL too: no functions of SQLite, no rowid, times as texts that sort.
The views are what `prosa query --runs` may ask (X10): what a run keeps for going on is in none of them but `calls`.
"""

from __future__ import annotations

import sqlite3

from prosa.corpus.sql import Readable, View
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

_SIXTH = (
    """CREATE TABLE test (
        id TEXT PRIMARY KEY, door TEXT NOT NULL, folder TEXT NOT NULL, revision TEXT NOT NULL,
        changed INTEGER NOT NULL, version TEXT NOT NULL, started TEXT NOT NULL, heads TEXT NOT NULL,
        lower INTEGER NOT NULL, total INTEGER NOT NULL, state TEXT NOT NULL, ended TEXT, done INTEGER NOT NULL,
        failed INTEGER NOT NULL, unmeasured INTEGER NOT NULL, passed INTEGER, cost REAL, holder TEXT NOT NULL,
        host TEXT NOT NULL)""",
    """CREATE TABLE suite (
        test TEXT NOT NULL, number INTEGER NOT NULL, file TEXT NOT NULL, path TEXT NOT NULL, label TEXT NOT NULL,
        baseline INTEGER NOT NULL, passed INTEGER NOT NULL, measured INTEGER NOT NULL, unmeasured INTEGER NOT NULL,
        cost REAL, PRIMARY KEY (test, number))""",
    """CREATE TABLE attempt (
        test TEXT NOT NULL, suite INTEGER NOT NULL, number INTEGER NOT NULL, repeat INTEGER NOT NULL,
        name TEXT NOT NULL, outcome TEXT NOT NULL, told TEXT NOT NULL, steps TEXT,
        PRIMARY KEY (test, suite, number, repeat))""",
    "CREATE INDEX test_started ON test (started)",
    "CREATE INDEX suite_file ON suite (file, label)",
)
"""Tests: what each tried, and every attempt of it."""

_SEVENTH = (
    """CREATE TABLE improvement (
        id TEXT PRIMARY KEY, subject TEXT NOT NULL, file TEXT NOT NULL, part TEXT NOT NULL, digest TEXT NOT NULL,
        about TEXT NOT NULL, seed INTEGER NOT NULL, cases TEXT NOT NULL, held_out TEXT NOT NULL, started TEXT NOT NULL,
        state TEXT NOT NULL, ended TEXT, look INTEGER, chosen INTEGER, p REAL, accepted INTEGER NOT NULL, cost REAL,
        candidates TEXT NOT NULL, ending TEXT NOT NULL, test TEXT NOT NULL, holder TEXT NOT NULL,
        host TEXT NOT NULL)""",
    "CREATE INDEX improvement_file ON improvement (file)",
    "CREATE INDEX improvement_test ON improvement (test)",
)
"""Searches for better texts: the split of each, its candidates, and its look at held-out cases."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH, _SEVENTH)
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


TABLES = frozenset(
    ("run", "call", "note", "batch", "message", "item", "lease", "pace", "test", "suite", "attempt", "improvement")
)
"""What the store is made of."""

RUN_VIEWS = Readable(
    (
        View(
            "runs",
            "one row for each run",
            (
                ("id", "its id, as `prosa runs` shows it"),
                ("call", "the id that the runs of one command share"),
                ("door", "what started it: `run`, `script`, `chat`, `batch`, `mail`, `serve`, `mcp`, `python`"),
                ("job", "which of the runs of one command it is: the id of a script, the place of a reply"),
                ("program", "the name of the program"),
                ("file", "its file"),
                ("model", "the model that was to answer"),
                ("number", "the number of the row of a batch, null for any other run"),
                ("state", "`open`, `done`, `failed` or `interrupted`"),
                ("kind", "how it failed: `input`, `refused`, `limit`, `provider`, `in-doubt`, `interrupted`, `failed`"),
                ("error", "why it failed"),
                ("output", "its output as JSON"),
                ("attempts", "how many processes were at it"),
                ("started", "when it started, UTC"),
                ("ended", "when it ended, UTC"),
                ("seconds", "how long it took, measured"),
                ("calls", "answered model calls"),
                ("tools", "answered tool calls, without those of programs"),
                ("input_tokens", "tokens in"),
                ("output_tokens", "tokens out"),
                ("cached_tokens", "tokens in that were cached"),
                ("cost", "US dollars, null where no price is known"),
                ("priced", "the day of that price"),
            ),
            "SELECT id, batch, door, job, program, file, model, number, state, kind, error, output, attempts, started,"
            " ended, seconds, calls, tools, input_tokens, output_tokens, cached_tokens, cost, priced FROM main.run",
        ),
        View(
            "calls",
            "one row for each model call and tool call of a run",
            (
                ("run", "the id of the run"),
                ("path", "its place in the run: `1`, `1.0`, `1.0/1`"),
                ("attempt", "the process that made it, as in `runs.attempts`"),
                ("kind", "`model`, or that of the tool: `python`, `mcp`, `program`, `action`, `skill`, `mail`"),
                ("program", "the program that made the call"),
                ("name", "the model or the tool"),
                ("state", "`asked`, `answered` or `failed`"),
                ("is_error", "1 for a tool result that is an error"),
                ("error", "why it failed"),
                ("answered_by", "the model that the service says answered"),
                ("finish", "why the answer ended"),
                ("input_tokens", "tokens in"),
                ("output_tokens", "tokens out"),
                ("cached_tokens", "tokens in that were cached"),
                ("started", "when it was made, UTC"),
                ("seconds", "how long it took, measured"),
                ("digest", "SHA-256 of the request"),
                ("answer", "SHA-256 of the reply"),
                ("request", "the request as JSON, if stored"),
                ("reply", "the reply as JSON, if stored"),
            ),
            "SELECT run, path, attempt, kind, program, name, state, is_error, error, answered_by, finish, input_tokens,"
            " output_tokens, cached_tokens, started, seconds, digest, answer, request, reply FROM main.call",
        ),
        View(
            "batches",
            "one row for each batch, whose rows are in `runs`",
            (
                ("id", "its id, which is `runs.call` of its rows"),
                ("name", "its name"),
                ("program", "the name of the program"),
                ("file", "its file"),
                ("model", "the model that was to answer"),
                ("rows_from", "where the rows were read"),
                ("total", "how many there are"),
                ("state", "`open`, `done`, `stopped` or `cancelled`"),
                ("reason", "why it stopped"),
                ("created", "when it first started, UTC"),
                ("ended", "when a process was done with it last, UTC"),
            ),
            "SELECT id, name, program, file, model, rows_from, total, state, reason, created, ended FROM main.batch",
        ),
        View(
            "messages",
            "one row for each message in a mailbox",
            (
                ("id", "its id"),
                ("mailbox", "where it is"),
                ("sender", "the program that sent it, or `user`"),
                ("time", "when it was sent, UTC"),
                ("payload", "its payload, as JSON"),
                ("thread", "the id of the first message of the exchange"),
                ("reply_to", "the message, or the ticket, that it answers"),
                ("hops", "messages before it of which each was sent while the one before was handled"),
                ("state", "`new`, `leased`, `handled` or `dead`"),
                ("attempts", "how often it was given out"),
                ("run", "the run that had it last"),
                ("ended", "when it was handled, or became a dead letter, UTC"),
                ("error", "why it was not handled"),
            ),
            "SELECT id, mailbox, sender, time, payload, thread, reply_to, hops, state, attempts, run, ended, error"
            " FROM main.message",
        ),
        View(
            "tests",
            "one row for each suite of each `prosa test`",
            (
                ("id", "the id of the test, as `prosa report` takes it"),
                ("number", "which of its suites, counted from 0"),
                ("file", "the file of the cases"),
                ("label", "what distinguishes several suites of one file: the model, the agent, the side"),
                ("baseline", "1 for a side that others are compared with"),
                ("door", "what started it: `test`, `python`"),
                ("revision", "the git commit of the folder, empty outside of a repository"),
                ("changed", "1 where the working tree differed from it"),
                ("state", "`open`, `done` or `interrupted`"),
                ("passed", "attempts that passed"),
                ("measured", "attempts that were measured"),
                ("unmeasured", "attempts that were not"),
                ("cost", "US dollars of the answers, null where a price is not known"),
                ("started", "when it started, UTC"),
                ("ended", "when it ended, UTC"),
            ),
            "SELECT t.id, s.number, s.file, s.label, s.baseline, t.door, t.revision, t.changed, t.state, s.passed,"
            " s.measured, s.unmeasured, s.cost, t.started, t.ended FROM main.suite s JOIN main.test t ON t.id = s.test",
        ),
        View(
            "attempts",
            "one row for each attempt of a test",
            (
                ("test", "the id of the test"),
                ("suite", "which of its suites, counted from 0"),
                ("case_name", "the case"),
                ("repeat", "which repeat of the case, counted from 0"),
                ("outcome", "`passed`, `failed`, `not measured`, `not offered` or `broken`"),
                ("attempt", "the answer, the failures and the figures, as JSON"),
            ),
            "SELECT test, suite, name, repeat, outcome, told FROM main.attempt",
        ),
    ),
    TABLES,
    help="prosa query --help",
)
"""The views, made of the tables of the store."""
