"""The address of a service with its key, and which key may go there (X7).

``OPENAI_API_KEY`` belongs to ``OPENAI_BASE_URL``, without that to the service's own address; so do ``OPENAI_ORG_ID``
and ``OPENAI_PROJECT_ID``. Another origin gets a key only when the user names its variable: ``--api-key-env``, or
``endpoints`` in the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from msgspec import Struct, field

from prosa.runtime.errors import ProviderError
from prosa.source.values import PartlyShown

if TYPE_CHECKING:
    from prosa.adapters.providers.secrets import Secrets

DEFAULT_BASE_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"


class Endpoint(PartlyShown, Struct, frozen=True):
    """A service, its key, and further headers that belong to the key. ``variable`` is where its key usually stands.
    ``shown`` is the base URL for people: without user, password and query."""

    base_url: str
    api_key: str | None
    headers: Mapping[str, str] = field(default_factory=dict)
    variable: str = "OPENAI_API_KEY"

    unshown: ClassVar = frozenset({"api_key", "headers"})

    @property
    def shown(self) -> str:
        """The base URL for people."""
        try:
            parts = urlsplit(self.base_url)
            place = parts.netloc.rpartition("@")[2]
        except ValueError:
            return "the given base URL"
        return self.redact(f"{parts.scheme}://{place}{parts.path}".rstrip("/")) if place else "the given base URL"

    def redact(self, text: str) -> str:
        """Return the text with the key, and the password of the base URL, as `***`."""
        text = self.secrets.hidden(text)
        for secret in (self.api_key, _password(self.base_url)):
            if secret:
                text = text.replace(secret, "***")
        return text

    @property
    def secrets(self) -> Secrets:
        """Return the key and the password of the base URL, as they may stand in a text."""
        from prosa.adapters.providers.secrets import Secrets

        return Secrets.of((self.api_key, _password(self.base_url)))


def _password(url: str) -> str | None:
    try:
        return urlsplit(url).password
    except ValueError:
        return None


ACCOUNT_VARIABLES = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Which account of the key is charged, and the headers that say so."""


def choose_key(
    environ: Mapping[str, str], base_url: str | None, *, named: str | None, notice: Callable[[str], None]
) -> str | None:
    """Return the key for ``base_url`` (None: the service's own address), or None.

    ``named`` is the variable that the user named for this endpoint. Raises `ProviderError` when it is empty, or when a
    key could not travel in a header. ``notice`` hears when a key stays here.
    """
    variable = named or KEY_VARIABLE
    key = environ.get(variable, "").strip()
    if named is not None and not key:
        reason = f"the variable {named} is not set"
        raise ProviderError(reason, kind="auth", retryable=False, hint="it was named as the one with the key")
    if not key:
        return None
    if named is None and not same_origin(base_url, environ.get(URL_VARIABLE, "").strip()):
        shown = Endpoint(base_url or DEFAULT_BASE_URL, None).shown
        notice(f"note: {KEY_VARIABLE} is not sent to {shown}; to send it: --api-key-env {KEY_VARIABLE}")
        return None
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(f"{variable} holds characters no key has", kind="auth", retryable=False)
    return key


def account_headers(
    environ: Mapping[str, str], base_url: str | None, *, named: str | None, key: str | None
) -> dict[str, str]:
    """Return the headers that belong to `OPENAI_API_KEY`, where ``key`` is that one and goes to ``base_url`` of itself;
    else none.

    Raises `ProviderError` for a value that no header can carry.
    """
    if named is not None or key is None or not same_origin(base_url, environ.get(URL_VARIABLE, "").strip()):
        return {}
    values = {variable: environ.get(variable, "").strip() for variable in ACCOUNT_VARIABLES}
    for variable, value in values.items():
        if not (value.isascii() and value.isprintable()):
            raise ProviderError(f"{variable} holds characters no header can carry", kind="auth", retryable=False)
    return {ACCOUNT_VARIABLES[variable]: value for variable, value in values.items() if value}


def same_origin(url: str | None, other: str | None) -> bool:
    """Return whether two base URLs share scheme, host and port (RFC 6454); None and empty mean the service's own
    address.

    A text that is no URL shares nothing: the provider refuses it with its reason.
    """
    try:
        return _origin(url or DEFAULT_BASE_URL) == _origin(other or DEFAULT_BASE_URL)
    except ValueError:
        return False


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url.strip())
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or default
