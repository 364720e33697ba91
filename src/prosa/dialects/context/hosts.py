"""The table of hosts: which files each of them reads, in which order, and what it makes of them (X38). Data, each row
with its source; what has no source is not here, and is not judged.

In: a path. Out: the places of hosts that it is in. A host is added as another row of `HOSTS`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from re import Pattern, escape
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.dialects.context import fields as front
from prosa.dialects.fields import Field
from prosa.regex import regex

Kind: TypeAlias = Literal[
    "instructions", "rule", "agent", "command", "skill", "servers", "settings", "plugin", "marketplace"
]
"""What a file is to its host."""

When: TypeAlias = Literal["start", "match", "choice", "call"]
"""When it is loaded: before the first word; with files that its globs match; when the model chooses it by its
description; when a user calls it."""

Reach: TypeAlias = Literal["root", "up", "nested"]
"""Where it is looked for: in the root of the project; in every folder from there to the one of work; and in folders
below, once the host reads a file there."""


class HostPlace(Struct, frozen=True):
    """Files that a host reads. ``globs`` is the path below a folder: several with ``|`` between them are read in this
    order, and the first one alone where ``first`` is true. ``scope`` is the field with the globs of the files that a
    rule is for, ``always`` the one that loads a rule regardless. ``strict``: a file with an unknown field is refused.
    ``since`` is the first version, and ``without`` are files of whose absence in the project the row depends."""

    kind: Kind
    globs: str
    when: When
    reach: Reach
    source: str
    fields: tuple[Field, ...] = ()
    scope: str = ""
    always: str = ""
    first: bool = False
    strict: bool = False
    since: str = ""
    without: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The globs one by one."""
        return tuple(self.globs.split("|"))

    def matches(self, path: str) -> bool:
        """Return whether a file is in such a place below any folder."""
        return any(_pattern(name).search(path) for name in self.names)


class Unread(Struct, frozen=True):
    """Files in the folder of a host that it does not read. ``why`` ends the sentence "… is not read by HOST: "."""

    globs: str
    why: str
    source: str
    suffix: str = ""
    """What the name should end with, where renaming is enough."""

    def matches(self, path: str) -> bool:
        """Return whether a file is such a one."""
        return any(_pattern(part).search(path) for part in self.globs.split("|"))


class Budget(Struct, frozen=True):
    """What a host tells its model about skills: at most ``characters`` in all, and of one description ``cut``; a skill
    whose description is longer than ``most`` is left out. 0 is no limit."""

    characters: int = 0
    cut: int = 0
    most: int = 0
    source: str = ""


class Host(Struct, frozen=True):
    """A program that reads context files. ``versions`` are those that the rows were read or measured in. ``imports`` is
    how deep `@path` is expanded, 0 if it is not. ``limit`` is the size in bytes of all instructions together. ``tools``
    are the names of its tools; those with a prefix of ``other_tools`` come from elsewhere. ``models`` are aliases,
    ``other_models`` prefixes of full names; without any, models are not judged. ``marks`` are files and folders in the
    root of a project whose presence shows that the host is used there, ``commands`` the names of its program."""

    name: str
    title: str
    versions: str
    places: tuple[HostPlace, ...]
    unread: tuple[Unread, ...] = ()
    imports: int = 0
    imports_source: str = ""
    limit: int = 0
    limit_source: str = ""
    skills: tuple[str, ...] = ()
    budget: Budget = Budget()
    tools: frozenset[str] = frozenset()
    other_tools: tuple[str, ...] = ()
    tools_source: str = ""
    models: tuple[str, ...] = ()
    other_models: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLAUDE = "https://code.claude.com/docs/en/"
_COPILOT = "https://docs.github.com/en/copilot/"
_COPILOT_INSTRUCTIONS = f"{_COPILOT}how-tos/copilot-cli/customize-copilot/add-custom-instructions"
_VSCODE = "https://code.visualstudio.com/docs/copilot/customization/"
_CODEX = "https://developers.openai.com/codex/"
_CURSOR = "https://cursor.com/docs/"
_GEMINI = "https://github.com/google-gemini/gemini-cli/blob/5411f113cafae26161b4969b0237b8e1e024e2c2/"

