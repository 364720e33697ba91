"""The settings: the table of every key (`docs/settings.md` shows the same lines), and `Settings`, the value that
`prosa.settings.read` makes of a file."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value

if TYPE_CHECKING:
    from datetime import date, time

Level: TypeAlias = Literal["user", "project"]
Path: TypeAlias = tuple[str, ...]

Raw: TypeAlias = "str | bool | int | float | Decimal | date | time | list[Raw] | dict[str, Raw]"
"""What TOML holds, numbers with a fraction as `Decimal`."""

SettingValue: TypeAlias = "str | bool | int | float | Decimal | tuple[str, ...] | list[Raw]"
"""The value of a setting that passed its check."""

USER_FILE = "settings.toml"
"""In the user's configuration folder."""

PROJECT_FILE = "prosa.toml"
"""In the root of a project; `[tool.prosa]` of a `pyproject.toml` has the same settings."""

PYPROJECT_FILE = "pyproject.toml"

SIGNALS = ("search", "ai-input", "ai-train")
"""The uses that a content signal speaks of."""

PROJECT_FILES = (PROJECT_FILE, PYPROJECT_FILE)
"""Where project settings are looked up; the first existing file counts."""


SET_VARIABLE = "PROSA_SET"
"""The environment variable with settings for this call, `KEY=VALUE` on each line; `--set` adds to it."""


class Given(Struct, frozen=True):
    """Values for one call, of the user's level and of the project's, by path; a later one replaces an earlier one."""

    user: Mapping[Path, SettingValue] = {}
    project: Mapping[Path, SettingValue] = {}


def is_about_prosa(name: str, text: str) -> bool:
    """Return whether a file of that name holds only settings of Prosa: a `pyproject.toml` may have none."""
    return name != PYPROJECT_FILE or "tool.prosa" in text


class Setting(Struct, frozen=True):
    """One line of the table. ``key`` is dotted, ``*`` stands for a name the writer chooses; ``kind`` names a check."""

    key: str
    level: Level
    kind: str
    default: str
    doc: str

    @property
    def path(self) -> Path:
        """The key in parts."""
        return tuple(self.key.split("."))


