"""The credential for an MCP server, bound to one origin and hidden in its representation (X18, X8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol, TypeAlias

from msgspec import Struct

from prosa.source.secrets import HIDDEN, forms_of
from prosa.source.url import Origin, origin_of
from prosa.source.values import PartlyShown


class Renewal(Protocol):
    """What keeps the token of a login alive; it changes the headers and the secrets of its credential in place."""

    @property
    def scope(self) -> str:
        """What the login may do, as its server words it; empty if unknown."""
        ...

    async def before(self) -> None:
        """Renew a token that is about to end. Never raises: the server answers a token that could not be renewed."""
        ...

    async def refused(self) -> bool:
        """Renew a token that the server does not accept; return whether there is another now."""
        ...


class Credential(PartlyShown, Struct, frozen=True):
    """Headers for one origin, and the secrets in them by the name of the variable that each comes from. A login has a
    ``renewal``."""

    origin: Origin
    headers: Mapping[str, str]
    secrets: Mapping[str, str]
    renewal: Renewal | None = None

    unshown: ClassVar = frozenset({"headers", "secrets", "renewal"})

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
