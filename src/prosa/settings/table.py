"""The table of settings: every key, who may set it, what it must be. `docs/settings.md` shows the same lines.

Nothing here reads a file; `read` checks the contents of a file against these lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

Level: TypeAlias = Literal["user", "project"]
Path: TypeAlias = tuple[str, ...]

USER_FILE = "settings.toml"
"""In the user's configuration folder."""

PROJECT_FILE = "prosa.toml"
"""In the root of a project; `[tool.prosa]` of a `pyproject.toml` has the same settings."""

PYPROJECT_FILE = "pyproject.toml"

PROJECT_FILES = (PROJECT_FILE, PYPROJECT_FILE)
"""Where project settings are looked up; the first existing file counts."""


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
    Setting("providers.*.protocol", "user", "protocol", "its own, else `openai`", "what the service speaks"),
    Setting("sites.*.token-env", "user", "variable", "none", "variable with the token for the site of that origin"),
    Setting(
        "servers.*.token-env", "user", "variable", "none", "variable with the token for MCP servers of that origin"
    ),
    Setting("servers.*.header-env.*", "user", "variable", "none", "variable with the value of that header, sent there"),
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
    Setting("models.*.provider", "user", "text", "none", "provider that answers for that model, whoever names it"),
    Setting("models.*.file", "user", "text", "none", "GGUF file of that model, where its provider is `embedded`"),
    Setting("models.*.temperature", "user", "amount", "the model's own", "how much chance there is in its answers"),
    Setting("models.*.top-p", "user", "amount", "the model's own", "share of likely words that count in its answers"),
    Setting("models.*.seed", "user", "whole", "the model's own", "where the chance in its answers begins"),
    Setting(
        "history", "user", "history", "`summary`", "what is kept of a run that has ended: `off`, `summary`, `full`"
    ),
    Setting("store", "user", "store", "a file of yours", "file or `postgresql://` address that keeps runs and batches"),
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
    Setting("site.name", "project", "text", "its first page", "what the site of this project is called"),
    Setting("site.nav", "project", "nav", "none", "pages of the site in the order in which they are read"),
    Setting("site.exclude", "project", "texts", "none", "globs of files that are no part of the site"),
    Setting("per-glob.*.strict", "project", "flag", "`false`", "as `strict`, for the documents that the glob matches"),
    Setting("per-glob.*.select", "project", "texts", "none", "further rules for these documents"),
    Setting("per-glob.*.ignore", "project", "texts", "none", "rules that are not checked in these documents"),
)

# X7: what a file in a tree can never choose, and what allows it instead.
_BY_USER = "set it in your own settings (see docs/settings.md)"
_TRUST = "if you trust it, run: prosa trust PATH"
REFUSED: Mapping[str, str] = {
    **{each.path[0]: _BY_USER for each in SETTINGS if each.level == "user"},
    "base-url": "give it yourself: prosa run --base-url URL, or set it in your own settings",
    "api": "give it yourself: prosa run --api NAME, or set it in your own settings",
    "api-key": "set OPENAI_API_KEY, or name a variable in your own settings",
    "api-key-env": "set OPENAI_API_KEY, or name a variable in your own settings",
    "key": "set OPENAI_API_KEY, or name a variable in your own settings",
    "responder": _BY_USER,
    **dict.fromkeys(("plugins", "tools", "mcp", "mcp-servers", "permissions", "trust"), _TRUST),
}
