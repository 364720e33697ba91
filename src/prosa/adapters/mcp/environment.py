"""The environment of a stdio server (X18).

In: the user's environment and the `env` of a server as written. Out: the variables that the server gets: the SDK's
short list of safe names plus `env`. Nothing else is inherited, so no provider key ever is. `${NAME}` in a value of
`env` takes one variable of the user; `$${` stands for a literal `${`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from prosa.runtime.errors import ToolServerError

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def server_environment(server: str, env: Mapping[str, str] | None, environ: Mapping[str, str]) -> dict[str, str]:
    """All variables of a server. Raises `ToolServerError` for a variable that the user has not set (X18)."""
    from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

    # A value that starts with "()" is an exported shell function: code, not data.
    safe = {name: environ[name] for name in DEFAULT_INHERITED_ENV_VARS if not environ.get(name, "()").startswith("()")}
    return safe | {name: _filled(server, name, value, environ) for name, value in (env or {}).items()}


def _filled(server: str, name: str, value: str, environ: Mapping[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        return _variable(server, name, match, environ)

    if not name or "=" in name or "\0" in name + value:
        raise ToolServerError(
            f"MCP server '{server}' cannot start: env has a variable {name!r} that no process can be given",
            hint="a name is not empty and has no '='; neither name nor value has a NUL character",
        )
    return _REFERENCE.sub(replace, value)


def _variable(server: str, name: str, match: re.Match[str], environ: Mapping[str, str]) -> str:
    wanted = match[1]
    if not match[0].endswith("}") or not _NAME.match(wanted):
        raise ToolServerError(
            f"MCP server '{server}' cannot start: env.{name} has {match[0]!r}, which names no variable",
            hint="write ${NAME} for a variable and $${ for a literal ${",
        )
    if wanted not in environ:
        raise ToolServerError(
            f"MCP server '{server}' cannot start: env.{name} needs the environment variable {wanted}, which is not set",
            hint=f"set it first, for example: export {wanted}=…",
        )
    return environ[wanted]