CLAUDE = Host(
    "claude",
    "Claude Code",
    "2.1.197–2.1.277",
    places=(
        HostPlace("instructions", "CLAUDE.md|.claude/CLAUDE.md", "start", "nested", f"{_CLAUDE}memory"),
        HostPlace(
            "instructions",
            "AGENTS.md",
            "start",
            "nested",
            f"{_CLAUDE}changelog#2-1-277",
            since="2.1.277",
            without=("CLAUDE.md", ".claude/CLAUDE.md"),
        ),
        HostPlace("rule", ".claude/rules/**/*.md", "start", "nested", f"{_CLAUDE}memory", front.CLAUDE_RULE, "paths"),
        HostPlace("instructions", "CLAUDE.local.md", "start", "nested", f"{_CLAUDE}memory"),
        HostPlace("skill", ".claude/skills/*/SKILL.md", "choice", "nested", f"{_CLAUDE}skills"),
        HostPlace("agent", ".claude/agents/**/*.md", "choice", "up", f"{_CLAUDE}sub-agents", front.CLAUDE_AGENT),
        HostPlace("command", ".claude/commands/**/*.md", "choice", "up", f"{_CLAUDE}skills", front.CLAUDE_COMMAND),
        HostPlace("servers", ".mcp.json", "start", "root", f"{_CLAUDE}mcp"),
        HostPlace(
            "settings",
            ".claude/settings.json|.claude/settings.local.json",
            "start",
            "root",
            f"{_CLAUDE}settings-reference",
        ),
        HostPlace("plugin", ".claude-plugin/plugin.json", "start", "root", f"{_CLAUDE}plugins-reference"),
        HostPlace("marketplace", ".claude-plugin/marketplace.json", "start", "root", f"{_CLAUDE}plugin-marketplaces"),
    ),
    unread=(
        Unread(".claude/skills/*.md", "a skill is a folder with a `SKILL.md`", f"{_CLAUDE}skills"),
        Unread(".claude/rules/**/*.mdc", "its rules end in `.md`", f"{_CLAUDE}memory", ".md"),
    ),
    imports=4,
    imports_source=f"{_CLAUDE}memory",
    skills=(".claude/skills",),
    budget=Budget(8_000, 1_536, source=f"{_CLAUDE}skills"),
    tools=_names(
        "Agent Artifact AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit"
        " EndConversation EnterPlanMode EnterWorktree ExitPlanMode ExitWorktree Glob Grep KillShell"
        " ListAgents ListMcpResourcesTool LS LSP Monitor MultiEdit NotebookEdit NotebookRead PowerShell"
        " PushNotification Read ReadMcpResourceTool RemoteTrigger ReportFindings ScheduleWakeup"
        " SendMessage SendUserFile ShareOnboardingGuide Skill SlashCommand Task TaskCreate TaskGet"
        " TaskList TaskOutput TaskStop TaskUpdate TodoRead TodoWrite ToolSearch WaitForMcpServers"
        " WebFetch WebSearch Workflow Write"
    ),
    other_tools=("mcp__", "*"),
    tools_source=f"{_CLAUDE}tools-reference",
    models=("default", "best", "fable", "sonnet", "opus", "haiku", "sonnet[1m]", "opus[1m]", "opusplan", "inherit"),
    other_models=("claude-", "anthropic", "us.", "eu.", "apac.", "global.", "arn:", "projects/"),
    marks=("CLAUDE.md", "CLAUDE.local.md", ".claude"),
    commands=("claude",),
)

CODEX = Host(
    "codex",
    "Codex",
    "0.154–0.169",
    places=(
        HostPlace(
            "instructions", "AGENTS.override.md|AGENTS.md", "start", "up", f"{_CODEX}guides/agents-md", first=True
        ),
        HostPlace("skill", ".agents/skills/*/SKILL.md", "choice", "up", f"{_CODEX}skills"),
    ),
    limit=32 * 1024,
    limit_source=f"{_CODEX}guides/agents-md",
    imports_source="https://github.com/openai/codex/blob/0bd53e457bf7dc40ff77fe2780e9c3070505b3b7/codex-rs/core/src/project_doc.rs",
    skills=(".agents/skills",),
    budget=Budget(8_000, source=f"{_CODEX}skills"),
    marks=("AGENTS.override.md", ".codex"),
    commands=("codex",),
)