SETTINGS: tuple[Setting, ...] = (
    Setting("base-url", "user", "url", "none", "base URL of the model service"),
    Setting("api", "user", "api", "`chat`", "wire format: `chat` (Chat Completions) or `responses`"),
    Setting("default-model", "user", "text", "`gpt-4o`", "model for programs that name none"),
    Setting("embedding-model", "user", "text", "none", "model for vectors: its name at the service, or `local`"),
    Setting("embedding-base-url", "user", "url", "as `base-url`", "base URL of the service that makes vectors"),
    Setting("endpoints.*.api-key-env", "user", "variable", "none", "variable with the key for that base URL"),
    Setting("providers.*.base-url", "user", "url", "its own", "base URL of the provider of that name"),
    Setting("providers.*.api-key-env", "user", "variable", "its own", "variable with the key of that provider"),
    Setting("providers.*.protocol", "user", "protocol", "its own, else `openai`", "wire protocol of the service"),
    Setting("sites.*.token-env", "user", "variable", "none", "variable with the token for the site of that origin"),
    Setting(
        "servers.*.token-env", "user", "variable", "none", "variable with the token for MCP servers of that origin"
    ),
    Setting("servers.*.header-env.*", "user", "variable", "none", "variable with the value of that header, sent there"),
    Setting(
        "servers.*.client-id", "user", "text", "registered at the login", "client that `prosa login` is at that server"
    ),
    Setting("servers.*.client-secret-env", "user", "variable", "none", "variable with the secret of that client"),
    Setting("limits.iterations", "user", "count", "10", "model calls of one program"),
    Setting("limits.wall-clock", "user", "seconds", "600", "seconds a run may take"),
    Setting("limits.retries", "user", "whole", "10", "further attempts of a model call after a transient error"),
    Setting("limits.tool-result", "user", "count", "262144", "bytes of a tool result that reach the model"),
    Setting("limits.concurrency", "user", "count", "8", "tool calls that run at the same time"),
    Setting("limits.tool-calls", "user", "count", "32", "tool calls of one reply"),
    Setting("limits.output-tokens", "user", "count", "none", "tokens that one model call may write"),
    Setting("limits.max-size", "user", "count", "10485760", "bytes of a document"),
    Setting("limits.python-timeout", "user", "seconds", "30", "seconds of a `python` call"),
    Setting("limits.python-memory", "user", "mebibytes", "128", "MiB of a `python` call"),
    Setting("prices.*.input", "user", "price", "known prices", "US dollars per million input tokens of that model"),
    Setting("prices.*.output", "user", "price", "known prices", "US dollars per million output tokens"),
    Setting("prices.*.cached-input", "user", "price", "as `input`", "US dollars per million cached input tokens"),
    Setting("models.*.context", "user", "count", "known windows", "tokens of the context window of that model"),
    Setting("models.*.max-output", "user", "count", "none", "tokens that the model writes in one call at most"),
    Setting("models.*.tokenizer", "user", "text", "by its name", "tokenizer of that model, for `prosa plan`"),
    Setting("models.*.provider", "user", "text", "none", "service that this model always uses"),
    Setting("models.*.file", "user", "text", "none", "GGUF file of that model, where its provider is `embedded`"),
    Setting("models.*.temperature", "user", "amount", "the model's own", "sampling temperature"),
    Setting(
        "models.*.top-p", "user", "amount", "the model's own", "nucleus sampling: the share of probability that counts"
    ),
    Setting("models.*.seed", "user", "whole", "the model's own", "random seed of its answers"),
    Setting("history", "user", "history", "`summary`", "what is stored after a run: `off`, `summary`, `full`"),
    Setting(
        "store", "user", "store", "a file of yours", "file or `postgresql://` address of the store of runs and batches"
    ),
    Setting("otel", "user", "url", "none", "OTLP address that spans and metrics of runs are sent to"),
    Setting(
        "documentation", "user", "url", "none", "where the documentation is published, for links to pages of rules"
    ),
    Setting("history-days", "user", "count", "30", "days that runs are kept"),
    Setting("history-size", "user", "mebibytes", "256", "MiB that all runs may take; the oldest go first"),
    Setting("model", "project", "text", "none", "model for programs of this project that name none"),
    Setting("strict", "project", "flag", "`false`", "tolerated forms are errors"),
    Setting("select", "project", "texts", "all", "rules that are checked"),
    Setting("ignore", "project", "texts", "none", "rules that are not checked"),
    Setting("tests", "project", "texts", "all", "globs of the test documents that `prosa test` finds in folders"),
    Setting("dialects.*", "project", "text", "detected", "dialect of the documents that the glob matches"),
    Setting(
        "relations.*", "project", "text", "none", "type of relationship that this field of front matter stands for"
    ),
    Setting(
        "schemas.*", "project", "text", "none", "JSON Schema of the front matter of documents that the glob matches"
    ),
    Setting("site.name", "project", "text", "its first page", "name of the site of this project"),
    Setting("site.nav", "project", "nav", "none", "pages of the site in the order in which they are read"),
    Setting("site.exclude", "project", "texts", "none", "globs of files that are not part of the site"),
    Setting(
        "site.content-signal", "project", "signal", "none", "permitted uses of the content: `search=yes, ai-train=no`"
    ),
    Setting("site.mcp", "project", "url", "none", "address of an MCP server over the same documents, for its card"),
    Setting("per-glob.*.strict", "project", "flag", "`false`", "as `strict`, for the documents that the glob matches"),
    Setting("per-glob.*.select", "project", "texts", "none", "further rules for these documents"),
    Setting("per-glob.*.ignore", "project", "texts", "none", "rules that are not checked in these documents"),
)

# X7: what a file in a tree can never choose, and what allows it instead.
_BY_USER = "set it in your own settings (see docs/settings.md)"
_TRUST = "if you trust it, run: prosa trust PATH"
REFUSED: Mapping[str, str] = {
    **{setting.path[0]: _BY_USER for setting in SETTINGS if setting.level == "user"},
    "base-url": "give it yourself: prosa run --base-url URL, or set it in your own settings",
    "api": "give it yourself: prosa run --api NAME, or set it in your own settings",
    "api-key": "set OPENAI_API_KEY, or name a variable in your own settings",
    "api-key-env": "set OPENAI_API_KEY, or name a variable in your own settings",
    "key": "set OPENAI_API_KEY, or name a variable in your own settings",
    "responder": _BY_USER,
    **dict.fromkeys(("plugins", "tools", "mcp", "mcp-servers", "permissions", "trust"), _TRUST),
}


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
    values of headers, by their names; and the client that a login uses there."""

    token_env: str | None = None
    header_env: Mapping[str, str] = field(default_factory=dict)
    client_id: str | None = None
    client_secret_env: str | None = None


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
    site_content_signal: str | None = None
    site_mcp: str | None = None

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
    names += ("site_name", "site_nav", "site_exclude", "site_content_signal", "site_mcp")
    return replace(user, **{name: getattr(project, name) for name in names})
