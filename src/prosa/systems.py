"""What Prosa does not do on some systems, and does differently there: one sentence each, for messages and for the table
in `docs/install.md`. Nothing is asked of the system here.
"""

from __future__ import annotations

from typing import Final

AGENTS: Final = "agents start on Linux and macOS only, because their child processes might outlive them elsewhere"
"""The message where an agent is to be started."""

ISOLATION: Final = "isolation needs Linux: agents run in bubblewrap"
"""What `prosa agents` says where there is no box."""

SCRIPTS: Final = "is a script of cmd.exe, which would interpret the argument"
"""In the message about a server whose command is a script on Windows; the name stands before, the argument behind."""

WINDOWS: Final = (
    "an MCP server gets no signal: two seconds after the end of its input it is ended, with all that it started",
    "one file of a sandboxed program may grow as large as all of them together, which are measured ten times a second",
    "a sandbox that ends because Prosa was killed leaves its temporary folder",
    "folders and files have the rights inherited from the user's profile",
    "an index is rebuilt in its place, because an open file cannot be replaced",
    "a file that another program has open is tried again for a second before it is reported as not written",
)
"""What is done differently on Windows, without a message."""
