"""SHA-256, by which content is told from content. In: bytes. Out: what hashes them.

`hashlib` brings OpenSSL along and is loaded at the first question: a check of documents that did not change asks none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import _Hash


def sha256(data: bytes = b"") -> _Hash:
    """Return the SHA-256 of bytes, to which more can be added."""
    import hashlib

    return hashlib.sha256(data)
