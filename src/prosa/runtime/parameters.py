"""The check of a document's parameters for model calls (M31): which are never allowed (X7).

In: parameters under any names. Out: nothing, or the refused ones with an alternative. A parameter may shape an answer
but not change the request itself: its model, messages, tools, form, headers or address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from prosa.data import Value
from prosa.runtime.errors import RunError

MAX_PARAMETERS = 64
"""Parameters of one call; services know about thirty."""

_TOOLS = "tools are granted on the command line: --tool NAME"
_ADDRESS = "an address, a header or a key comes from the user: --base-url, --api-key-env, or the user's settings"
_MESSAGES = "messages are made of the document"
_FORM = "write `output-format` or `output-schema`"

_REFUSED: Mapping[str, str] = {
    "model": "write `model-name`",
    "models": "write `model-name`",
    "provider": "write `provider` beside `parameters`",
    **dict.fromkeys(("messages", "input", "prompt", "instructions", "system", "conversation"), _MESSAGES),
    **dict.fromkeys(("previousresponseid", "fileids", "files", "attachments"), _MESSAGES),
    **dict.fromkeys(("tools", "toolchoice", "toolconfig", "functions", "functioncall", "toolresources"), _TOOLS),
    **dict.fromkeys(("mcpservers", "plugins", "websearchoptions", "container"), _TOOLS),
    **dict.fromkeys(("responseformat", "textformat", "responseschema", "responsemimetype"), _FORM),
    **dict.fromkeys(("stream", "streamoptions", "background"), "write `stream` beside `parameters`"),
    **dict.fromkeys(("extraheaders", "extraquery", "extrabody", "headers", "timeout", "maxretries"), _ADDRESS),
    **dict.fromkeys(("apikey", "apibase", "apiversion", "baseurl", "endpoint", "host", "proxy"), _ADDRESS),
    **dict.fromkeys(("organization", "project", "authorization", "webhook"), _ADDRESS),
}
"""Names without case, hyphens and underscores, and the way instead."""

_PARTS = ("header", "url", "uri", "endpoint", "webhook")

OUTPUT_NAMES = frozenset(
    ("maxtokens", "maxcompletiontokens", "maxoutputtokens", "npredict", "numpredict", "maxnewtokens")
)
"""The names under which services take the most tokens of an answer, without case, hyphens and underscores."""

_PRICED_TIERS = frozenset((None, "auto", "default", "standard", "flex", "batch"))


def squashed(name: str) -> str:
    """Return a name without case, hyphens and underscores: what `max-tokens`, `max_tokens` and `maxTokens` share."""
    return name.lower().replace("-", "").replace("_", "")


def refused_parameters(parameters: Mapping[str, Value]) -> dict[str, str]:
    """Return the refused parameters, each with the alternative that allows it (X7)."""
    reasons = {name: why for name, value in parameters.items() if (why := _why(name, value))}
    if len(parameters) > MAX_PARAMETERS:
        reasons[list(parameters)[MAX_PARAMETERS]] = f"there are at most {MAX_PARAMETERS} parameters"
    return reasons


def require_allowed(parameters: Mapping[str, Value]) -> None:
    """Raise `RunError` that names the first refused parameter."""
    for name, why in refused_parameters(parameters).items():
        raise RunError(f"the parameter `{name[:64]}` is refused", hint=why)


def most_output(parameters: Mapping[str, Value], limit: int | None) -> int | None:
    """Return the most tokens that a call may write: what its parameters ask for, within ``limit``; None without a
    bound."""
    asked = [value for name, value in parameters.items() if squashed(name) in OUTPUT_NAMES and _is_count(value)]
    return min(asked if limit is None else [*asked, limit], default=None)


def without_price(parameters: Mapping[str, Value]) -> str | None:
    """Return the first parameter with which a call costs something else than its tokens at the list price."""
    for name, value in parameters.items():
        plain = squashed(name)
        if plain == "servicetier" and value not in _PRICED_TIERS:
            return name
        if plain in ("prediction", "audio") or (plain == "modalities" and value != ["text"]):
            return name
        if plain == "bestof" and value != 1:
            return name
    return None


def _is_count(value: Value) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _why(name: str, value: Value) -> str:
    plain = squashed(name)
    if plain == "n" and value != 1:
        return "one answer is asked for at a time"
    if plain == "text" and isinstance(value, Mapping) and "format" in value:
        return _FORM
    if plain in _REFUSED:
        return _REFUSED[plain]
    parts = name.lower().replace("-", "_").split("_")
    return _ADDRESS if any(part.rstrip("s") in _PARTS for part in parts) else ""
