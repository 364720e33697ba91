"""The front matter of context files and the JSON files of hosts, by kind of file. Which host reads which of them says
`hosts.py`.

The tables are those of the hosts' own documentation. A host passes over fields that it does not know, so an unknown
field is an error only where its host refuses the file.
"""

from __future__ import annotations

from prosa.dialects.fields import Field

DESCRIPTION = Field("description", "string", about="what it is for and when to use it; hosts choose by it")
_MODEL = Field("model", "string", about="the name of the model that answers")
_TOOLS = Field("tools", "anything", about="the tools that may be used")
_HINT = Field("argument-hint", "anything", about="what a user may write behind the name")
_EFFORT = Field(
    "effort", "string", choices=("low", "medium", "high", "xhigh", "max"), about="how much the model thinks"
)
_COLORS = ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")
_MODES = ("default", "acceptEdits", "auto", "dontAsk", "bypassPermissions", "plan", "manual")


def _agent_name(text: str) -> str | None:
    unread = text.startswith("-") or ":" in text
    return "must not begin with `-` or contain `:`: Claude Code passes over the file" if unread else None


CLAUDE_AGENT: tuple[Field, ...] = (
    Field(
        "name",
        "string",
        required=True,
        form=_agent_name,
        wanted="a name",
        why="Claude Code passes over a file without it",
        about="the name by which users and other agents call it",
    ),
    Field(
        "description",
        "string",
        required=True,
        wanted="a sentence that says when to use it",
        why="Claude Code passes over a file without it",
        about="when to delegate to it",
    ),
    _TOOLS,
    Field("disallowedTools", "anything", about="the tools that it may not use"),
    _MODEL,
    Field("permissionMode", "string", choices=_MODES, about="how it asks for permission"),
    Field("maxTurns", "integer", about="after how many turns it stops"),
    Field("skills", "anything", about="the skills that it has read when it begins"),
    Field("mcpServers", "anything", about="the MCP servers whose tools it has"),
    Field("hooks", "anything", about="commands that run around it"),
    Field("memory", "string", choices=("user", "project", "local"), about="where it keeps what it learns"),
    Field("background", "boolean", about="true: it runs beside the session"),
    _EFFORT,
    Field("isolation", "string", choices=("worktree",), about="`worktree`: it works on a copy of the repository"),
    Field("color", "string", choices=_COLORS, about="its colour in the list of tasks"),
    Field("initialPrompt", "string", about="the first request where it is the main agent"),
)

CLAUDE_RULE: tuple[Field, ...] = (
    Field("paths", "anything", about="globs of the files that the rule is for; without it the rule is always loaded"),
)

CLAUDE_COMMAND: tuple[Field, ...] = (
    Field("name", "string", about="its name in listings"),
    DESCRIPTION,
    Field("when_to_use", "string", about="when to use it, beside its description"),
    _HINT,
    Field("arguments", "anything", about="the names of its arguments"),
    Field("disable-model-invocation", "boolean", about="true: only a user starts it, never the model"),
    Field("user-invocable", "boolean", about="false: users do not see it among their commands"),
    Field("allowed-tools", "anything", about="the tools that may be used without asking"),
    Field("disallowed-tools", "anything", about="the tools that may not be used meanwhile"),
    _MODEL,
    _EFFORT,
    Field("context", "string", choices=("fork",), about="`fork`: it runs in a context of its own"),
    Field("agent", "string", about="the agent that carries it out, where `context` is `fork`"),
    Field("background", "boolean", about="false: the turn waits for a forked one"),
    Field("hooks", "anything", about="commands that run around it"),
    Field("paths", "anything", about="globs of the files with which the model may load it"),
    Field("shell", "string", choices=("bash", "powershell"), about="the shell of its commands"),
    Field("metadata", "anything", about="data for other tools"),
    Field("license", "string", about="the name of a licence"),
    Field("compatibility", "string", about="what it requires"),
)

COPILOT_AGENT: tuple[Field, ...] = (
    Field("name", "string", about="the name by which users and other agents call it"),
    DESCRIPTION,
    Field("target", "string", choices=("vscode", "github-copilot"), about="the client that it is meant for"),
    _TOOLS,
    Field("model", "anything", about="the model that answers, or several in the order in which they are tried"),
    Field("disable-model-invocation", "boolean", about="true: only a user starts it"),
    Field("user-invocable", "boolean", also="user-invokable", about="false: users do not see it"),
    Field("infer", "boolean", about="retired in favour of the two fields above"),
    Field("mcp-servers", "anything", about="the MCP servers whose tools it has"),
    Field("metadata", "anything", about="data for other tools"),
    _HINT,
    Field("handoffs", "anything", about="agents that may take over when this one ends"),
    Field("agents", "anything", about="the agents that it may call"),
    Field("hooks", "anything", about="commands that run around it"),
)

