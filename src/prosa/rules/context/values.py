"""Values that a host does not have: tools, models, servers, files of a plugin."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.context.hosts import CLAUDE, GEMINI, HOSTS, Host
from prosa.dialects.context.manifests import untyped_servers
from prosa.dialects.context.model import ContextModel, Named
from prosa.dialects.fields import shown
from prosa.regex import regex
from prosa.rules.context import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source.files import is_there

REPORTED = (
    RULES.reported("CX013", "unstartable-server", Severity.WARNING),
    RULES.reported("CX017", "duplicate-plugin", Severity.WARNING),
)
"""What readers report by name."""

_NAME = regex(r"[\w*-]+")


@RULES.document("CX011", "unknown-host-tool", Severity.WARNING)
def unknown_host_tool(subject: Subject[ContextModel]) -> Iterator[Finding]:
    """Find a tool that the host of the file does not have. The finding points at the name. Tools of MCP servers, and
    those of hosts that take any name, are not judged."""
    host = _own_host(subject.model)
    for tool in subject.model.tools if host is not None and host.tools else ():
        assert host is not None
        match = _NAME.match(tool.text)
        name = match[0] if match else tool.text
        if not name or name in host.tools or name.startswith(host.other_tools):
            continue
        yield _unknown_tool(host, tool, name)


def _own_host(model: ContextModel) -> Host | None:
    """Return the host in whose folder a file is."""
    return model.uses[0].host if model.uses else None


def _unknown_tool(host: Host, tool: Named, name: str) -> Finding:
    message = f"{host.title} has no tool `{shown(name)}`"
    guess = nearest(name, host.tools, cutoff=0.75) or _TWINS[host.name].get(name.lower())
    if guess and "mcp" not in name.lower():
        notes = (f"did you mean `{guess}`?",)
        return Finding(message, tool.span, notes, misspelling=Misspelling(name, guess))
    other = next((candidate.title for candidate in HOSTS if candidate is not host and name in candidate.tools), None)
    if other is not None:
        return Finding(message, tool.span, (f"it is a tool of {other}",))
    strict = host is GEMINI
    return Finding(message, tool.span, (), severity=Severity.WARNING if strict else Severity.INFO)


_TWINS: dict[str, dict[str, str]] = {
    "claude": {"read_file": "Read", "write_file": "Write", "shell": "Bash", "search": "Grep", "web_fetch": "WebFetch"},
    "gemini": {"read": "read_file", "write": "write_file", "bash": "run_shell_command", "grep": "grep_search"},
}
"""What tools of other hosts are called here."""


@RULES.document("CX012", "unknown-host-model", Severity.WARNING)
def unknown_host_model(subject: Subject[ContextModel]) -> Iterator[Finding]:
    """Find a model that the host of the file does not have. The finding points at the value. Hosts that take any name
    are not judged."""
    model = subject.model
    entry = model.fields.entry("model") if model.fields is not None and _own_host(model) is CLAUDE else None
    if entry is None or model.path.endswith(".json"):
        return
    name = entry.value.span.of(subject.source.text).strip("'\"").strip()
    if not name or name in CLAUDE.models or "/" in name or ":" in name or name.startswith(CLAUDE.other_models):
        return
    if not _NAME.match(name):
        return
    guess = nearest(name, CLAUDE.models)
    notes = (f"did you mean `{guess}`?",) if guess else ("it takes an alias such as `sonnet`, or a full name",)
    meant = Misspelling(name, guess) if guess else None
    yield Finding(f"Claude Code has no model `{shown(name)}`", entry.value.span, notes, misspelling=meant)


@RULES.document("CX019", "server-without-type", Severity.WARNING)
def server_without_type(subject: Subject[ContextModel]) -> Iterator[Finding]:
    """Find a server with a `url` and no `type` in `.mcp.json`, which Claude Code passes over. The finding points at its
    name. Beside the manifest of a plugin of another host it is not judged."""
    model = subject.model
    if not model.path.endswith(".mcp.json") or subject.path is None:
        return
    folder = subject.path.parent
    if subject.files is not None and any(subject.files.exists(folder / plugin) for plugin in _OTHER_PLUGINS):
        return
    for server in untyped_servers(model):
        message = f"the server `{shown(server.text)}` has a `url` and no `type`: Claude Code skips it"
        yield Finding(message, server.span, ('add `"type": "http"`, or `"sse"`',))


_OTHER_PLUGINS = ("plugin.json", ".github/plugin", ".codex-plugin")
"""What the folder of a plugin of another host holds."""


@RULES.document("CX014", "missing-plugin-path", Severity.WARNING)
def missing_plugin_path(subject: Subject[ContextModel]) -> Iterator[Finding]:
    """Find a file or folder that a manifest names and that does not exist. The finding points at the path, which is
    relative to the folder around `.claude-plugin`."""
    files = subject.files
    if files is None or not subject.model.paths or subject.path is None:
        return
    root = subject.path.parent.parent
    for named in subject.model.paths:
        path = root / named.text
        if "*" not in named.text and files.inside_root(path) and not is_there(files, path, named.text):
            yield Finding(f"`{shown(named.text)}` does not exist", named.span, (_FROM_ROOT,))


_FROM_ROOT = "a path of a manifest starts at the folder that holds `.claude-plugin`"
