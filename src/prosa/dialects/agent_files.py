"""The front matter of the files that agents read beside skills: agents, instructions, rules, commands and prompts.

In: the path of a file. Out: the table of its fields. These files are plain Markdown here, and their front matter may
hold anything: the tables list what their clients read, and no rule requires it.
"""

from __future__ import annotations

from prosa.dialects.fields import Field
from prosa.regex import regex

_DESCRIPTION = Field("description", "string", about="what it is for and when to use it; clients choose by it")
_MODEL = Field("model", "string", about="the name of the model that answers")
_TOOLS = Field("tools", "anything", about="the tools that may be used")
_HINT = Field("argument-hint", "string", about="what a user may write behind the name")

DOCUMENT: tuple[Field, ...] = (
    Field("title", "string", about="what others can call the document"),
    Field("aliases", "strings", about="a list of other names by which wikilinks find it"),
)
"""The fields that any plain document may have."""

AGENT: tuple[Field, ...] = (
    Field("name", "string", about="the name by which users and other agents call it"),
    _DESCRIPTION,
    _TOOLS,
    _MODEL,
    _HINT,
    Field("mcp-servers", "anything", about="the MCP servers whose tools it has"),
    Field("handoffs", "anything", about="agents that may take over when this one ends"),
    Field("target", "string", usual=("vscode", "github-copilot"), about="the client that it is meant for"),
)

INSTRUCTIONS: tuple[Field, ...] = (
    Field("applyTo", "string", about="globs of the files that the instructions are for, with commas between them"),
    Field("name", "string", about="the name of the instructions"),
    _DESCRIPTION,
)

RULE: tuple[Field, ...] = (
    _DESCRIPTION,
    Field("globs", "anything", about="globs of the files that the rule is for"),
    Field("alwaysApply", "boolean", about="true: the rule is part of every conversation"),
)

COMMAND: tuple[Field, ...] = (
    Field("name", "string", about="the name of the command"),
    _DESCRIPTION,
    _HINT,
    Field("allowed-tools", "anything", about="the tools that may be used without asking"),
    _TOOLS,
    _MODEL,
    Field("agent", "string", about="the agent that carries it out"),
)

_TABLES = (
    (regex(r"\.mdc\Z"), RULE),
    (regex(r"\.instructions\.md\Z"), INSTRUCTIONS),
    (regex(r"\.(?:agent|chatmode)\.md\Z|(?:\A|/)\.(?:claude|github|gemini|codex|agents)/agents/[^/]+\.md\Z"), AGENT),
    (regex(r"\.prompt\.md\Z|(?:\A|/)\.(?:claude|cursor|gemini|codex)/(?:commands|prompts)/.+\.md\Z"), COMMAND),
)


def agent_fields(path: str) -> tuple[Field, ...]:
    """Return the fields of the file at ``path``, written with `/`, or those of any document if its name is not
    special."""
    return next((table for pattern, table in _TABLES if pattern.search(path)), DOCUMENT)


_NAMES = frozenset({"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "copilot-instructions.md"})
_SUFFIXES = (".mdc", ".instructions.md", ".agent.md", ".chatmode.md", ".prompt.md")


def is_agent_file(path: str) -> bool:
    """Return whether the name of a file, written with `/`, says that agents act on it."""
    if path.endswith(_SUFFIXES) or path[path.rfind("/") + 1 :] in _NAMES:
        return True
    return "/." in f"/{path}" and any(pattern.search(path) for pattern, _ in _TABLES)


def is_agent_place(path: str) -> bool:
    """Return whether agents may act on a file by its name, or because it lies where skills are."""
    return "/skills/" in path or path.startswith("skills/") or is_agent_file(path)
