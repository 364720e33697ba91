"""The credential for an MCP server, bound to one origin and hidden in its representation (X18, X8), and observations of
one connection for error messages, bounded where they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, TypeAlias

import anyio
from msgspec import Struct, field

from prosa.source.secrets import HIDDEN, forms_of
from prosa.source.url import Origin, origin_of
from prosa.source.values import PartlyShown


class Credential(PartlyShown, Struct, frozen=True):
    """Headers for one origin, and the secrets in them by the name of the variable that each comes from."""

    origin: Origin
    headers: Mapping[str, str]
    secrets: Mapping[str, str]

    unshown: ClassVar = frozenset({"headers", "secrets"})

    def for_url(self, url: str) -> Mapping[str, str]:
        """Return the headers for a request; none where it goes to another origin."""
        try:
            return self.headers if origin_of(url) == self.origin else {}
        except ValueError:
            return {}

    def hide(self, text: str) -> str:
        """Return a text with secrets replaced: a server may repeat its input."""
        for secret in self.secrets.values():
            for form in forms_of(secret):
                text = text.replace(form, HIDDEN)
        return text


Credentials: TypeAlias = Callable[[str], Credential | None]
"""Returns the credential for the URL of a server. Raises `RunError` if a variable is not set."""

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
