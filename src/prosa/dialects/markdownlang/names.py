"""Names of tools as model APIs accept them: at most 64 of `[A-Za-z0-9_-]` (L20, LA12).

A wire name is never parsed back: the code that offers tools keeps the map from name to tool.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from prosa.regex import regex

MAX_TOOL_NAME = 64
"""The bound of the model APIs."""

_HASH = 8
"""Hex digits that keep two long names with the same beginning apart."""

PYTHON_TOOL = "python"
"""The built-in tool (L22); no import may take its name."""

VISIT_TOOL = "visit"
"""The tool that goes from page to page, where a program has sites (X15)."""

MAIL_TOOLS = ("mail_send", "mail_receive", "mail_query")
"""The tools of a mailbox, where a program has one (L47)."""

MAX_MAILBOX = 64

ACTION_PREFIX = "mdh__"
"""Prefix of the wire names of actions."""

MAILBOX = regex(r"[A-Za-z0-9_-]{1,64}")
"""The name of a mailbox."""

USER = "user"
"""Who sends messages from the command line, and the mailbox that answers to that go to; no program is that."""

_BAD = regex(r"[^A-Za-z0-9_-]")


def tool_name(name: str) -> str:
    """Return the wire name of an imported program: each other character becomes `_`; a long name is cut and gets a
    hash."""
    clean = _BAD.sub("_", name) or "_"
    if len(clean) <= MAX_TOOL_NAME:
        return clean
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{clean[: MAX_TOOL_NAME - _HASH - 1]}_{digest}"


def server_tool_name(server: str, tool: str) -> str:
    """Return the wire name of a tool of an MCP server (L20)."""
    return tool_name(f"mcp__{server}__{tool}")


def action_tool_name(action: str, taken: Collection[str], site: str) -> str:
    """Return the wire name of an action of a site (X15). One that is taken gets a hash of ``site`` and id behind it."""
    name = tool_name(f"{ACTION_PREFIX}{action}")
    if name not in taken:
        return name
    digest = hashlib.sha256(f"{site} {action}".encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{name[: MAX_TOOL_NAME - _HASH - 1]}_{digest}"


def server_prefix(server: str) -> str:
    """Return the prefix of the wire names of a server's tools, unless they are too long."""
    return _BAD.sub("_", f"mcp__{server}__")
