"""The paths of context files (X3): one pattern, since it is matched against the path of every document.

In: a path. Out: whether a host has a place for such a file. What each host reads there is in `hosts.py`.
"""

from __future__ import annotations

from prosa.regex import regex

FOLDERS = (".claude", ".cursor", ".gemini", ".github", ".claude-plugin", ".vscode")
"""Folders of hosts."""

_NAMES = frozenset({"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".mcp.json"})
HOST_SUFFIXES = (".instructions.md", ".agent.md", ".chatmode.md", ".prompt.md")
_NESTED = regex(
    r"(?:\A|/)(?:\.claude/(?:agents|commands|rules)|\.github/(?:agents|chatmodes|instructions|prompts)"
    r"|\.cursor/rules|\.gemini/commands)/[^/\0]"
)
"""Folders below which every Markdown file counts, in folders inside them too."""

_RULES = regex(r"(?:\A|/)\.(?:claude|cursor)/rules/[^/\0]")
_FLAT = regex(
    r"(?:\A|/)(?:\.claude/(?:skills/[^/]+\.md|settings(?:\.local)?\.json)|\.github/copilot-instructions\.md"
    r"|\.cursor/mcp\.json|\.gemini/(?:agents/[^/]+\.md|settings\.json)"
    r"|\.claude-plugin/(?:plugin|marketplace)\.json|\.vscode/mcp\.json)\Z"
)

JSON_FILES = (
    ".mcp.json",
    ".claude/settings.json",
    ".claude-plugin/plugin.json",
    ".claude-plugin/marketplace.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".vscode/mcp.json",
)
"""The JSON files of hosts that a check of a folder reads."""

PLUGIN_FILES = (".claude-plugin/plugin.json", ".mcp.json")
"""Those that the folder of a plugin has."""


def is_context(path: str) -> bool:
    """Return whether the file at ``path``, absolute or not, is a context file of a host."""
    if "\\" in path:
        path = path.replace("\\", "/")
    name = path[path.rfind("/") + 1 :]
    if name in _NAMES or name.endswith(HOST_SUFFIXES):
        return True
    if not (path.startswith(".") or "/." in path) or name == "SKILL.md":
        return False
    folders = _NESTED if name.endswith(".md") else _RULES if name.endswith(".mdc") else _FLAT
    return folders.search(path) is not None or _FLAT.search(path) is not None


_ACTED_ON = regex(
    r"(?:\A|/)(?:\.(?:claude|github|gemini|codex|agents)/agents/[^/]+\Z"
    r"|\.(?:claude|cursor|gemini|codex)/(?:commands|prompts)/[^/\0])"
)


def is_agent_file(path: str) -> bool:
    """Return whether the name of a file, written with `/`, says that agents act on it, whatever host they are of."""
    if path.endswith(".mdc") or path[path.rfind("/") + 1 :] in ("QWEN.md", "copilot-instructions.md"):
        return True
    return is_context(path) or (path.endswith(".md") and "/." in f"/{path}" and _ACTED_ON.search(path) is not None)


def is_agent_place(path: str) -> bool:
    """Return whether agents may act on a file by its name, or because it lies where skills are."""
    return "/skills/" in path or path.startswith("skills/") or is_agent_file(path)
