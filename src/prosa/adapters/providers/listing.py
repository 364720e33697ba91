"""The models that a service offers to a key: its own list, read in the way of its protocol. Only when the user asks.

In: the protocol, the endpoint with its key. Out: the models with the context window where the service says it, or a
`ProviderError`. No text of the user is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.providers.asking import asking
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem
from prosa.adapters.providers.gemini import refusal
from prosa.adapters.providers.wire import NoCount, are_objects, count, decode, optional_text
from prosa.data import Value
from prosa.settings.model import Protocol

TIMEOUT = 20.0
MAX_PAGES = 50  # of a thousand models each; a longer list is invalid


class Listed(Struct, frozen=True):
    """A model of a service, and the tokens of its context window where the service says so."""

    name: str
    context: int | None = None


def _no_more(page: Mapping[str, Value]) -> str:
    del page
    return ""


def _as_it_is(problem: StatusProblem) -> StatusProblem:
    return problem


class _Way(Struct, frozen=True):
    """How a protocol lists: the query of a first page, its headers, the models of a page, the query of the next one,
    and what a refusal means."""

    query: str
    headers: Callable[[str], dict[str, str]]
    models: Callable[[Mapping[str, Value]], list[Listed] | None]
    after: Callable[[Mapping[str, Value]], str] = _no_more
    understood: Callable[[StatusProblem], StatusProblem] = _as_it_is


async def list_models(protocol: Protocol, endpoint: Endpoint) -> tuple[Listed, ...]:
    """Return the models of a service, in its own order. Raises `ProviderError`; its text never contains the key."""
    way = _WAYS[protocol]
    async with asking(endpoint, timeout=TIMEOUT, model_name="—"):
        return tuple(await _pages(way, endpoint))


async def _pages(way: _Way, endpoint: Endpoint) -> list[Listed]:
    from prosa.adapters.providers.transport import client_of, endpoint_url, exchange_problem, plain_headers, times

    own = way.headers(endpoint.api_key) if endpoint.api_key else {}
    all_models: list[Listed] = []
    query = way.query
    async with client_of(endpoint) as client:
        for _ in range(MAX_PAGES):
            url = endpoint_url(endpoint.base_url, "/models")
            asked = client.build_request(
                "GET",
                f"{url}{'&' if '?' in url else '?'}{query}" if query else url,
                headers={**plain_headers(), **endpoint.headers, **own},
                timeout=times(TIMEOUT, TIMEOUT),
            )
            try:
                answer = await client.send(asked)
            except Exception as problem:
                raise exchange_problem(problem) from None
            if not answer.is_success:
                raise way.understood(StatusProblem(answer.status_code, answer.headers, answer.text))
            page = decode(answer.content)
            models = way.models(page)
            if models is None:
                raise ExchangeProblem("sent no list of models", hint="check the base URL")
            all_models += models
            query = way.after(page)
            if not query:
                return all_models
    raise ExchangeProblem("sent a list of models that does not end")


def _openai(page: Mapping[str, Value]) -> list[Listed] | None:
    return _named(page.get("data"), "id", "context_length", "context_window", "max_model_len")


def _anthropic(page: Mapping[str, Value]) -> list[Listed] | None:
    return _named(page.get("data"), "id", "max_input_tokens")


def _google(page: Mapping[str, Value]) -> list[Listed] | None:
    """Return those that answer messages; the list has what makes vectors and pictures too."""
    entries = page.get("models", [])
    if not isinstance(entries, list):
        return None
    answering: list[Value] = [entry for entry in entries if isinstance(entry, Mapping) and _answers(entry)]
    models = _named(answering, "name", "inputTokenLimit")
    return models and [replace(listed, name=listed.name.removeprefix("models/")) for listed in models]


def _answers(entry: Mapping[str, Value]) -> bool:
    methods = entry.get("supportedGenerationMethods")
    return isinstance(methods, list) and "generateContent" in methods


def _named(entries: Value, name: str, *contexts: str) -> list[Listed] | None:
    if not are_objects(entries):
        return None
    pairs = [(optional_text(entry.get(name)), [_size(entry, context) for context in contexts]) for entry in entries]
    return [Listed(known, next(filter(None, sizes), None)) for known, sizes in pairs if known is not None]


def _size(entry: Mapping[str, Value], name: str) -> int:
    try:
        return count(entry.get(name))
    except NoCount:
        return 0


def _next_anthropic(page: Mapping[str, Value]) -> str:
    last = optional_text(page.get("last_id"))
    return f"limit=1000&after_id={_quoted(last)}" if page.get("has_more") is True and last else ""


def _next_google(page: Mapping[str, Value]) -> str:
    token = optional_text(page.get("nextPageToken"))
    return f"pageSize=1000&pageToken={_quoted(token)}" if token else ""


def _quoted(text: str) -> str:
    return quote(text, safe="")


_WAYS: Mapping[Protocol, _Way] = {
    "openai": _Way("", lambda key: {"Authorization": f"Bearer {key}"}, _openai),
    "anthropic": _Way(
        "limit=1000",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        _anthropic,
        _next_anthropic,
    ),
    "google": _Way("pageSize=1000", lambda key: {"x-goog-api-key": key}, _google, _next_google, refusal),
}
