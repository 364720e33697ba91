"""Observations of one connection to an MCP server for error messages, bounded where they are made."""

from __future__ import annotations

import anyio
from msgspec import Struct, field

WANT_CREDENTIAL = frozenset((401, 403))
"""Statuses by which a server says that it does not know who asks, or that they may not."""


class Observed(Struct):
    """Facts about one connection. Changed in place while the connection lives."""

    ended: anyio.Event = field(default_factory=anyio.Event)
    """Set when the server's messages end, or when we give it up."""
    hurry: bool = False
    """The server is known to hang: do not wait for it to exit."""
    stderr: bytes = b""
    """The last bytes of its stderr."""
    stray: str = ""
    """The last line on stdout that was not a message."""
    exit_status: int | None = None
    """The exit status of its process; None while it runs, or if there is no process."""
    failure: str = ""
    """Why the connection broke, if the SDK reported it."""
    http_status: int | None = None
    """The last HTTP status, if there was one."""
    challenge: str = ""
    """What a refusing server said about the credential that it requires."""

    @property
    def wants_credential(self) -> bool:
        """Whether the server refused for want of a credential, or of a better one."""
        return self.http_status in WANT_CREDENTIAL
