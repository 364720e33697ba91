"""The contract of an answer, by the form of a program's output (M34): JSON with a schema, plain text, an image's URL.

In: a program. Out: its contract: the format to send, the instruction for the model, and the verdict on a reply. A URL
is checked but never fetched.
"""

from __future__ import annotations

import re
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from prosa.regex import regex
from prosa.runtime.messages import ModelReply, OutputFormat
from prosa.runtime.output import Accepted, OutputContract, Rejected, Verdict
from prosa.runtime.program import Program
from prosa.source.remembered import remembered

MAX_URL = 8192
"""Maximum length of an address; services return no longer ones."""

MAX_DATA_URL = 10 * 1024 * 1024
"""Characters of an image inside its URL: the size of a document (X9)."""

CUT_OFF = "the answer was cut off at the length limit of the model before the URL ended"
NOT_A_URL = "the answer is not one absolute http, https or data:image URL; answer with the URL and nothing else"

_PLAIN = regex(r"[^\s\x00-\x1f\x7f<>\"`\\]+")
_IMAGE = regex(r"data:image/[A-Za-z0-9.+-]{1,64}(?:;[A-Za-z0-9=.+-]{1,64}){0,4},.+", re.DOTALL)


class Contract(Protocol):
    """What an answer must be."""

    @property
    def format(self) -> OutputFormat | None:
        """The schema of `ModelRequest`, where there is one."""
        ...

    @property
    def rule(self) -> str:
        """The instruction for the model about its answer; may be empty."""
        ...

    @property
    def wanted(self) -> str:
        """The answer in words, as in "answer with …"."""
        ...

    def judge(self, reply: ModelReply) -> Verdict:
        """Accept or reject a reply without tool calls."""
        ...


class TextContract(Struct, frozen=True):
    """Text and Markdown: the reply is the output, as it is. Whether it may be cut off is the user's choice."""

    format: None = None
    rule: str = ""
    wanted: str = "the text"

    def judge(self, reply: ModelReply) -> Verdict:
        """Accept."""
        return Accepted(reply.content, cut=reply.finish == "length")


class ImageUrlContract(Struct, frozen=True):
    """One absolute URL of an image: http, https, or the image itself as `data:image/…` (M34)."""

    format: None = None
    rule: str = "Answer with one absolute URL of an image and with nothing else."
    wanted: str = "the URL"

    def judge(self, reply: ModelReply) -> Verdict:
        """Accept the URL without the space around it."""
        if reply.finish == "length":
            return Rejected((CUT_OFF,), reply.content)
        url = reply.content.strip()
        return Accepted(url) if is_image_url(url) else Rejected((NOT_A_URL,), reply.content)


def contract_of(program: Program) -> Contract:
    """Return the contract of a program. Raises `prosa.schema.SchemaError`."""
    if program.form == "json":
        return _json_contract(program.output_schema)
    return ImageUrlContract() if program.form == "image-url" else TextContract()


_json_contract = remembered(OutputContract.of)


def is_image_url(text: str) -> bool:
    """Return whether a text is one absolute http, https or data:image URL. Nothing is fetched, so its content
    is unknown."""
    if text[:5].lower() == "data:":
        return len(text) <= MAX_DATA_URL and bool(_IMAGE.fullmatch(text) and _PLAIN.fullmatch(text))
    if len(text) > MAX_URL or not _PLAIN.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
