"""Finding a model server on this machine (X17): only when the user asks, on loopback, and once it says what it is.

What comes in: a model name or None. What goes out: a base URL and the models there. A port counts only when
`GET /v1/models` answers as a model server does; nothing but this request is ever sent.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Mapping, Sequence
from http.client import HTTPException, HTTPResponse

from msgspec import Struct

from prosa.runtime.errors import ProviderError

PORTS: Mapping[str, int] = {"Ollama": 11434, "llama.cpp": 8080, "LM Studio": 1234, "vLLM": 8000}
PROBE_SECONDS = 1.0  # for one port in all; a server on this machine answers in milliseconds
MAX_LIST_BYTES = 4 * 1024 * 1024  # thousands of models
_ASK = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: application/json\r\nConnection: close\r\n\r\n"


class LocalServer(Struct, frozen=True):
    """A model server on this machine. ``models`` in its own order; ``model_name`` is the one that was asked for."""

    base_url: str
    models: tuple[str, ...]
    model_name: str


async def find_local(
    name: str | None = None, *, ports: Mapping[str, int] = PORTS, timeout: float = PROBE_SECONDS
) -> LocalServer:
    """The first server that has the model ``name`` (None: any, and its first model is taken).

    ``ports`` maps what a server is called to its port; the first in this order wins, all are asked at once. ``timeout``
    is in seconds per port. A name without a tag also finds `name:latest`. Raises `ProviderError` of kind ``missing``
    that lists what was tried.
    """
    answers = await asyncio.gather(*(_probe(port, timeout) for port in ports.values()))
    tried: list[str] = []
    for (label, port), (models, why) in zip(ports.items(), answers, strict=True):
        chosen = _choose(name, models)
        if chosen is not None:
            return LocalServer(f"http://127.0.0.1:{port}/v1", tuple(models), chosen)
        tried.append(f"{label} on port {port}: {why or _offers(models)}")
    wanted = "no local model server was found" if name is None else f"no local model server offers `{name}`"
    hint = "start one, or name it with --base-url; `--model local:NAME` chooses a model"
    raise ProviderError(f"{wanted}; tried {'; '.join(tried)}", kind="missing", retryable=False, hint=hint)


def _choose(name: str | None, models: Sequence[str]) -> str | None:
    if name is None:
        return models[0] if models else None
    return next((model for model in models if model in (name, f"{name}:latest")), None)


def _offers(models: Sequence[str]) -> str:
    if not models:
        return "it has no models"
    return f"it has {', '.join(models[:10])}{' …' if len(models) > 10 else ''}"


async def _probe(port: int, timeout: float) -> tuple[list[str], str]:
    """The models at a port, or why it does not count. The time limit holds for all of it, so that no drip holds us."""
    try:
        async with asyncio.timeout(timeout):
            data = await _fetch(port)
    except ConnectionRefusedError:
        return [], "nothing listens"
    except TimeoutError:
        return [], "no answer in time"
    except OSError as problem:
        return [], problem.strerror or "no connection"
    models = _models(data)
    return (models, "") if models is not None else ([], "something else listens there")


async def _fetch(port: int) -> bytes:
    """The raw answer, until its length says that it is whole or the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = bytearray()
    try:
        writer.write(_ASK % port)
        while len(data) <= MAX_LIST_BYTES and not _is_whole(data):
            chunk = await reader.read(65536)
            if not chunk:
                break
            data += chunk
    finally:
        writer.close()
    return bytes(data[:MAX_LIST_BYTES])


def _is_whole(data: bytearray) -> bool:
    """Whether a `Content-Length` says that all is here."""
    head, blank, _ = bytes(data[:65536]).partition(b"\r\n\r\n")
    if not blank:
        return False
    for line in head.lower().split(b"\r\n"):
        field, _, value = line.partition(b":")
        if field == b"content-length" and value.strip().isdigit():
            return len(data) - len(head) - 4 >= int(value.strip()[:12])
    return False


class _Raw:
    """Bytes in the place of a socket, for the parser of the standard library."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self._data)


def _models(data: bytes) -> list[str] | None:
    """The model names of an answer, or None when it is not the answer of a model server."""
    try:
        response = HTTPResponse(_Raw(data))  # type: ignore[arg-type]
        response.begin()
        body = response.read()
        value = json.loads(body) if response.status == 200 else None
    except (HTTPException, OSError, ValueError, RecursionError):
        return None
    entries = value.get("data") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        return None
    names = [entry.get("id") if isinstance(entry, dict) else None for entry in entries]
    return [name for name in names if isinstance(name, str)] if all(isinstance(n, str) for n in names) else None
