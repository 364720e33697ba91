"""Who answers: a script, a local server or a service, as the user chose, and which key goes there (X7, X16, X17).

In: choices, environment and settings. Out: a provider, or the three ways on. No document has a say in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prosa.app.choices import LOCAL, Choices, Surroundings, say_nothing
from prosa.runtime.errors import ProviderError

if TYPE_CHECKING:
    from prosa.runtime.ports import Provider

THREE_WAYS = (
    "Three ways on:\n"
    "- a key: set OPENAI_API_KEY\n"
    "- another server: --base-url URL, or a model server on this machine: --model local\n"
    "- fixed replies, without any model: --model scripted:FILE"
)
"""X17: what to do without key and base URL."""

QUESTION = "There is no key and no base URL. Look for a model server on this machine?"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A provider, and the model name it brings where the user left that open (``--model local``)."""

    provider: Provider
    model_name: str | None = None


@dataclass(frozen=True, slots=True)
class _Service:
    """A base URL (None: the service's own address) and the key for it."""

    base_url: str | None
    key: str | None

    @property
    def is_missing(self) -> bool:
        return self.key is None and self.base_url is None


def settle(choices: Choices, around: Surroundings) -> Choices:
    """The choices after asking what only a person can decide: whether a local model server may be used (X17).

    It is asked before a run begins, so that Ctrl-C works at the question.
    """
    if around.ask is None or choices.script is not None or choices.is_local:
        return choices
    if not _service(choices, replace(around, notice=say_nothing)).is_missing or not around.ask(QUESTION):
        return choices
    return replace(choices, model=f"{LOCAL}:{choices.model}" if choices.model else LOCAL)


async def choose_provider(choices: Choices, around: Surroundings) -> Chosen:
    """The provider the user chose. Raises `ProviderError`, with the three ways on when there is none."""
    if choices.script is not None:
        from prosa.adapters.providers.scripted import ScriptedProvider

        return Chosen(ScriptedProvider(choices.script))
    if choices.is_local:
        return await _local(choices, around)
    service = _service(choices, around)
    if service.is_missing:
        message = "no model to ask: there is no key and no base URL"
        raise ProviderError(message, kind="missing", retryable=False, hint=THREE_WAYS)
    return Chosen(_openai(service, choices, around))


def service_words(choices: Choices, around: Surroundings) -> str:
    """Where model calls go, for a plan. Looks nowhere and never names a key."""
    if choices.script is not None:
        return f"replies scripted in {choices.script}"
    if choices.is_local:
        return "a model server on this machine"
    service = _service(choices, around)
    if service.is_missing:
        return "no key and no base URL: a run would fail"
    from prosa.adapters.providers.failures import DEFAULT_BASE_URL, Endpoint

    shown = Endpoint(service.base_url or DEFAULT_BASE_URL, service.key).shown
    return f"{shown}, {'with' if service.key else 'without'} a key"


async def _local(choices: Choices, around: Surroundings) -> Chosen:
    from prosa.adapters.providers.local import find_local

    server = await find_local(choices.local_name)
    return Chosen(_openai(_Service(server.base_url, None), choices, around), server.model_name)


def _openai(service: _Service, choices: Choices, around: Surroundings) -> Provider:
    from prosa.adapters.providers.openai import OpenAIProvider

    api = choices.api or around.settings.api or "chat"
    return OpenAIProvider(api_key=service.key, base_url=service.base_url, api=api)


def _service(choices: Choices, around: Surroundings) -> _Service:
    """What flags, environment and user settings name, in this order. Raises `ProviderError` for a key that is none."""
    from prosa.adapters.providers.failures import DEFAULT_BASE_URL
    from prosa.adapters.providers.key import URL_VARIABLE, choose_key

    settings = around.settings
    base_url = choices.base_url or around.environ.get(URL_VARIABLE, "").strip() or settings.base_url
    if choices.api_key:
        return _Service(base_url, choices.api_key)
    named = choices.api_key_env or settings.key_variables.get((base_url or DEFAULT_BASE_URL).rstrip("/"))
    return _Service(base_url, choose_key(around.environ, base_url, named=named, notice=around.notice))
