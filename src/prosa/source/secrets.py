"""Secrets in text: how one is shown, and the forms in which it may come back from whom it was sent to (X8)."""

from __future__ import annotations

import json
from urllib.parse import quote, quote_plus

HIDDEN = "***"
"""What stands for a secret wherever something is shown."""


def forms_of(secret: str) -> tuple[str, ...]:
    """Return a secret as sent, in a URL, and in JSON."""
    escaped = json.dumps(secret)[1:-1]
    return (secret, quote(secret), quote(secret, safe=""), quote_plus(secret), escaped, escaped.replace("/", "\\/"))
