"""What can be set, as one value. `prosa.settings.read` makes it; the composition root and the rules use it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value

Protocol: TypeAlias = Literal["openai", "anthropic", "google"]
"""What a service speaks: Chat Completions or Responses, Messages of Anthropic, or generateContent of Google."""

DOCUMENTATION = ""
"""The address below which `docs/` is published; empty while it is not."""

PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)


class Price(Struct, frozen=True):
    """US dollars per million tokens; ``cached_input`` None costs as much as input."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None


class ModelSettings(Struct, frozen=True):
    """What the user knows of a model: the tokens of its context window, the most that it writes in one call, the name
    of its tokenizer, the provider that answers for it (X7), the GGUF file of an embedded one (X35), and how its answers
    are sampled."""

    context: int | None = None
    max_output: int | None = None
    tokenizer: str | None = None
    provider: str | None = None
    file: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None

    @property
    def sampling(self) -> dict[str, Value]:
        """The sampling parameters for documents that set none."""
        asked = {"temperature": self.temperature, "top_p": self.top_p, "seed": self.seed}
        return {name: value for name, value in asked.items() if value is not None}


class GlobSettings(Struct, frozen=True):
    """Settings for the documents that a glob matches, in addition to those for all. None leaves a setting unchanged."""

    glob: str
    strict: bool | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class ProviderSettings(Struct, frozen=True):
    """What the user set for a provider: its address, the variable with its key (X7), and its protocol."""

    base_url: str | None = None
    api_key_env: str | None = None
    protocol: Protocol | None = None


class ServerSettings(Struct, frozen=True):
    """The variables with what the user lets be sent to the MCP servers of an origin (X18): a bearer token, and the
    values of headers, by their names."""

    token_env: str | None = None
    header_env: Mapping[str, str] = field(default_factory=dict)


class Settings(Struct, frozen=True):
    """Everything that can be set. None and empty mean: not set, the built-in default applies.

    From the user: endpoint, limits of every run, prices and facts of models, what is kept of runs and where traces of
    them go. Times are seconds and sizes bytes. ``key_variables`` maps a base URL without a final `/` to the
    environment variable with its key, ``site_variables`` the origin of a site, as written, to the one with its token
    (X8); ``servers`` has the same for MCP servers. From the project: model name, dialects by glob in their order,
    rules; ``tests`` are globs of test documents, ``relations`` are fields of front matter with the type of
    relationship, ``schemas`` are globs with a path below the root of the project; ``site_nav`` is kept as written.
    """

    base_url: str | None = None
    api: Literal["chat", "responses"] | None = None
    default_model: str | None = None
    embedding_model: str | None = None
    embedding_base_url: str | None = None
    key_variables: Mapping[str, str] = field(default_factory=dict)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    site_variables: Mapping[str, str] = field(default_factory=dict)
    servers: Mapping[str, ServerSettings] = field(default_factory=dict)
    iterations: int | None = None
    wall_clock: float | None = None
    retries: int | None = None
    tool_result: int | None = None
    concurrency: int | None = None
    tool_calls: int | None = None
    output_tokens: int | None = None
    max_size: int | None = None
    python_timeout: float | None = None
    python_memory: int | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    documentation: str | None = None
    history: Literal["off", "summary", "full"] | None = None
    history_days: int | None = None
    history_size: int | None = None
    store: str | None = None
    otel: str | None = None
    model: str | None = None
    strict: bool | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    dialects: tuple[tuple[str, str], ...] = ()
    per_glob: tuple[GlobSettings, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
    schemas: tuple[tuple[str, str], ...] = ()
    site_name: str | None = None
    site_nav: Value = None
    site_exclude: tuple[str, ...] = ()

    @property
    def model_name(self) -> str | None:
        """The model for programs that name none: the project's choice, else the user's."""
        return self.model or self.default_model


def merge(user: Settings, project: Settings) -> Settings:
    """Return both together: they share no setting, so neither can overrule the other."""
    names: tuple[str, ...] = (
        "model",
        "strict",
        "select",
        "ignore",
        "tests",
        "dialects",
        "per_glob",
        "relations",
        "schemas",
    )
    names += ("site_name", "site_nav", "site_exclude")
    return replace(user, **{name: getattr(project, name) for name in names})
