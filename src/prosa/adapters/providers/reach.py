"""Whether a service answers at all. In: its base URL. Out: what came back. No key and no text is sent."""

from __future__ import annotations

from msgspec import Struct

TIMEOUT = 5.0


class Reached(Struct, frozen=True):
    """Whether anything answered, and what it said."""

    answers: bool
    words: str


def reach(base_url: str) -> Reached:
    """Ask for the list of models without a key: whatever a server answers, it is there."""
    import httpx2

    try:
        answer = httpx2.get(f"{base_url.rstrip('/')}/models", timeout=TIMEOUT, follow_redirects=False)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return Reached(False, str(error) or type(error).__name__)
    return Reached(True, f"HTTP {answer.status_code}")
