"""Embeddings: the port that turns texts into vectors, and the text of a document to embed (X6, X23).

In: a port that a service or a local model implements. Out: the text to send, and the documents that may be sent.
Nothing here computes a vector or opens a connection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from prosa.data import Value
from prosa.regex import regex
from prosa.source.files import sha256

MAX_TEXT = 8_000
"""Characters of one text that are embedded: some 2,000 tokens, which every model of today takes."""

BATCH = 64
"""Texts in one request."""

MAX_DIMENSION = 16_384
"""Numbers in one vector; no model has more, and a longer list in a footer is something else."""

SECRET = frozenset({"confidential", "secret"})
"""Classifications whose documents are never sent anywhere (X6)."""


_HEAD = regex(r"\ufeff?\s*---.*?(?:^(?:---|\.\.\.)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
"""What was meant as front matter: from a fence at the top to the next one, or to the end of the text."""

_SAID = regex(r"""(?<![\w-])classification["']?[ \t]*:(?P<value>[^\n]*(?:\n(?:[ \t]+|-[ \t])[^\n]*)*)""", re.IGNORECASE)
_COMMENT = regex(r"(?:^|[ \t])#[^\n]*")


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def model_name(self) -> str:
        """Its name as it is recorded beside every vector: vectors of two models are never compared (YW7)."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether texts leave this machine: then classified documents are left out (X6)."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text, all of the same length, in order. Raises
        `prosa.corpus.errors.EmbeddingError`."""
        ...

    async def aclose(self) -> None:
        """Release connections. Safe to call twice."""
        ...


def embedded_text(*parts: str) -> str:
    """Return the text that stands for a document or a section: its names first, then what fits of its content."""
    return "\n".join(part.strip() for part in parts if part.strip())[:MAX_TEXT]


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text, in hex: a vector is fresh while the text it was made of has this digest."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def may_be_sent(front_matter: Mapping[str, Value] | None) -> bool:
    """Return whether a document may be sent to a service (X6): not with a classification of `confidential` or `secret`.

    A classification that is no text is taken for the worst.
    """
    classification = (front_matter or {}).get("classification")
    if classification is None:
        return True
    return isinstance(classification, str) and classification.strip().lower() not in SECRET


def looks_classified(text: str) -> bool:
    """Return whether the text of a document suggests that it may not be sent, even if its front matter is broken (X6).

    The parsed fields do not count here: of a duplicate field a reader knows one, and of unclosed or invalid front
    matter perhaps none. A value other than plain text counts as the most restrictive.
    """
    if text.isascii() and "classification" not in text.lower():
        return False
    values = (_COMMENT.sub("", match["value"]).strip().casefold() for match in _SAID.finditer(head_of(text)))
    return any(value.startswith(tuple("[{*&!|>%@`")) or any(word in value for word in SECRET) for value in values)


def head_of(text: str) -> str:
    """Return what was meant as front matter, its lines ended with a line feed, however broken; empty where nothing
    was."""
    head = _HEAD.match(text.replace("\r\n", "\n").replace("\r", "\n"))
    return head[0] if head is not None else ""
