"""Model servers on this machine (X17): found only when the user asks, and known by what they themselves answer.

What comes in: places to look at, a model name or None. What goes out: which server answers at each place, and its
models. A place counts only when `GET /v1/models` answers as a model server does; which one it is, and more about its
models, say its own endpoints, which are read after that. Nothing but these requests without content is ever sent.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Mapping, Sequence
from http.client import HTTPException, HTTPResponse
from ssl import create_default_context
from typing import TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.providers.table import ServerAddress
from prosa.data import Plain, Value
from prosa.runtime.errors import ProviderError

PROBE_SECONDS = 1.0  # for one request in all; a server on this machine answers in milliseconds
MAX_LIST_BYTES = 4 * 1024 * 1024  # thousands of models
UNNAMED = "a compatible server"
_ASK = "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"


class LocalModel(Struct, frozen=True):
    """A model of a server. ``context`` is its context window in tokens, None where the server does not say;
    ``is_loaded`` says that it answers at once, ``answers`` that it takes messages at all."""

    name: str
    context: int | None = None
    is_loaded: bool = False
    answers: bool = True


class LocalServer(Struct, frozen=True):
    """A model server. ``kind`` is what it says it is; ``models`` in its own order; ``model_name`` is the one that was
    asked for, empty for none. ``takes_tools`` says whether the template of its one model has tools, None where it does
    not say."""

    base_url: str
    models: tuple[LocalModel, ...]
    model_name: str = ""
    kind: str = UNNAMED
    takes_tools: bool | None = None


class Silent(Struct, frozen=True):
    """A place where no model server answers, and why."""

    place: ServerAddress
    why: str


class _Answer(Struct, frozen=True):
    """The status, the headers under names in lower case, and the JSON of an answer; None for any other body."""

    status: int
    server: str
    value: Value


async def local_servers(
    places: Sequence[ServerAddress], *, timeout: float = PROBE_SECONDS
) -> list[LocalServer | Silent]:
    """Return what answers at each place, in their order; all are asked at once. ``timeout`` is in seconds per
    request."""
    return list(await asyncio.gather(*(_look(place, timeout) for place in places)))


async def find_local(
    name: str | None = None, *, places: Sequence[ServerAddress], timeout: float = PROBE_SECONDS
) -> LocalServer:
    """Return the first server that has the model ``name``; for None the first one that has any, with a model that
    answers, one that is loaded before others.

    A name without a tag also finds `name:latest`, and the name of a file its path. Raises `ProviderError` of kind
    ``missing`` that lists what was tried.
    """
    tried: list[str] = []
    for place, server in zip(places, await local_servers(places, timeout=timeout), strict=True):
        if isinstance(server, Silent):
            tried.append(f"{place.expected} {_where(place)}: {server.why}")
            continue
        chosen = _choose(name, server.models)
        if chosen is not None:
            return replace(server, model_name=chosen)
        tried.append(f"{server.kind} {_where(place)}: {_offers(server.models)}")
    wanted = "no local model server was found" if name is None else f"no local model server offers `{name}`"
    hint = "start one, or name it with --base-url; `--model local:NAME` chooses a model, `prosa models` lists them"
    raise ProviderError(f"{wanted}; tried {'; '.join(tried)}", kind="missing", retryable=False, hint=hint)


def _where(place: ServerAddress) -> str:
    parts = urlsplit(place.base_url)
    return f"on port {parts.port}" if parts.hostname == "127.0.0.1" else f"at {place.base_url}"


def _choose(name: str | None, models: Sequence[LocalModel]) -> str | None:
    if name is None:
        ready = [model for model in models if model.answers] or models
        loaded = [model for model in ready if model.is_loaded] or ready
        return loaded[0].name if loaded else None
    names = [model.name for model in models]
    exact = next((candidate for candidate in names if candidate in (name, f"{name}:latest")), None)
    return exact or next((candidate for candidate in names if candidate.endswith((f"/{name}", f"/{name}.gguf"))), None)


def _offers(models: Sequence[LocalModel]) -> str:
    if not models:
        return "it has no models"
    return f"it has {', '.join(model.name for model in models[:10])}{' …' if len(models) > 10 else ''}"


async def _look(place: ServerAddress, timeout: float) -> LocalServer | Silent:
    """Return the server at a place: the list of its models first, then what it says of itself."""
    listed = await _get(place.base_url, "/models", timeout)
    if isinstance(listed, str):
        return Silent(place, listed)
    entries = _entries(listed)
    if entries is None:
        return Silent(place, "something else listens there")
    server = LocalServer(place.base_url, tuple(LocalModel(name) for name, _ in entries))
    owners = [entry.get("owned_by") for _, entry in entries]
    if listed.server.startswith("llama.cpp") or "llamacpp" in owners:
        return await _llama_cpp(server, entries, timeout)
    if "vllm" in owners:
        return _vllm(server, entries)
    root = place.base_url.removesuffix("/v1")
    return await _ollama(server, root, timeout) or await _lm_studio(server, root, timeout) or server


_Entries: TypeAlias = list[tuple[str, dict[str, Value]]]


def _entries(answer: _Answer) -> _Entries | None:
    """Return the models of a list with their names; None for any other answer."""
    value = answer.value
    if answer.status != 200 or not isinstance(value, dict) or "data" not in value:
        return None
    entries = value["data"] if value["data"] is not None or value.get("object") != "list" else []
    if not isinstance(entries, list):
        return None
    pairs = [(name, entry) for entry in entries if isinstance(entry, dict) and isinstance(name := entry.get("id"), str)]
    return pairs if len(pairs) == len(entries) else None


async def _llama_cpp(server: LocalServer, entries: _Entries, timeout: float) -> LocalServer:
    """llama.cpp has the one model that it was started with, and says the context of it, and whether its template has
    tools; as a router it has several, and says which are loaded."""
    models = [
        LocalModel(name, _whole(entry.get("meta"), "n_ctx"), _state(entry) in ("loaded", "")) for name, entry in entries
    ]
    props = await _facts(server.base_url.removesuffix("/v1"), "/props", timeout) if len(models) == 1 else {}
    caps = props.get("chat_template_caps")
    tools = caps.get("supports_tools") if isinstance(caps, Mapping) else None
    takes = tools if isinstance(tools, bool) else None
    return replace(server, models=tuple(models), kind="llama.cpp", takes_tools=takes)


def _state(entry: Mapping[str, Value]) -> str:
    status = entry.get("status")
    value = status.get("value") if isinstance(status, Mapping) else None
    return value if isinstance(value, str) else ""


def _vllm(server: LocalServer, entries: _Entries) -> LocalServer:
    models = [LocalModel(name, _whole(entry, "max_model_len"), is_loaded=True) for name, entry in entries]
    return replace(server, models=tuple(models), kind="vLLM")


async def _ollama(server: LocalServer, root: str, timeout: float) -> LocalServer | None:
    """Ollama says its version, and which models it has loaded, with the context that they were loaded with."""
    version = await _facts(root, "/api/version", timeout)
    if not isinstance(version.get("version"), str):
        return None
    running, pulled = [await _named(root, path, timeout) for path in ("/api/ps", "/api/tags")]
    models = [
        LocalModel(
            model.name,
            _whole(running.get(model.name), "context_length"),
            model.name in running,
            answers="bert" not in _family(pulled.get(model.name, {})),
        )
        for model in server.models
    ]
    return replace(server, models=tuple(models), kind="Ollama")


async def _named(root: str, path: str, timeout: float) -> dict[str, Mapping[str, Value]]:
    """Return the models of one of Ollama's own lists, by name."""
    listed = (await _facts(root, path, timeout)).get("models")
    entries = [entry for entry in (listed if isinstance(listed, list) else ()) if isinstance(entry, dict)]
    return {name: entry for entry in entries if isinstance(name := entry.get("name"), str)}


