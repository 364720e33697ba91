"""Which key may go to an endpoint (X7): only the one that the user configured for it.

``OPENAI_API_KEY`` belongs to ``OPENAI_BASE_URL``, without that to the service's own address; so do ``OPENAI_ORG_ID``
and ``OPENAI_PROJECT_ID``, which say whose account it is. Another origin gets a key only when the user names its
variable: for one call by ``--api-key-env``, for good by ``endpoints`` in the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from prosa.adapters.providers.failures import DEFAULT_BASE_URL, Endpoint
from prosa.runtime.errors import ProviderError

KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
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
    found = {variable: environ.get(variable, "").strip() for variable in ACCOUNT_VARIABLES}
    for variable, value in found.items():
        if not (value.isascii() and value.isprintable()):
            raise ProviderError(f"{variable} holds characters no header can carry", kind="auth", retryable=False)
    return {ACCOUNT_VARIABLES[variable]: value for variable, value in found.items() if value}


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
