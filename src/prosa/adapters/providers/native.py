"""Services that speak an interface of their own over httpx2: Anthropic's Messages and Google's (X7).

In: a key and an address, both given; nothing is read from the environment. Out: `ServiceProvider` values.
"""

from __future__ import annotations

from collections.abc import Callable

from prosa.adapters.providers import gemini, messages
from prosa.adapters.providers.asking import STREAM_SILENCE
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.exchange import ServiceProvider

ANTHROPIC_BASE_URL = "https://api.anthropic.com/v1"
GOOGLE_BASE_URL = "https://generativelanguage.googleapis.com/v1beta"


class AnthropicProvider(ServiceProvider):
    """A service that speaks Messages at ``base_url`` (None: Anthropic's own), asked with ``api_key`` (None: without).

    ``most`` says how many tokens a model writes at most, where the user knows it. For the rest see `ServiceProvider`.
    """

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None = None,
        timeout: float = 600,
        silence: float = STREAM_SILENCE,
        variable: str = "ANTHROPIC_API_KEY",
        most: Callable[[str], int | None] | None = None,
    ) -> None:
        endpoint = _endpoint(base_url or ANTHROPIC_BASE_URL, api_key, variable)
        first = messages.FIRST_SHAPE
        super().__init__(endpoint, messages.WIRE, first=first, timeout=timeout, silence=silence, most=most)


class GoogleProvider(ServiceProvider):
    """A service that speaks Google's interface at ``base_url`` (None: Google's own), asked with ``api_key`` (None:
    without). For the rest see `ServiceProvider`."""

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None = None,
        timeout: float = 600,
        silence: float = STREAM_SILENCE,
        variable: str = "GEMINI_API_KEY",
    ) -> None:
        endpoint = _endpoint(base_url or GOOGLE_BASE_URL, api_key, variable)
        super().__init__(endpoint, gemini.WIRE, first=gemini.FIRST_SHAPE, timeout=timeout, silence=silence)


def _endpoint(base_url: str, api_key: str | None, variable: str) -> Endpoint:
    return Endpoint(base_url.strip().rstrip("/"), (api_key or "").strip() or None, variable=variable)
