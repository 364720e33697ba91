"""SHA-256, which identifies content. In: bytes. Out: a hash object.

`hashlib` brings OpenSSL along and is loaded at first use: a check of unchanged documents does not need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import _Hash


def sha256(data: bytes = b"") -> _Hash:
    """Return the SHA-256 of bytes, to which more can be added."""
    import hashlib

    return hashlib.sha256(data)
