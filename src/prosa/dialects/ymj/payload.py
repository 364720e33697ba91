"""The payload of a record: the part of its body that format, selector and encoding name (Y27, YA13, YA17, YA22).

In: a record. Out: a `Payload`, found or not, or None where the record names none. Nothing is inferred from the body
itself (Y3). The media types of the body formats show whether the deprecated `payload_mime` agrees (Y12).
"""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.dialects.ymj.selectors import BadSelector, Body, Target, TooCostly, UnknownSelector, prepare
from prosa.regex import regex

if TYPE_CHECKING:
    from prosa.document import Document

MAX_PAYLOAD = 10 * 1024 * 1024
"""Bytes of a decoded payload: as many as a document may have (X9)."""

_SPACE = regex(r"\s+")
_GZIP = 31
"""zlib's name for: a gzip header, and the largest window."""

Failure: TypeAlias = Literal["", "missing", "unknown", "bad", "costly", "encoding"]


class PayloadRecord(Protocol):
    """What a payload is read from; the model of a record is one."""

    @property
    def document(self) -> Document:
        """The Markdown of the body."""

    @property
    def body_text(self) -> str:
        """The body with LF line ends."""

    def option(self, name: str, /) -> str | None:
        """Return a string below `ops`."""


class Payload(Struct, frozen=True):
    """``selector`` is the one in force, the default one where the record has none of its own (None: the whole body).

    ``content`` is decoded and without its final newline; None when nothing was found or decoded. ``failure`` and
    ``reason`` say why.
    """

    selector: str | None
    explicit: bool
    found: bool
    content: str | None
    failure: Failure = ""
    reason: str = ""


def read_payload(record: PayloadRecord) -> Payload | None:
    """Return the payload of a record."""
    selector, explicit = _selector(record)
    encoding = record.option("body_encoding")
    if selector is None and encoding is None:
        return None
    whole = selector is None or (not explicit and record.option("body_format") in ("markdown", "plain"))
    target = _targeted(record, selector)
    if isinstance(target, Payload):
        return replace(target, explicit=explicit)
    if target is None and not whole:
        return Payload(selector, explicit, False, None, "missing")
    return _decoded(selector, explicit, target or Target(record.body_text), encoding)


class Extracted(Struct, frozen=True):
    """The payload as bytes, or None and why there is none."""

    data: bytes | None
    failure: Failure = ""
    reason: str = ""


def payload_bytes(record: PayloadRecord, selector: str | None = None, *, fallback_body: bool = False) -> Extracted:
    """Return the bytes of a payload: decoded as `body_encoding` says, else UTF-8 with LF line ends.

    ``selector`` replaces the record's own; ``fallback_body`` returns the whole body if nothing is selected or found
    (YA17b), without decoding: the encoding is that of the payload. At most `MAX_PAYLOAD` bytes are decoded.
    """
    chosen, explicit = (selector.strip(), True) if selector is not None else _selector(record)
    encoding = record.option("body_encoding")
    if chosen is None and encoding is None and not fallback_body:
        return Extracted(None, "missing", "the record names no payload: it has neither `body_format` nor a selector")
    target = _targeted(record, chosen)
    if isinstance(target, Payload):
        return Extracted(None, target.failure, target.reason)
    whole = chosen is None or (not explicit and record.option("body_format") in ("markdown", "plain"))
    if target is None and not whole:
        if not fallback_body:
            return Extracted(None, "missing", f"nothing in the body matches the selector `{chosen}`")
        encoding = None
    text = record.body_text if target is None else target.text
    if encoding is None:
        return Extracted(text.encode("utf-8", "surrogatepass"))
    data, reason = decode_bytes(text, encoding)
    return Extracted(data, "" if data is not None else "encoding", reason)


def _targeted(record: PayloadRecord, selector: str | None) -> Target | Payload | None:
    """Return what a selector finds in the body; None for nothing, a `Payload` with the failure for one that cannot be
    used."""
    if selector is None:
        return None
    try:
        return prepare(selector)(Body(record.document, record.body_text))
    except UnknownSelector as error:
        return Payload(selector, True, False, None, "unknown", error.name)
    except BadSelector as error:
        return Payload(selector, True, False, None, "bad", str(error))
    except TooCostly as error:
        return Payload(selector, True, False, None, "costly", str(error))


def _selector(record: PayloadRecord) -> tuple[str | None, bool]:
    """Return the selector in force and whether the author wrote it."""
    own, body_format = record.option("body_selector"), record.option("body_format")
    if own is not None:
        return own.strip(), True
    return (f"first_fenced:{body_format}" if body_format else None), False


def _decoded(selector: str | None, explicit: bool, target: Target, encoding: str | None) -> Payload:
    content, reason = (target.text, "") if encoding is None else decode(target.text, encoding)
    if content is None:
        return Payload(selector, explicit, True, None, "encoding", reason)
    return Payload(selector, explicit, True, content.removesuffix("\n"))


def decode(text: str, encoding: str) -> tuple[str | None, str]:
    """Return the text behind `body_encoding`, or None and the reason: `base64`, or `gzip`, which is base64 of gzip."""
    data, reason = decode_bytes(text, encoding)
    if data is None:
        return None, reason
    try:
        return data.decode("utf-8").replace("\r\n", "\n"), ""
    except UnicodeDecodeError:
        return None, "its content is not UTF-8 text; binary data belongs in an attachment"


def decode_bytes(text: str, encoding: str) -> tuple[bytes | None, str]:
    """Return the bytes behind `body_encoding`, or None and the reason."""
    try:
        data = base64.b64decode(_SPACE.sub("", text).encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        return None, "it is not base64"
    if encoding == "gzip":
        return _unzip(data)
    return data, ""


def _unzip(data: bytes) -> tuple[bytes | None, str]:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(data, MAX_PAYLOAD + 1)
    except zlib.error:
        return None, "it is not gzip"
    if len(unpacked) > MAX_PAYLOAD:
        return None, f"it unpacks to more than {MAX_PAYLOAD:,} bytes"
    if not unpacker.eof or unpacker.unused_data:
        return None, "its gzip data is cut off or followed by something else"
    return unpacked, ""


_TYPES: dict[str, tuple[str, ...]] = {
    "markdown": ("text/markdown", "text/x-markdown", "text/x-ymj"),
    "csv": ("text/csv", "application/csv"),
    "mermaid": ("text/vnd.mermaid", "text/x-mermaid", "text/mermaid", "application/mermaid"),
    "plain": ("text/plain",),
    "json": ("application/json", "text/json"),
    "yaml": ("application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml"),
}


def agrees(mime: str, body_format: str) -> bool:
    """Return whether a media type, parameters aside, is one of a body format."""
    return mime.partition(";")[0].strip().lower() in _TYPES.get(body_format, ())
