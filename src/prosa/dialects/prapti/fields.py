"""The configuration tree of a chat: the known names, their types, and what a document may not set (PA9, X7).

A bare name is looked up in this order: exact path, `prapti.NAME`, then the well-known variables. Endpoints, keys,
plugins, responder endpoints and permissions come from the user alone: a refusal names the setting to use instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.prapti.model import ConfigLine
from prosa.source import Span

ABOUT_ACTIONS: Mapping[str, str] = {
    "include": "puts the text of a file here",
    "include.code": "puts a file here as code",
    "inspect": "shows the values in effect, beside the conversation",
    "plugins.list": "shows the available plugins, beside the conversation",
    "plugins.load": "loads a plugin that the user allows",
    "responder.new": "makes a responder: its name and its kind",
    "responder.pop": "returns to the previous responder",
    "responder.push": "lets the responder of that name answer",
}
"""What each action does, for people."""

ACTIONS = tuple(ABOUT_ACTIONS)

BUILT_IN_PLUGINS = ("koboldcpp.text", "local.openai.chat", "openai.chat", "prapti.include")
"""Names that documents load although they are built in; loading them does nothing."""

_ENDPOINT = ("api_base", "base_url", "endpoint", "api_url", "host", "url")
_KEY = ("api_key", "apikey", "token", "secret", "password", "key")
_COUNTED = ("max_", "min_")
"""A count of tokens is not a token: `max_token` is a typo for `max_tokens`."""

_PERMISSION = ("permissions", "trust", "trusted", "allow", "mcp", "mcp_servers")


class Refusal(Struct, frozen=True):
    """``message`` says what is refused, ``instead`` how the user can allow it."""

    message: str
    instead: str


def refusal(line: ConfigLine) -> Refusal | None:
    """Return why a line is refused, or None."""
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
    """Return the plugin that an action loads, or None."""
    words = line.args.split()
    return words[0].strip('"') if line.name in ("plugins.load", "plugins.unload") and words else None


def _action(line: ConfigLine) -> Refusal | None:
    plugin = loads(line)
    if plugin is None or plugin in BUILT_IN_PLUGINS:
        return None
    return Refusal(f"a document cannot load a plugin: `{plugin}`", "if you trust it: prosa trust FILE")


def _ends_with(name: str, words: tuple[str, ...]) -> bool:
    """Return whether a name is one of the words, or ends with one behind an underscore."""
    return any(name == word or name.endswith(f"_{word}") for word in words)


Type: TypeAlias = Literal["text", "number", "integer", "count", "flag", "texts", "text or texts", "anything"]

_WORDS: Mapping[Type, str] = {
    "text": "text in double quotes",
    "number": "a number",
    "integer": "a whole number",
    "count": "a whole number of at least 1",
    "flag": "true or false",
    "texts": "a list of texts",
    "text or texts": "text or a list of texts",
    "anything": "a value",
}


class Setting(Struct, frozen=True):
    """A known name, the type of its value, and its description."""

    path: str
    type: Type
    about: str


SETTINGS: tuple[Setting, ...] = (
    Setting("prapti.config_root", "flag", "true: no configuration file in a folder above counts"),
    Setting("prapti.dry_run", "flag", "true: nothing is sent, and what would be is shown"),
    Setting("prapti.halt_on_error", "flag", "true: a turn ends at the first command that fails"),
    Setting("prapti.responder_stack", "texts", "the responders that were pushed; the last one answers"),
    Setting("vars.model", "text", "the name of the model that answers"),
    Setting("vars.temperature", "number", "sampling temperature"),
    Setting("vars.top_p", "number", "nucleus sampling: the share of probability that counts"),
    Setting("vars.max_tokens", "count", "tokens that one answer may have"),
    Setting("vars.n", "count", "the number of replies"),
    Setting("vars.stream", "flag", "whether the answer arrives word by word"),
    Setting("vars.stop", "text or texts", "texts at which the model stops"),
    Setting("vars.presence_penalty", "number", "how much the model avoids subjects that were there"),
    Setting("vars.frequency_penalty", "number", "how much the model avoids words that were there often"),
    Setting("vars.seed", "integer", "a random seed, for services that take one"),
    Setting("vars.provider", "text", "the name of a provider that the user knows"),
    Setting("vars.tools", "texts", "which of the granted tools the model may call"),
    Setting("vars.mdh", "texts", "which of the granted sites the model may use"),
)

ROOTS = ("prapti", "plugins", "responders", "vars")
"""First parts of exact paths. Names below `plugins` and `responders` belong to those plugins and responders."""

_BY_PATH = {setting.path: setting for setting in SETTINGS}


def path_of(key: str) -> str:
    """Return the path of a key in the tree (PA9)."""
    if key.split(".")[0] in ROOTS and "." in key:
        return key
    return f"prapti.{key}" if f"prapti.{key}" in _BY_PATH else f"vars.{key}"


def setting_of(key: str) -> Setting | None:
    """Return the entry of a known key; a responder's own `temperature` has the type of the variable."""
    path = path_of(key)
    if path.startswith("responders."):
        return _BY_PATH.get(f"vars.{path.rpartition('.')[2]}")
    return _BY_PATH.get(path)


def check_settings(assignments: Iterable[ConfigLine]) -> Iterator[Problem]:
    """Yield values of another type than the setting has, and names in the tree that do not exist (PA8)."""
    for line in assignments:
        key = line.key or ""
        setting = setting_of(key)
        if setting is None:
            if is_nowhere(key) and not refusal(line):
                yield _unknown(key, line.name_span)
        elif line.variable is None and (wanted := wrong_type(setting, line.value)):
            yield Problem("wrong-type", f"`{key}` must be {wanted}", line.value_span)


def is_nowhere(key: str) -> bool:
    """Return whether a key is no place in the tree: unknown below `prapti`, or dotted below something that is no root.
    A bare name is a variable (PA9)."""
    return path_of(key).startswith("prapti.") or ("." in key and key.split(".")[0] not in ROOTS)


def nearest_variable(path: str) -> str | None:
    """Return the well-known variable whose name is nearest to that of another variable, or None."""
    known = (setting.path.removeprefix("vars.") for setting in SETTINGS if setting.path.startswith("vars."))
    return nearest(path.removeprefix("vars."), known)


def _unknown(key: str, span: Span) -> Problem:
    root, _, rest = key.partition(".")
    known = [setting.path for setting in SETTINGS if setting.path.startswith("prapti.")]
    near = nearest(key, known)
    note = f"there are {', '.join(known)}"
    if root not in ROOTS:
        near = f"{guess}.{rest}" if (guess := nearest(root, ROOTS)) else None
        note = f"a name with a dot begins with one of {', '.join(ROOTS)}"
    note = f"did you mean `{near}`?" if near else note
    meant = Misspelling(key, near) if near else None
    text = f"there is no setting `{key}`"
    return Problem("unknown-field", text, span, (note,), severity=Severity.ERROR, misspelling=meant)


def wrong_type(setting: Setting, value: Value) -> str | None:
    """Return what a value should be, in words, or None when it is that."""
    texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits: Mapping[Type, bool] = {
        "text": isinstance(value, str),
        "number": number,
        "integer": isinstance(value, int) and number,
        "count": isinstance(value, int) and number and value >= 1,
        "flag": isinstance(value, bool),
        "texts": texts,
        "text or texts": texts or isinstance(value, str),
        "anything": True,
    }
    return None if fits[setting.type] else _WORDS[setting.type]
