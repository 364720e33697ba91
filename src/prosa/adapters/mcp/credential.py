"""The credential for an MCP server, bound to one origin and hidden in its representation (X18, X8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, TypeAlias

from msgspec import Struct

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