COPILOT_INSTRUCTIONS: tuple[Field, ...] = (
    Field("applyTo", "anything", about="globs of the files that the instructions are for, with commas between them"),
    Field("name", "string", about="the name of the instructions"),
    DESCRIPTION,
    Field("excludeAgent", "anything", about="the agent of GitHub that does not read them"),
)

COPILOT_PROMPT: tuple[Field, ...] = (
    DESCRIPTION,
    Field("name", "string", about="the name of the command"),
    _HINT,
    Field("agent", "string", about="the agent that carries it out"),
    Field("mode", "string", about="the older name of `agent`"),
    Field("model", "anything", about="the name of the model that answers"),
    _TOOLS,
)

CURSOR_RULE: tuple[Field, ...] = (
    DESCRIPTION,
    Field("globs", "anything", about="globs of the files that the rule is for"),
    Field("alwaysApply", "boolean", about="true: the rule is part of every conversation"),
)

GEMINI_AGENT: tuple[Field, ...] = (
    Field("name", "string", required=True, wanted="a name", about="the name of the tool that the agent becomes"),
    Field("description", "string", about="when to use it"),
    Field("kind", "string", choices=("local", "remote"), about="where it runs"),
    Field("display_name", "string", about="its name for people"),
    Field("tools", "strings", about="the tools that it may use"),
    Field("mcp_servers", "mapping", also="mcpServers", about="MCP servers for it alone"),
    _MODEL,
    Field("temperature", "number", about="from 0 to 2"),
    Field("max_turns", "integer", about="after how many turns it returns"),
    Field("timeout_mins", "integer", about="after how many minutes it ends"),
    Field("agent_card_url", "string", about="where a remote agent describes itself"),
    Field("agent_card_json", "string", about="the description of a remote agent"),
    Field("auth", "mapping", about="how a remote agent knows its callers"),
)

TYPES = ("stdio", "http", "sse", "ws", "streamable-http", "local")
"""How hosts reach a server."""

SERVER: tuple[Field, ...] = (
    Field("type", "text", choices=TYPES, about="how the server is reached"),
    Field("command", "text", about="the program that is started"),
    Field("args", "texts", about="its arguments"),
    Field("env", "mapping", about="its environment"),
    Field("url", "text", about="the address of a server elsewhere"),
    Field("headers", "mapping", about="headers of the requests to it"),
)

_OWNER: tuple[Field, ...] = (
    Field("name", "text", required=True, about="the name of a person or team"),
    Field("email", "text", about="where to write to"),
    Field("url", "text", about="a page about them"),
)
_ABOUT: tuple[Field, ...] = (
    Field("$schema", "text", about="the JSON Schema for editors"),
    Field("displayName", "text", about="the name for people"),
    Field("version", "text", about="the version"),
    Field("description", "text", about="what it is for"),
    Field("author", "mapping", inner=_OWNER, about="who made it"),
    Field("homepage", "text", about="a page about it"),
    Field("repository", "anything", about="where its source is"),
    Field("license", "text", about="the name of a licence"),
    Field("keywords", "texts", about="words by which it is found"),
    Field("metadata", "anything", about="data for other tools"),
    Field("defaultEnabled", "boolean", about="false: it is installed switched off"),
)
PARTS: tuple[Field, ...] = (
    Field("skills", "anything", about="folders of skills"),
    Field("commands", "anything", about="files or folders of commands"),
    Field("agents", "anything", about="files of agents"),
    Field("workflows", "anything", about="files or folders of workflows"),
    Field("hooks", "anything", about="hooks, or files with them"),
    Field("mcpServers", "anything", about="MCP servers, or files with them"),
    Field("outputStyles", "anything", about="files of output styles"),
    Field("lspServers", "anything", about="language servers, or files with them"),
)
PLUGIN: tuple[Field, ...] = (
    Field("name", "text", required=True, wanted="a name", about="the name of the plugin"),
    *_ABOUT,
    *PARTS,
    Field("themes", "anything", about="colour themes"),
    Field("monitors", "anything", about="monitors"),
    Field("experimental", "anything", about="parts whose form may change"),
    Field("userConfig", "mapping", about="values that users are asked for"),
    Field("channels", "anything", about="channels of messages"),
    Field("dependencies", "anything", about="other plugins that it needs"),
    Field("settings", "anything", about="settings that it brings"),
)
ENTRY: tuple[Field, ...] = (
    Field("name", "text", required=True, wanted="a name", about="the name of the plugin"),
    Field("source", "anything", required=True, wanted="a path or a source", about="where the plugin is"),
    *_ABOUT,
    *PARTS,
    Field("category", "text", about="the category"),
    Field("tags", "texts", about="words by which it is found"),
    Field("strict", "boolean", about="false: this entry is the manifest"),
    Field("relevance", "anything", about="when it is suggested"),
    Field("dependencies", "anything", about="other plugins that it needs"),
)
MARKETPLACE: tuple[Field, ...] = (
    Field("$schema", "text", about="the JSON Schema for editors"),
    Field("name", "text", required=True, wanted="a name", about="the name of the marketplace"),
    Field("owner", "mapping", required=True, inner=_OWNER, about="who maintains it"),
    Field("plugins", "mappings", required=True, about="the plugins"),
    Field("description", "text", about="what it is for"),
    Field("version", "text", about="its version"),
    Field("metadata", "anything", about="`pluginRoot` is the folder of the plugins"),
    Field("allowCrossMarketplaceDependenciesOn", "anything", about="marketplaces that its plugins may depend on"),
    Field("forceRemoveDeletedPlugins", "boolean", about="true: deleted plugins are removed from users"),
    Field("renames", "mapping", about="new names of plugins"),
)

