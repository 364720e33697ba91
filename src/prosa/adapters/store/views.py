"""What `prosa query --runs` may ask of the store: views of runs, of their calls, of batches and mailboxes (X10, X25).

In: nothing. Out: views with their columns and what they mean. What a run keeps for going on is in none of them but
`calls`, and there only while it is kept.
"""

from __future__ import annotations

from prosa.corpus.sql import Readable, View

TABLES = frozenset(("run", "call", "note", "batch", "message", "item", "lease", "pace"))
"""What the store is made of."""

RUN_VIEWS = Readable(
    (
        View(
            "runs",
            "one row for each run",
            (
                ("id", "its id, as `prosa runs` shows it"),
                ("call", "the id that the runs of one command share"),
                ("door", "what began it: `run`, `script`, `chat`, `batch`, `mail`, `serve`, `mcp`, `python`"),
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
                ("started", "when it began, UTC"),
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
                ("program", "the program that asked"),
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
                ("digest", "SHA-256 of what was asked"),
                ("answer", "SHA-256 of what came"),
                ("request", "what was asked, as JSON, where it is kept"),
                ("reply", "what came, as JSON, where it is kept"),
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
                ("created", "when it began first, UTC"),
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
                ("payload", "what it says, as JSON"),
                ("thread", "the id of the message that all of this began with"),
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
    ),
    TABLES,
    help="prosa query --help",
)
"""The views, made of the tables of the store."""
