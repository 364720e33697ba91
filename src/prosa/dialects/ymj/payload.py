"""The payload of a record: what body format, selector and encoding name in its body (Y27, YA13, YA17, YA22).

In: a record. Out: a `Payload`, found or not, or None where the record names none. Nothing is inferred from the body
itself (Y3).
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from prosa.dialects.ymj.selectors.selector import BadSelector, Body, Target, TooCostly
from prosa.dialects.ymj.selectors.table import UnknownSelector, prepare

if TYPE_CHECKING:
    from prosa.dialects.ymj.model import YmjModel

MAX_PAYLOAD = 10 * 1024 * 1024
"""Bytes of a decoded payload: as many as a document may have (X9)."""

_SPACE = re.compile(r"\s+")
_GZIP = 31
"""zlib's name for: a gzip header, and the largest window."""

Failure: TypeAlias = Literal["", "missing", "unknown", "bad", "costly", "encoding"]


@dataclass(frozen=True, slots=True)
class Payload:
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


def read_payload(model: YmjModel) -> Payload | None:
    """The payload of a record."""
    selector, explicit = _selector(model)
    encoding = model.option("body_encoding")
    if selector is None and encoding is None:
        return None
    body = Body(model.document, model.body_text)
    whole = selector is None or (not explicit and model.option("body_format") in ("markdown", "plain"))
    try:
        target = prepare(selector)(body) if selector is not None else None
    except UnknownSelector as error:
        return Payload(selector, explicit, False, None, "unknown", error.name)
    except BadSelector as error:
        return Payload(selector, explicit, False, None, "bad", str(error))
    except TooCostly as error:
        return Payload(selector, explicit, False, None, "costly", str(error))
    if target is None and not whole:
        return Payload(selector, explicit, False, None, "missing")
    return _decoded(selector, explicit, target or Target(body.text), encoding)


def _selector(model: YmjModel) -> tuple[str | None, bool]:
    """The selector in force and whether the author wrote it."""
    own, body_format = model.option("body_selector"), model.option("body_format")
    if own is not None:
        return own.strip(), True
    return (f"first_fenced:{body_format}" if body_format else None), False


def _decoded(selector: str | None, explicit: bool, target: Target, encoding: str | None) -> Payload:
    content, reason = (target.text, "") if encoding is None else decode(target.text, encoding)
    if content is None:
        return Payload(selector, explicit, True, None, "encoding", reason)
    return Payload(selector, explicit, True, content.removesuffix("\n"))


def decode(text: str, encoding: str) -> tuple[str | None, str]:
    """The text behind `body_encoding`, or None and the reason: `base64`, or `gzip`, which is base64 of gzip."""
    try:
        data = base64.b64decode(_SPACE.sub("", text).encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        return None, "it is not base64"
    if encoding == "gzip":
        unpacked, reason = _unzip(data)
        if unpacked is None:
            return None, reason
        data = unpacked
    try:
        return data.decode("utf-8").replace("\r\n", "\n"), ""
    except UnicodeDecodeError:
        return None, "what it holds is not UTF-8 text; binary data belongs into an attachment"


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