COPILOT = Host(
    "copilot",
    "GitHub Copilot",
    "1.0.102 and VS Code 1.106",
    places=(
        HostPlace("instructions", ".github/copilot-instructions.md", "start", "up", _COPILOT_INSTRUCTIONS),
        HostPlace(
            "instructions", "AGENTS.md|CLAUDE.md|.claude/CLAUDE.md|GEMINI.md", "start", "up", _COPILOT_INSTRUCTIONS
        ),
        HostPlace(
            "rule",
            ".github/instructions/**/*.instructions.md",
            "match",
            "up",
            f"{_VSCODE}custom-instructions",
            front.COPILOT_INSTRUCTIONS,
            "applyTo",
        ),
        HostPlace(
            "rule",
            ".claude/rules/**/*.md",
            "match",
            "root",
            f"{_VSCODE}custom-instructions",
            front.CLAUDE_RULE,
            "paths",
        ),
        HostPlace(
            "skill",
            ".github/skills/*/SKILL.md|.agents/skills/*/SKILL.md|.claude/skills/*/SKILL.md",
            "choice",
            "root",
            f"{_COPILOT}concepts/agents/about-agent-skills",
        ),
        HostPlace(
            "agent",
            ".github/agents/**/*.md|.github/chatmodes/*.chatmode.md",
            "choice",
            "root",
            f"{_COPILOT}reference/custom-agents-configuration",
            front.COPILOT_AGENT,
        ),
        HostPlace(
            "command",
            ".github/prompts/**/*.prompt.md",
            "call",
            "root",
            f"{_VSCODE}prompt-files",
            front.COPILOT_PROMPT,
        ),
        HostPlace(
            "servers",
            ".vscode/mcp.json",
            "start",
            "root",
            "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
        ),
    ),
    unread=(
        Unread(
            ".github/prompts/**/*.md",
            "the names of its prompts end in `.prompt.md`",
            f"{_VSCODE}prompt-files",
            ".prompt.md",
        ),
        Unread(
            ".github/instructions/**/*.md",
            "the names of its instructions end in `.instructions.md`",
            f"{_VSCODE}custom-instructions",
            ".instructions.md",
        ),
    ),
    skills=(".github/skills", ".agents/skills", ".claude/skills"),
    budget=Budget(most=1_024, source="https://agentskills.io/specification"),
    marks=(
        ".github/copilot-instructions.md",
        ".github/instructions",
        ".github/agents",
        ".github/chatmodes",
        ".github/prompts",
        ".github/skills",
    ),
    commands=("copilot",),
)

CURSOR = Host(
    "cursor",
    "Cursor",
    "as documented in October 2026",
    places=(
        HostPlace("instructions", "AGENTS.md", "start", "nested", f"{_CURSOR}rules"),
        HostPlace(
            "rule",
            ".cursor/rules/**/*.mdc",
            "match",
            "nested",
            f"{_CURSOR}rules",
            front.CURSOR_RULE,
            "globs",
            "alwaysApply",
        ),
        HostPlace("servers", ".cursor/mcp.json", "start", "root", f"{_CURSOR}mcp"),
    ),
    unread=(Unread(".cursor/rules/**/*.md", "its rules end in `.mdc`", f"{_CURSOR}rules", ".mdc"),),
    marks=(".cursor",),
    commands=("cursor-agent", "cursor"),
)

