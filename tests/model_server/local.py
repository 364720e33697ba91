"""What the four usual model servers of one's own machine answer beside chats, and what they refuse, in their words.

Comes in: which server is played, a request and the names of its models. Goes out: status, headers and body, or None for
a request that the fake model server answers as ever. An unknown address is answered as the server does it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

HEADERS = {"llama.cpp": {"server": "llama.cpp"}, "vLLM": {"server": "uvicorn"}}
_JSON = "application/json"


def answer(kind: str, method: str, path: str, body: Any, models: Sequence[str]) -> tuple[int, str, bytes] | None:
    """The answer of a server of that kind; None where a model is asked, and allowed to."""
    if method == "POST":
        return _refused(kind, path, body, models)
    value = {"/v1/models": lambda: _models(kind, models), **_OWN[kind](models)}.get(path)
    if value is not None:
        return 200, _JSON, json.dumps(value()).encode()
    return _UNKNOWN[kind](method, path)


def _models(kind: str, models: Sequence[str]) -> Mapping[str, Any]:
    owner = {"llama.cpp": "llamacpp", "vLLM": "vllm", "Ollama": "library", "LM Studio": "organization_owner"}[kind]
    data = [{"id": name, "object": "model", "created": 1_700_000_000, "owned_by": owner} for name in models]
    for each in data:
        if kind == "llama.cpp":
            each["meta"] = {"n_ctx": 8192, "n_ctx_train": 16384, "n_vocab": 266}
        if kind == "vLLM":
            each |= {"root": each["id"], "parent": None, "max_model_len": 32768, "permission": []}
    return {"object": "list", "data": data or (None if kind == "Ollama" else [])}


def _llama_cpp(models: Sequence[str]) -> Mapping[str, Any]:
    return {
        "/health": lambda: {"status": "ok"},
        "/props": lambda: {"default_generation_settings": {"n_ctx": 8192}, "model_path": models[0], "total_slots": 4},
    }


def _ollama(models: Sequence[str]) -> Mapping[str, Any]:
    """The last model is loaded; one whose name begins with `embed` makes vectors."""

    def entry(name: str) -> dict[str, Any]:
        details = {"family": "nomic-bert" if name.startswith("embed") else "llama", "format": "gguf"}
        return {"name": name, "model": name, "size": 1, "digest": "d", "details": details}

    return {
        "/api/version": lambda: {"version": "0.12.6"},
        "/api/tags": lambda: {"models": [entry(name) for name in models]},
        "/api/ps": lambda: {"models": [entry(name) | {"context_length": 4096} for name in models[-1:]]},
    }


def _lm_studio(models: Sequence[str]) -> Mapping[str, Any]:
    def entry(name: str) -> dict[str, Any]:
        kind, loaded = "embeddings" if name.startswith("embed") else "llm", name == models[-1]
        made = {"id": name, "object": "model", "type": kind, "state": "loaded" if loaded else "not-loaded"}
        return made | {"max_context_length": 131072} | ({"loaded_context_length": 4096} if loaded else {})

    return {"/api/v0/models": lambda: {"object": "list", "data": [entry(name) for name in models]}}


def _vllm(models: Sequence[str]) -> Mapping[str, Any]:
    return {"/version": lambda: {"version": "0.11.0"}, "/health": dict}


_OWN = {"llama.cpp": _llama_cpp, "Ollama": _ollama, "LM Studio": _lm_studio, "vLLM": _vllm}


def _lm_unknown(method: str, path: str) -> tuple[int, str, bytes]:
    return 200, _JSON, json.dumps({"error": f"Unexpected endpoint or method. ({method} {path})"}).encode()


_NOT_FOUND = {"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}}
_UNKNOWN: Mapping[str, Any] = {
    "llama.cpp": lambda method, path: (404, _JSON, json.dumps(_NOT_FOUND).encode()),
    "Ollama": lambda method, path: (404, "text/plain", b"404 page not found"),
    "LM Studio": _lm_unknown,
    "vLLM": lambda method, path: (404, _JSON, b'{"detail":"Not Found"}'),
}


def _refused(kind: str, path: str, body: Any, models: Sequence[str]) -> tuple[int, str, bytes] | None:
    if path != "/v1/chat/completions":
        return _UNKNOWN[kind]("POST", path) if not path.startswith("/v1/") else None
    given = body.get("model")
    if kind in {"Ollama", "vLLM"} and given not in models:
        words = f"model '{given}' not found" if kind == "Ollama" else f"The model `{given}` does not exist."
        return 404, _JSON, json.dumps({"error": {"message": words, "type": "NotFoundError", "code": 404}}).encode()
    wanted = (body.get("response_format") or {}).get("type")
    if kind == "LM Studio" and wanted == "json_object":
        return 400, _JSON, json.dumps({"error": "'response_format.type' must be 'json_schema' or 'text'"}).encode()
    return None
