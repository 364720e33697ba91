"""The paths of context files (X3): one pattern, since it is matched against the path of every document.

In: a path. Out: whether a host has a place for such a file. What each host reads there is in `hosts.py`.
"""

from __future__ import annotations

from prosa.regex import regex

FOLDERS = (".claude", ".cursor", ".gemini", ".github", ".claude-plugin", ".vscode")
"""Folders of hosts."""

_NAMES = frozenset({"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".mcp.json"})
_SUFFIXES = (".instructions.md", ".agent.md", ".chatmode.md", ".prompt.md")
_INSIDE = regex(
    r"(?:\A|/)(?:"
    r"\.claude/(?:(?:agents|commands)/[^\0]+\.md|rules/[^\0]+\.mdc?|skills/[^/]+\.md|settings(?:\.local)?\.json)"
    r"|\.github/(?:copilot-instructions\.md|(?:agents|chatmodes|instructions|prompts)/[^\0]+\.md)"
    r"|\.cursor/(?:rules/[^\0]+\.mdc?|mcp\.json)"
    r"|\.gemini/(?:agents/[^/]+\.md|commands/[^\0]+\.md|settings\.json)"
    r"|\.claude-plugin/(?:plugin|marketplace)\.json"
    r"|\.vscode/mcp\.json"
    r")\Z"
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
    if name in _NAMES or name.endswith(_SUFFIXES):
        return True
    return (path.startswith(".") or "/." in path) and name != "SKILL.md" and _INSIDE.search(path) is not None


_ACTED_ON = regex(
    r"(?:\A|/)(?:\.(?:claude|github|gemini|codex|agents)/agents/[^/]+"
    r"|\.(?:claude|cursor|gemini|codex)/(?:commands|prompts)/[^\0]+)\.md\Z"
)


def is_agent_file(path: str) -> bool:
    """Return whether the name of a file, written with `/`, says that agents act on it, whatever host they are of."""
    if path.endswith(".mdc") or path[path.rfind("/") + 1 :] in ("QWEN.md", "copilot-instructions.md"):
        return True
    return is_context(path) or ("/." in f"/{path}" and _ACTED_ON.search(path) is not None)


def is_agent_place(path: str) -> bool:
    """Return whether agents may act on a file by its name, or because it lies where skills are."""
    return "/skills/" in path or path.startswith("skills/") or is_agent_file(path)
