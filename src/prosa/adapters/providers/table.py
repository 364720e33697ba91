"""The table of services (M28): one row of facts for each. A document picks a name from it and never an address or a
key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.providers.endpoint import KEY_VARIABLE, URL_VARIABLE
from prosa.data import Value
from prosa.runtime.parameters import squashed
from prosa.settings.model import Protocol, ProviderSettings

LOCAL_OUTPUT = 4_096
"""Tokens of an answer of a model on this machine where neither the user nor the program sets a limit (X9): a small one
repeats itself up to any bound."""

LOCAL_NAME = "local"
EMBEDDED_NAME = "embedded"

_CHAT = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "user", "metadata", "store"),
    *("frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "top_logprobs", "reasoning_effort"),
    *("verbosity", "service_tier", "parallel_tool_calls", "prediction", "modalities", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention", "n"),
)
_OPEN = ("top_k", "min_p", "repetition_penalty", "repeat_penalty", "num_ctx", "mirostat", "typical_p")
_MESSAGES = (
    *("temperature", "top_p", "top_k", "max_tokens", "stop_sequences", "metadata", "service_tier", "thinking"),
    *("output_config", "cache_control", "inference_geo", "speed", "parallel_tool_calls", "reasoning_effort"),
)
_GENERATE = (
    *("temperature", "top_p", "top_k", "max_output_tokens", "stop_sequences", "seed", "candidate_count", "logprobs"),
    *("presence_penalty", "frequency_penalty", "response_logprobs", "thinking_config", "safety_settings", "store"),
    *("media_resolution", "service_tier", "labels", "reasoning_effort"),
)
_NAMES: Mapping[Protocol, tuple[str, ...]] = {"openai": _CHAT, "anthropic": _MESSAGES, "google": _GENERATE}
_OTHER_NAMES: Mapping[Protocol, Mapping[str, str]] = {
    "openai": {"maxoutputtokens": "max_tokens", "stopsequences": "stop", "randomseed": "seed"},
    "anthropic": {
        "maxoutputtokens": "max_tokens",
        "maxcompletiontokens": "max_tokens",
        "stop": "stop_sequences",
        "effort": "reasoning_effort",
    },
    "google": {
        **dict.fromkeys(("maxtokens", "maxcompletiontokens"), "max_output_tokens"),
        "stop": "stop_sequences",
        "randomseed": "seed",
        "n": "candidate_count",
        "effort": "reasoning_effort",
    },
}
_RESPONSES = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}


class ServerAddress(Struct, frozen=True):
    """Where a model server may be: what is expected there, and its base URL."""

    expected: str
    base_url: str


class ProviderRow(Struct, frozen=True):
    """One service. ``base_url`` None is OpenAI's own address, or what stands in its place (`OPENAI_BASE_URL`).

    ``key_variables`` are tried in this order; none means that no key is sent. ``url_variable`` is the variable of the
    user that names another address for the same key. ``parameters`` are the names that the service knows, ``docs`` is
    the reference of its interface. ``tried`` says what this row was tested against; empty: only our own fakes.
    ``title`` is what people call it, where that is not its name. ``port`` is the default port of a server on this
    machine, ``address_variable`` the variable that overrides its address.
    """

    name: str
    aliases: tuple[str, ...] = ()
    base_url: str | None = None
    key_variables: tuple[str, ...] = ()
    parameters: tuple[str, ...] = _CHAT
    protocol: Protocol = "openai"
    url_variable: str | None = None
    docs: str = ""
    tried: str = ""
    title: str = ""
    port: int | None = None
    address_variable: str | None = None

    @property
    def is_embedded(self) -> bool:
        """Whether it is the engine of our own, which runs only when the user says so (X35). Its ``base_url`` is then
        what the user means: a name of the table of weights, or `gguf:PATH`."""
        return self.name == EMBEDDED_NAME

    @property
    def key(self) -> str:
        """What tells services apart that are asked over connections of their own."""
        return f"{self.name} {self.base_url}" if self.is_embedded else self.name

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, and asked only when the user says so (X17, X35)."""
        return self.name in (LOCAL_NAME, EMBEDDED_NAME) or self.port is not None