PERMISSIONS: tuple[Field, ...] = (
    Field("allow", "texts", about="what is done without asking"),
    Field("ask", "texts", about="what is asked for each time"),
    Field("deny", "texts", about="what is refused"),
    Field("additionalDirectories", "texts", about="further folders that may be worked in"),
    Field("defaultMode", "text", choices=_MODES, about="how permission is asked for"),
    Field(
        "disableBypassPermissionsMode", "text", choices=("disable",), about="`disable`: permission is always asked for"
    ),
)
_EVENTS = (
    "SessionStart Setup UserPromptSubmit UserPromptExpansion PreToolUse PermissionRequest PermissionDenied PostToolUse"
    " PostToolUseFailure PostToolBatch Notification MessageDisplay SubagentStart SubagentStop TaskCreated TaskCompleted"
    " Stop StopFailure TeammateIdle InstructionsLoaded ConfigChange CwdChanged DirectoryAdded FileChanged"
    " WorktreeCreate WorktreeRemove PreCompact PostCompact Elicitation ElicitationResult SessionEnd"
)
HOOKS: tuple[Field, ...] = tuple(Field(name, "mappings", about="hooks of this event") for name in _EVENTS.split())
SETTINGS: tuple[Field, ...] = (
    Field("permissions", "mapping", inner=PERMISSIONS, about="which tools may be used"),
    Field("hooks", "mapping", inner=HOOKS, about="commands that run around tools and sessions"),
    Field("env", "string-map", about="variables of the environment"),
    Field("model", "text", about="the model that answers"),
    Field("sandbox", "mapping", about="how commands are isolated"),
    Field("enabledPlugins", "mapping", about="plugins that are switched on or off"),
    Field("cleanupPeriodDays", "number", about="after how many days conversations are deleted"),
)

TWINS = (
    ("globs", "applyTo", "paths"),
    ("tools", "allowed-tools", "allowedTools", "allowed_tools"),
    ("disallowedTools", "disallowed-tools"),
    ("user-invocable", "user-invokable"),
)
"""Fields that mean the same to different hosts, or in different kinds of file."""

TABLES = (
    *(CLAUDE_AGENT, CLAUDE_RULE, CLAUDE_COMMAND, COPILOT_AGENT, COPILOT_INSTRUCTIONS, COPILOT_PROMPT),
    *(CURSOR_RULE, GEMINI_AGENT),
)
"""Every table of front matter."""

ALL_NAMES = frozenset(field.name for table in TABLES for field in table)
"""The names of all fields of all hosts."""

GLOB_FIELDS = ("globs", "applyTo", "paths")
"""What hosts call the globs of the files that a rule is for: one host does not know the name of another."""

TOOL_FIELDS = ("tools", "disallowedTools", "allowed-tools", "disallowed-tools")
"""The fields with names of tools."""
