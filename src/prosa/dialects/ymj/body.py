"""The body of a record as bytes to hash (YA3, Y18). In: the author's text of the body. Out: its hashes.

Line ends become LF, nothing is trimmed. The stripped form is what other tools hash; a hash of that form stays one when
it is brought up to date, and none is written where there was no hash.
"""

from __future__ import annotations

import hashlib
import re

_LINE_END = re.compile(r"\r\n?")

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
"""The hash of nothing, found in records whose tool hashed the wrong thing."""


def normalised(text: str) -> str:
    """The text with every line end as LF (X2: CRLF and a lone CR are line ends)."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def sha256_of(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, in lower-case hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def legacy_hashes(body: str) -> tuple[str, ...]:
    """The hashes that other tools write for a normalised body: stripped, and stripped with its final line end."""
    stripped = body.strip()
    return sha256_of(stripped), sha256_of(stripped + "\n")
