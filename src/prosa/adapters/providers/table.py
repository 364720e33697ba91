"""The providers that a document may name (M28, X7): name, other names, address, variable with the key, parameters.

In: a name as somebody wrote it, and what the user set. Out: a row, or None. A document picks a name from this table and
never an address or a key. All of them are asked in the OpenAI wire format, which each of these services offers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.providers.key import KEY_VARIABLE
from prosa.data import Value
from prosa.runtime.parameters import squashed
from prosa.settings.model import ProviderSettings

LOCAL_NAME = "local"

_CHAT = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "user", "metadata", "store"),
    *("frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "top_logprobs", "reasoning_effort"),
    *("verbosity", "service_tier", "parallel_tool_calls", "prediction", "modalities", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention", "n"),
)
_OPEN = ("top_k", "min_p", "repetition_penalty", "repeat_penalty", "num_ctx", "mirostat", "typical_p")
_OTHER_NAMES = {"maxoutputtokens": "max_tokens", "stopsequences": "stop", "randomseed": "seed"}
_RESPONSES = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}


class ProviderRow(Struct, frozen=True):
    """One provider. ``base_url`` None is OpenAI's own address, or what stands in its place (`OPENAI_BASE_URL`).

    ``key_variables`` are tried in this order; none means that no key is sent. ``parameters`` are the names that the
    service knows.
    """

    name: str
    aliases: tuple[str, ...] = ()
    base_url: str | None = None
    key_variables: tuple[str, ...] = ()
    parameters: tuple[str, ...] = _CHAT


PROVIDERS: tuple[ProviderRow, ...] = (
    ProviderRow("openai", ("open-ai", "chatgpt"), None, (KEY_VARIABLE,)),
    ProviderRow(
        "anthropic",
        ("claude",),
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
        (*_CHAT, "top_k", "thinking"),
    ),
    ProviderRow(
        "google",
        ("gemini", "google-ai", "google-genai"),
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        (*_CHAT, "top_k", "safety_settings"),
    ),
    ProviderRow(LOCAL_NAME, ("local-llm", "localhost", "ollama", "lm-studio", "llama-cpp"), None, (), (*_CHAT, *_OPEN)),
)


def provider_row(name: str, own: Mapping[str, ProviderSettings]) -> ProviderRow | None:
    """The provider of that name, case and hyphens aside, with what the user set for it; None for one nobody knows."""
    wanted = squashed(name)
    known = next((row for row in PROVIDERS if wanted in map(squashed, (row.name, *row.aliases))), None)
    named = next((each for key, each in own.items() if squashed(key) in _names(known, wanted)), None)
    if named is None:
        return known
    if known is None and named.base_url is None:
        return None
    row = known or ProviderRow(name.lower(), parameters=(*_CHAT, *_OPEN))
    variables = (named.api_key_env,) if named.api_key_env else () if named.base_url else row.key_variables
    return replace(row, base_url=named.base_url or row.base_url, key_variables=variables)


def provider_names(own: Mapping[str, ProviderSettings]) -> tuple[str, ...]:
    """Every name that works."""
    return (*(row.name for row in PROVIDERS), *(name for name, each in own.items() if each.base_url))


def _names(known: ProviderRow | None, wanted: str) -> set[str]:
    return {wanted} if known is None else {wanted, squashed(known.name)}


class Mapped(Struct, frozen=True):
    """Parameters as they are sent, and which names were changed, as written and as sent (MA10).

    ``double`` are names that mean what another one says already.
    """

    sent: Mapping[str, Value] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    double: tuple[str, ...] = ()


def mapped(parameters: Mapping[str, Value], row: ProviderRow | None, api: Literal["chat", "responses"]) -> Mapped:
    """Parameters under the names that the provider knows (MA10): `max-tokens` and `maxTokens` become `max_tokens`.

    Values pass verbatim, and so do names that the table does not know. The Responses wire has its own names for some.
    """
    known = {squashed(name): name for name in (row.parameters if row else _CHAT)} | _OTHER_NAMES
    sent: dict[str, Value] = {}
    renamed: dict[str, str] = {}
    double: list[str] = []
    for name, value in parameters.items():
        made = known.get(squashed(name), name)
        made, value = _for_responses(made, value) if api == "responses" else (made, value)
        if made in sent:
            double.append(name)
            continue
        sent[made] = value
        if made != name:
            renamed[name] = made
    return Mapped(sent, renamed, tuple(double))


def _for_responses(name: str, value: Value) -> tuple[str, Value]:
    if name == "reasoning_effort":
        return "reasoning", {"effort": value}
    if name == "verbosity":
        return "text", {"verbosity": value}
    return _RESPONSES.get(name, name), value
