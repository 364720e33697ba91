"""Names that look like settings of a program and are for the user alone (X7). Name → what to do instead."""

from __future__ import annotations

_BASE_URL = "give it on the command line: `prosa run FILE --base-url URL`, or set OPENAI_BASE_URL"
_KEY = "set OPENAI_API_KEY; a key never belongs in a document"
_API = "give it on the command line: `prosa run FILE --api responses`"
_TOOLS = "a program gets tools from `imports`, `mcp_servers` and `mdh`, and has the built-in `python`"
_TRUST = "permissions are given by the user who runs the program"

USER_SETTINGS: dict[str, str] = {
    "base_url": _BASE_URL,
    "api_base": _BASE_URL,
    "openai_base_url": _BASE_URL,
    "endpoint": _BASE_URL,
    "api_key": _KEY,
    "apikey": _KEY,
    "openai_api_key": _KEY,
    "api": _API,
    "tools": _TOOLS,
    "allowed_tools": _TOOLS,
    "plugins": _TRUST,
    "permissions": _TRUST,
    "trust": _TRUST,
    "trusted": _TRUST,
}
"""In lower case with `_`; look a name up with `user_setting`."""


def user_setting(name: str) -> str | None:
    """What to do instead of writing this field, or None when it is no setting of the user."""
    return USER_SETTINGS.get(name.lower().replace("-", "_"))