PROVIDERS: tuple[ProviderRow, ...] = (
    ProviderRow(
        "openai",
        ("open-ai", "chatgpt"),
        None,
        (KEY_VARIABLE,),
        url_variable=URL_VARIABLE,
        docs="https://platform.openai.com/docs/api-reference",
        tried="the compatible servers llama.cpp and llama-cpp-python",
    ),
    ProviderRow(
        "anthropic",
        ("claude",),
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
        _MESSAGES,
        "anthropic",
        "ANTHROPIC_BASE_URL",
        docs="https://docs.anthropic.com/en/api/messages",
        tried="llama.cpp, which answers the same protocol",
    ),
    ProviderRow(
        "google",
        ("gemini", "google-ai", "google-genai"),
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        _GENERATE,
        protocol="google",
        url_variable="GOOGLE_GEMINI_BASE_URL",
        docs="https://ai.google.dev/api",
    ),
    ProviderRow(LOCAL_NAME, ("local-llm", "localhost"), None, (), (*_CHAT, *_OPEN), tried="llama.cpp"),
    ProviderRow(EMBEDDED_NAME, (), None, (), (*_CHAT, *_OPEN), tried="xllamacpp"),
    ProviderRow(
        "ollama",
        parameters=(*_CHAT, *_OPEN),
        title="Ollama",
        docs="https://docs.ollama.com/api",
        port=11434,
        address_variable="OLLAMA_HOST",
    ),
    ProviderRow(
        "llama-cpp",
        ("llama.cpp",),
        parameters=(*_CHAT, *_OPEN),
        title="llama.cpp",
        docs="https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
        tried="the server itself",
        port=8080,
        address_variable="LLAMA_ARG_PORT",
    ),
    ProviderRow(
        "lm-studio",
        parameters=(*_CHAT, *_OPEN),
        title="LM Studio",
        docs="https://lmstudio.ai/docs/developer/openai-compat",
        port=1234,
    ),
    ProviderRow(
        "vllm", parameters=(*_CHAT, *_OPEN), title="vLLM", docs="https://docs.vllm.ai/en/latest/serving", port=8000
    ),
    ProviderRow(
        "openrouter",
        ("open-router",),
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        (*_CHAT, *_OPEN),
        docs="https://openrouter.ai/docs",
    ),
    ProviderRow(
        "mistral",
        ("mistralai",),
        "https://api.mistral.ai/v1",
        ("MISTRAL_API_KEY",),
        docs="https://docs.mistral.ai/api",
    ),
    ProviderRow(
        "deepseek",
        (),
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        docs="https://api-docs.deepseek.com",
    ),
    ProviderRow("groq", (), "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), docs="https://console.groq.com/docs"),
    ProviderRow("xai", ("x-ai", "grok"), "https://api.x.ai/v1", ("XAI_API_KEY",), docs="https://docs.x.ai/docs"),
)


def provider_row(name: str, own: Mapping[str, ProviderSettings]) -> ProviderRow | None:
    """Return the provider of that name, case and hyphens aside, with the user's settings for it; None for an unknown
    one."""
    wanted = squashed(name)
    known = next((row for row in PROVIDERS if wanted in map(squashed, (row.name, *row.aliases))), None)
    named = next((settings for key, settings in own.items() if squashed(key) in _names(known, wanted)), None)
    if named is None:
        return known
    if known is None and named.base_url is None:
        return None
    row = known or ProviderRow(name.lower(), parameters=(*_CHAT, *_OPEN))
    variables = (named.api_key_env,) if named.api_key_env else () if named.base_url else row.key_variables
    protocol = named.protocol or row.protocol
    return replace(
        row,
        base_url=named.base_url or row.base_url,
        key_variables=variables,
        protocol=protocol,
        parameters=row.parameters if protocol == row.protocol else _NAMES[protocol],
        url_variable=None if named.base_url else row.url_variable,
    )


def provider_names(own: Mapping[str, ProviderSettings]) -> tuple[str, ...]:
    """Return every name that works."""
    return (*(row.name for row in PROVIDERS), *(name for name, settings in own.items() if settings.base_url))


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
    protocol: Protocol = row.protocol if row else "openai"
    known = {**_OTHER_NAMES[protocol], **{squashed(name): name for name in (row.parameters if row else _CHAT)}}
    sent: dict[str, Value] = {}
    renamed: dict[str, str] = {}
    double: list[str] = []
    for name, value in parameters.items():
        made = known.get(squashed(name), name)
        made, value = _for_responses(made, value) if api == "responses" and protocol == "openai" else (made, value)
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
