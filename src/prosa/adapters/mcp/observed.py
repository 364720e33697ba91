"""What was seen of one connection, so that an error can say what happened.

Filled by the transports, read by `words`. Refuses to grow: everything in it is bounded where it is filled.
"""

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
    """The server is known to hang: do not wait for it to leave by itself."""
    stderr: bytes = b""
    """The last bytes of its stderr."""
    stray: str = ""
    """The last line on stdout that was not a message."""
    exit_status: int | None = None
    """How its process ended by itself; None when it did not, or when there is no process."""
    failure: str = ""
    """Why the connection broke, where the SDK said so."""
    http_status: int | None = None
    """The last HTTP status, if there was one."""
    challenge: str = ""
    """What a server that refused said of the credential that it wants."""

    @property
    def wants_credential(self) -> bool:
        """Whether the server refused for want of a credential, or of a better one."""
        return self.http_status in WANT_CREDENTIAL