def _family(facts: Mapping[str, Value]) -> str:
    details = facts.get("details")
    family = details.get("family") if isinstance(details, Mapping) else None
    return family if isinstance(family, str) else ""


async def _lm_studio(server: LocalServer, root: str, timeout: float) -> LocalServer | None:
    """LM Studio says of each model what it is for and whether it is loaded. It answers 200 to what it does not know."""
    answer = await _get(root, "/api/v0/models", timeout)
    entries = None if isinstance(answer, str) else _entries(answer)
    if entries is None or not all("state" in entry and "type" in entry for _, entry in entries):
        return None
    known = dict(entries)
    models = [
        LocalModel(
            model.name,
            _whole(facts, "loaded_context_length") or _whole(facts, "max_context_length"),
            facts.get("state") == "loaded",
            answers=facts.get("type") != "embeddings",
        )
        for model in server.models
        for facts in [known.get(model.name, {})]
    ]
    return replace(server, models=tuple(models), kind="LM Studio")


async def _facts(root: str, path: str, timeout: float) -> Mapping[str, Value]:
    """Return the object that a server answers with; an empty one for any other answer."""
    answer = await _get(root, path, timeout)
    if isinstance(answer, _Answer) and answer.status == 200 and isinstance(answer.value, dict):
        return answer.value
    return {}


def _whole(value: Plain, name: str) -> int | None:
    number = value.get(name) if isinstance(value, Mapping) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None


async def _get(base_url: str, path: str, timeout: float) -> _Answer | str:
    """Return an answer, or why there is none. The time limit holds for all of it, so that no drip holds us."""
    try:
        async with asyncio.timeout(timeout):
            data = await _fetch(base_url, path)
    except ConnectionRefusedError:
        return "nothing listens"
    except TimeoutError:
        return "no answer in time"
    except OSError as problem:
        return problem.strerror or "no connection"
    except ValueError:
        return "that is not an address"
    return _read(data)


async def _fetch(base_url: str, path: str) -> bytes:
    """Return the raw answer, until its length says that it is whole or the server closes."""
    parts = urlsplit(base_url)
    secure = create_default_context() if parts.scheme == "https" else None
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(parts.hostname or "127.0.0.1", port, ssl=secure)
    data = bytearray()
    try:
        writer.write(_ASK.format(path=f"{parts.path.rstrip('/')}{path}", host=f"{parts.hostname}:{port}").encode())
        while len(data) <= MAX_LIST_BYTES and not _is_all(data):
            chunk = await reader.read(65536)
            if not chunk:
                break
            data += chunk
    finally:
        writer.close()
    return bytes(data[:MAX_LIST_BYTES])


def _is_all(data: bytearray) -> bool:
    """Return whether a `Content-Length` says that all is here."""
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


def _read(data: bytes) -> _Answer:
    """Return what an answer says; status 0 for bytes that are not HTTP."""
    try:
        response = HTTPResponse(_Raw(data))  # type: ignore[arg-type]
        response.begin()
        value = json.loads(response.read())
    except (HTTPException, OSError, ValueError, RecursionError):
        return _Answer(0, "", None)
    return _Answer(response.status, response.headers.get("server", "").lower(), value)