GEMINI = Host(
    "gemini",
    "Gemini CLI",
    "0.61.0",
    places=(
        HostPlace("instructions", "GEMINI.md", "start", "nested", f"{_GEMINI}docs/cli/gemini-md.md"),
        HostPlace("skill", ".agents/skills/*/SKILL.md", "choice", "root", f"{_GEMINI}docs/cli/skills.md"),
        HostPlace("skill", ".gemini/skills/*/SKILL.md", "choice", "root", f"{_GEMINI}docs/cli/skills.md"),
        HostPlace(
            "agent",
            ".gemini/agents/*.md",
            "choice",
            "root",
            f"{_GEMINI}packages/core/src/agents/agentLoader.ts",
            front.GEMINI_AGENT,
            strict=True,
        ),
        HostPlace("settings", ".gemini/settings.json", "start", "root", f"{_GEMINI}docs/cli/settings.md"),
    ),
    unread=(
        Unread(".gemini/commands/**/*.md", "its commands are TOML files", f"{_GEMINI}docs/cli/custom-commands.md"),
    ),
    imports=5,
    imports_source=f"{_GEMINI}docs/reference/memport.md",
    skills=(".agents/skills", ".gemini/skills"),
    tools=_names(
        "activate_skill ask_user cli_help codebase_investigator complete_task enter_plan_mode"
        " exit_plan_mode get_internal_docs glob google_web_search grep_search list_directory"
        " list_mcp_resources read_file read_many_files read_mcp_resource replace run_shell_command"
        " search_file_content tracker_add_dependency tracker_create_task tracker_get_task"
        " tracker_list_tasks tracker_update_task tracker_visualize update_topic web_fetch write_file"
        " write_todos invoke_agent"
    ),
    other_tools=("mcp_", "discovered_tool_", "*"),
    tools_source=f"{_GEMINI}packages/core/src/tools/tool-names.ts",
    marks=("GEMINI.md", ".gemini"),
    commands=("gemini",),
)

HOSTS: tuple[Host, ...] = (CLAUDE, CODEX, COPILOT, CURSOR, GEMINI)
"""Every host, in the order of the alphabet."""


class Use(Struct, frozen=True):
    """A place that a file is in, and the host that it belongs to."""

    host: Host
    place: HostPlace


def host_named(name: str) -> Host | None:
    """Return a host by its short name."""
    return next((host for host in HOSTS if host.name == name), None)


@lru_cache(maxsize=1_024)
def uses_of(path: str) -> tuple[Use, ...]:
    """Return the hosts that read a file at ``path``, each with its place."""
    return tuple(use for marks, use in _marked() if any(mark in path for mark in marks) and use.place.matches(path))


@cache
def _marked() -> tuple[tuple[tuple[str, ...], Use], ...]:
    """Return every place with what its paths contain: most paths have none of it, and need no pattern."""
    uses = (Use(host, place) for host in HOSTS for place in host.places)
    return tuple((tuple(name.partition("*")[0] for name in use.place.names), use) for use in uses)


@lru_cache(maxsize=1_024)
def unread_at(path: str) -> tuple[tuple[Host, Unread], ...]:
    """Return the hosts in whose folders a file lies that they do not read; none where any host reads it."""
    if uses_of(path):
        return ()
    return tuple((host, row) for host in HOSTS for row in host.unread if row.matches(path))


def fields_at(path: str) -> tuple[Field, ...]:
    """Return the fields of the file at ``path``, of all hosts that read it, each once."""
    tables = [use.place.fields for use in uses_of(path)] or [_CATALOGUE.get(_suffix(path), ())]
    return tuple({field.name: field for table in tables for field in table}.values())


_CATALOGUE: dict[str, tuple[Field, ...]] = {
    ".instructions.md": front.COPILOT_INSTRUCTIONS,
    ".agent.md": front.COPILOT_AGENT,
    ".chatmode.md": front.COPILOT_AGENT,
    ".prompt.md": front.COPILOT_PROMPT,
    ".mdc": front.CURSOR_RULE,
}
"""Files in collections, from where people copy them into a place of their host."""


def _suffix(path: str) -> str:
    return next((suffix for suffix in _CATALOGUE if path.endswith(suffix)), "")


@lru_cache(maxsize=256)
def _pattern(glob: str) -> Pattern[str]:
    """Return the pattern of a glob below any folder: `*` stays in a folder, `**/` crosses folders."""
    pieces = escape(glob).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*", "[^/]*")
    return regex(rf"(?:\A|/){pieces}\Z")
