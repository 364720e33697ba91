"""Which key may go to an endpoint (X7): only the one that the user configured for it.

``OPENAI_API_KEY`` belongs to ``OPENAI_BASE_URL``, or to the service's own address without it. A ``--base-url`` with
another origin gets a key only when the user names its variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from prosa.runtime.errors import ProviderError

KEY_VARIABLE = "OPENAI_API_KEY"


def choose_key(
    environ: Mapping[str, str],
    base_url: str | None,
    *,
    configured: str | None,
    named: str | None,
    notice: Callable[[str], None],
) -> str | None:
    """The key for ``base_url`` (None: the service's own address), or None.

    ``configured`` is the base URL that the environment's key belongs to; ``named`` the variable the user named for
    this call. Raises `ProviderError` when that variable is empty or a key could not travel in a header.
    """
    key = environ.get(named or KEY_VARIABLE) or None
    if named is not None and key is None:
        raise ProviderError(f"the variable {named} is not set", kind="auth", retryable=False)
    if named is None:
        if key is not None and base_url is not None and not same_origin(base_url, configured):
            notice(f"note: {KEY_VARIABLE} is not sent to {base_url}; to send it: --api-key-env {KEY_VARIABLE}")
            return None
    if key is not None and not (key.isascii() and key.isprintable()):
        variable = named or KEY_VARIABLE
        raise ProviderError(f"{variable} holds characters no key has", kind="auth", retryable=False)
    return key


def same_origin(url: str, other: str | None) -> bool:
    """Whether two URLs share scheme, host and port (RFC 6454)."""
    return other is not None and _origin(url) == _origin(other)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or default
