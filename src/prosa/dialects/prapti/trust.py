"""What a chat may not choose for itself (X7), and which actions and plugins are built in.

In: a configuration line. Out: the refusal with what allows it instead, or None. Endpoints, keys, plugins, responder
endpoints and permissions come from the user alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from prosa.dialects.prapti.model import ConfigLine

ACTIONS = (
    "include",
    "include.code",
    "inspect",
    "plugins.list",
    "plugins.load",
    "responder.new",
    "responder.pop",
    "responder.push",
)

BUILT_IN_PLUGINS = ("koboldcpp.text", "local.openai.chat", "openai.chat", "prapti.include")
"""Names that documents load for what is always there here; loading them does nothing."""

_ENDPOINT = ("api_base", "base_url", "endpoint", "api_url", "host", "url")
_KEY = ("api_key", "apikey", "token", "secret", "password", "key")
_COUNTED = ("max_", "min_")
"""What is counted in tokens is no token: `max_token` is a mistyped `max_tokens`."""

_PERMISSION = ("permissions", "trust", "trusted", "allow", "mcp", "mcp_servers")


@dataclass(frozen=True, slots=True)
class Refusal:
    """``message`` says what is refused, ``instead`` how the user allows it."""

    message: str
    instead: str


def refusal(line: ConfigLine) -> Refusal | None:
    """Why a line is refused, or None."""
    if line.kind == "action":
        return _action(line)
    last = (line.key or "").rpartition(".")[2].lower()
    if _ends_with(last, _ENDPOINT):
        return Refusal(f"a document cannot choose an endpoint: `{line.key}`", "give it yourself: --base-url URL")
    if _ends_with(last, _KEY) and not last.startswith(_COUNTED):
        return Refusal(f"a document cannot hold a key: `{line.key}`", "set OPENAI_API_KEY in your environment")
    if last in _PERMISSION:
        return Refusal(f"a document cannot give permissions: `{line.key}`", "if you trust it: prosa trust FILE")
    if last == "tools":
        message = f"a document cannot grant tools: `{line.key}` only chooses among those that you grant"
        return Refusal(message, "grant them yourself: prosa chat --tool NAME, or if you trust it: prosa trust FILE")
    if last == "mdh":
        message = f"a document cannot grant sites: `{line.key}` only chooses among those that you grant"
        return Refusal(message, "grant them yourself: prosa chat --tool mdh:URL, or if you trust it: prosa trust FILE")
    return None


def loads(line: ConfigLine) -> str | None:
    """The plugin that an action loads, or None."""
    words = line.args.split()
    return words[0].strip('"') if line.name in ("plugins.load", "plugins.unload") and words else None


def _action(line: ConfigLine) -> Refusal | None:
    plugin = loads(line)
    if plugin is None or plugin in BUILT_IN_PLUGINS:
        return None
    return Refusal(f"a document cannot load a plugin: `{plugin}`", "if you trust it: prosa trust FILE")


def _ends_with(name: str, words: tuple[str, ...]) -> bool:
    """Whether a name is one of the words, or ends with one behind an underscore."""
    return any(name == word or name.endswith(f"_{word}") for word in words)
