"""The agents that are known, as data: how each is started without a terminal, told of the tap and given a skill.

In: a name of `AGENTS`. Out: a `KnownAgent`, whose functions write its settings. Every row was measured with the version
in it; agents change weekly, and a later one is used with a warning until `prosa agents --probe` tried it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final, Literal

from msgspec import Struct

from prosa.data import Value
from prosa.records.agent import WireName


class Setting(Struct, frozen=True):
    """What the settings of one attempt are written from: the tap's URL without a version, the token that stands for
    the key, the model, the wire and the agent's home as the agent sees it."""

    url: str
    token: str
    model: str
    wire: WireName
    home: str


class Load(Struct, frozen=True):
    """How a skill is loaded: a tool and its argument, which is the skill's name, or has the path of its file."""

    tool: str
    argument: str
    by: Literal["name", "file"] = "file"


class OwnHome(Struct, frozen=True):
    """How an agent runs with the user's own login: its arguments, and its own flags for caps, empty where none is."""

    arguments: tuple[str, ...]
    model: str = "--model"
    calls: str = ""
    money: str = ""


class KnownAgent(Struct, frozen=True):
    """One agent.

    ``command`` is its program, ``package`` the npm package, ``tried`` the oldest and newest version measured.
    ``form`` names its stream. ``wires`` are those that it can be made to speak, the default first. ``arguments`` start
    it in a fresh home; the request comes on standard input. ``environment`` and ``files`` are its settings, the files
    by path below the home. ``skills`` and ``home_skills`` are the folders it reads, the first being where Prosa lays
    them; ``context`` the files it reads at start, in its own order. ``listing`` is the pattern, with NAME for the name
    of a skill, of an entry with a description in a request. ``loads`` are the ways to load a skill, ``writes`` the
    tools that change files. ``budget`` says what its list has room for. ``brings`` are skills of its own. ``needs`` are
    programs that have to be on PATH. ``cache`` is the variable for the folder that it unpacks itself into, filled by
    asking for its version. ``request_bytes`` is the size of its first request, ``memory`` its peak in MB.
    """

    name: str
    title: str
    command: str
    package: str
    tried: tuple[str, str]
    licence: str
    supported: bool
    form: str
    wires: tuple[WireName, ...]
    arguments: Callable[[Setting], tuple[str, ...]]
    environment: Callable[[Setting], Mapping[str, str]]
    files: Callable[[Setting], Mapping[str, str]]
    skills: tuple[str, ...]
    home_skills: tuple[str, ...]
    context: tuple[str, ...]
    listing: str
    loads: tuple[Load, ...]
    writes: frozenset[str]
    budget: str
    brings: tuple[str, ...]
    own: OwnHome
    request_bytes: int
    memory: int
    needs: tuple[str, ...] = ()
    cache: str = ""
    as_root: Mapping[str, str] = {}

    def lists(self, name: str) -> re.Pattern[str]:
        """Return the pattern of a request's text in which the skill is offered."""
        return re.compile(self.listing.replace("NAME", re.escape(name)))

    def loaded(self, name: str, tool: str, arguments: Value) -> bool:
        """Return whether a tool call loads the skill."""
        if not isinstance(arguments, Mapping):
            return False
        return any(_loads(load, name, arguments.get(load.argument)) for load in self.loads if load.tool == tool)


def _loads(way: Load, name: str, argument: Value) -> bool:
    if way.by == "name":
        return isinstance(argument, str) and argument == name
    if isinstance(argument, list):
        argument = " ".join(word for word in argument if isinstance(word, str))
    file = rf"(?:^|[/\s'\"=]){re.escape(name)}/SKILL\.md(?![\w.-])"
    return isinstance(argument, str) and re.search(file, argument) is not None


def is_tried(agent: KnownAgent, version: str) -> bool:
    """Return whether a version lies between the oldest and the newest that were measured."""
    oldest, newest = (_numbers(bound) for bound in agent.tried)
    return oldest <= _numbers(version) <= newest


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _json(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)


def _none(setting: Setting) -> Mapping[str, str]:
    del setting
    return {}


# ---- the entry of a skill in a request ----

_TAGGED: Final = r"<name>\s*NAME\s*</name>\s*<description>\s*[^<\s]"
_CLAUDE_LISTING: Final = r"available for use with the Skill tool:(?:(?!</system-reminder>)[\s\S])*?\n- NAME: \S"
_CODEX_LISTING: Final = r"\n- NAME: [^\n]*\(file: [^)\n]*/SKILL\.md\)"


# ---- Claude Code ----


def _claude_arguments(setting: Setting) -> tuple[str, ...]:
    return (*_CLAUDE, "--strict-mcp-config", "--model", setting.model)


_CLAUDE: Final = ("-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions")


def _claude_environment(setting: Setting) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": setting.url,
        "ANTHROPIC_API_KEY": setting.token,
        "ANTHROPIC_MODEL": setting.model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


# ---- Codex ----


def _codex_arguments(setting: Setting) -> tuple[str, ...]:
    del setting
    return _CODEX


# Its own sandbox cannot start inside the box, and the box holds what it would.
_CODEX: Final = ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


def _codex_environment(setting: Setting) -> Mapping[str, str]:
    return {"PROSA_TAP_TOKEN": setting.token}


def _codex_files(setting: Setting) -> Mapping[str, str]:
    lines = (
        f"model = {_json(setting.model)}",
        'model_provider = "tap"',
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        "[model_providers.tap]",
        'name = "tap"',
        f"base_url = {_json(f'{setting.url}/v1')}",
        'wire_api = "responses"',
        'env_key = "PROSA_TAP_TOKEN"',
    )
    return {".codex/config.toml": "\n".join(lines) + "\n"}


# ---- Copilot ----

_COPILOT: Final = ("--allow-all-tools", "--allow-all-paths", "--output-format", "json", "--trust-folder")


def _copilot_arguments(setting: Setting) -> tuple[str, ...]:
    del setting
    return (*_COPILOT, "--no-auto-update")


def _copilot_environment(setting: Setting) -> Mapping[str, str]:
    kind = "anthropic" if setting.wire == "messages" else "openai"
    shape = {} if setting.wire == "messages" else {"COPILOT_PROVIDER_WIRE_API": _COPILOT_WIRES[setting.wire]}
    return {
        "COPILOT_PROVIDER_TYPE": kind,
        "COPILOT_PROVIDER_BASE_URL": setting.url if kind == "anthropic" else f"{setting.url}/v1",
        "COPILOT_PROVIDER_API_KEY": setting.token,
        "COPILOT_MODEL": setting.model,
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        **shape,
    }


_COPILOT_WIRES: Final = {"chat": "completions", "responses": "responses"}


# ---- pi ----


def _pi_arguments(setting: Setting) -> tuple[str, ...]:
    return ("--mode", "json", "-p", "--provider", "tap", "--model", setting.model)


def _pi_environment(setting: Setting) -> Mapping[str, str]:
    del setting
    return {"PI_OFFLINE": "1"}


def _pi_files(setting: Setting) -> Mapping[str, str]:
    url = setting.url if setting.wire == "messages" else f"{setting.url}{_PI_WIRES[setting.wire][1]}"
    provider: dict[str, Value] = {
        "baseUrl": url,
        "api": _PI_WIRES[setting.wire][0],
        "apiKey": setting.token,
        "models": [{"id": setting.model}],
    }
    return {".pi/agent/models.json": _json({"providers": {"tap": provider}})}


_PI_WIRES: Final = {
    "chat": ("openai-completions", "/v1"),
    "responses": ("openai-responses", "/v1"),
    "messages": ("anthropic-messages", ""),
    "gemini": ("google-generative-ai", "/v1beta"),
}


# ---- Gemini CLI and Qwen Code ----


def _gemini_arguments(setting: Setting) -> tuple[str, ...]:
    return ("--output-format", "stream-json", "--yolo", "-m", setting.model)


def _gemini_environment(setting: Setting) -> Mapping[str, str]:
    return {
        "GEMINI_API_KEY": setting.token,
        "GOOGLE_GEMINI_BASE_URL": setting.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _quiet(path: str, key: str, general: dict[str, Value]) -> Callable[[Setting], Mapping[str, str]]:
    """Return what makes the settings at a path: the kind of login, no updates and no usage statistics."""
    security: dict[str, Value] = {"auth": {"selectedType": key}}
    quiet: dict[str, Value] = {"security": security, "general": general, "privacy": {"usageStatisticsEnabled": False}}
    return lambda _: {path: _json(quiet)}


_gemini_files = _quiet(".gemini/settings.json", "gemini-api-key", {"disableAutoUpdate": True, "disableUpdateNag": True})
_qwen_files = _quiet(".qwen/settings.json", "openai", {"enableAutoUpdate": False, "disableAutoUpdate": True})


def _qwen_arguments(setting: Setting) -> tuple[str, ...]:
    del setting
    return ("--output-format", "stream-json", "--yolo", "--auth-type", "openai")


def _qwen_environment(setting: Setting) -> Mapping[str, str]:
    return {
        "OPENAI_API_KEY": setting.token,
        "OPENAI_BASE_URL": f"{setting.url}/v1",
        "OPENAI_MODEL": setting.model,
    }


# ---- OpenCode ----


def _opencode_arguments(setting: Setting) -> tuple[str, ...]:
    del setting
    return ("run", "--format", "json")


def _opencode_files(setting: Setting) -> Mapping[str, str]:
    provider: Value = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{setting.url}/v1", "apiKey": setting.token},
        "models": {setting.model: {}},
    }
    settings: Value = {
        "provider": {"tap": provider},
        "model": f"tap/{setting.model}",
        "permission": {"*": "allow"},
        "autoupdate": False,
        "share": "disabled",
    }
    return {".config/opencode/opencode.json": _json(settings)}


_ROWS: Final = (
    KnownAgent(
        name="claude",
        title="Claude Code",
        command="claude",
        package="@anthropic-ai/claude-code",
        tried=("2.1.197", "2.1.197"),
        licence="proprietary",
        supported=True,
        form="claude",
        wires=("messages",),
        arguments=_claude_arguments,
        environment=_claude_environment,
        files=_none,
        skills=(".claude/skills",),
        home_skills=(".claude/skills",),
        context=("CLAUDE.md",),
        listing=_CLAUDE_LISTING,
        loads=(Load("Skill", "skill", "name"), Load("Read", "file_path"), Load("Bash", "command")),
        writes=frozenset({"Write", "Edit", "NotebookEdit"}),
        budget="names only beyond about 16,000 characters of descriptions; a description is cut at 1,535",
        brings=(
            *("deep-research", "update-config", "verify", "debug", "code-review", "simplify", "batch"),
            *("fewer-permission-prompts", "loop", "claude-api", "run", "run-skill-generator"),
        ),
        own=OwnHome(_CLAUDE, calls="--max-turns", money="--max-budget-usd"),
        request_bytes=125_000,
        memory=315,
        as_root={"IS_SANDBOX": "1"},
    ),
    KnownAgent(
        name="codex",
        title="Codex",
        command="codex",
        package="@openai/codex",
        tried=("0.169.0", "0.169.0"),
        licence="Apache-2.0",
        supported=True,
        form="codex",
        wires=("responses",),
        arguments=_codex_arguments,
        environment=_codex_environment,
        files=_codex_files,
        skills=(".agents/skills", ".codex/skills"),
        home_skills=(".agents/skills", ".codex/skills"),
        context=("AGENTS.md",),
        listing=_CODEX_LISTING,
        loads=(Load("exec_command", "cmd"), Load("shell", "command"), Load("shell_command", "command")),
        writes=frozenset({"apply_patch"}),
        budget="every name; descriptions are cut to about 155 characters where there are a hundred, to 1,021 alone",
        brings=("imagegen", "openai-docs", "skill-creator", "skill-installer"),
        own=OwnHome(_CODEX),
        request_bytes=40_000,
        memory=154,
    ),
    KnownAgent(
        name="copilot",
        title="GitHub Copilot CLI",
        command="copilot",
        package="@github/copilot",
        tried=("1.0.102", "1.0.102"),
        licence="proprietary",
        supported=True,
        form="copilot",
        wires=("chat", "responses", "messages"),
        arguments=_copilot_arguments,
        environment=_copilot_environment,
        files=_none,
        skills=(".github/skills", ".agents/skills", ".claude/skills"),
        home_skills=(".copilot/skills", ".agents/skills"),
        context=(".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"),
        listing=_TAGGED,
        loads=(Load("skill", "skill", "name"), Load("view", "path"), Load("bash", "command")),
        writes=frozenset({"create", "edit", "apply_patch"}),
        budget="about 29 descriptions of 400 characters, then names only; one of 3,000 characters is left out",
        brings=("customize-cloud-agent", "github-pr-media"),
        own=OwnHome(_COPILOT),
        request_bytes=49_000,
        memory=346,
        cache="COPILOT_PKG_CACHE_HOME",
    ),
    KnownAgent(
        name="pi",
        title="pi",
        command="pi",
        package="@earendil-works/pi-coding-agent",
        tried=("0.74.2", "0.74.2"),
        licence="MIT",
        supported=True,
        form="pi",
        wires=("chat", "responses", "messages", "gemini"),
        arguments=_pi_arguments,
        environment=_pi_environment,
        files=_pi_files,
        skills=(".pi/skills", ".agents/skills"),
        home_skills=(".pi/agent/skills", ".agents/skills"),
        context=("AGENTS.md", "CLAUDE.md"),
        listing=_TAGGED,
        loads=(Load("read", "path"), Load("bash", "command")),
        writes=frozenset({"write", "edit"}),
        budget="everything",
        brings=(),
        own=OwnHome(("--mode", "json", "-p")),
        request_bytes=6_600,
        memory=177,
    ),
    KnownAgent(
        name="gemini",
        title="Gemini CLI",
        command="gemini",
        package="@google/gemini-cli",
        tried=("0.61.0", "0.61.0"),
        licence="Apache-2.0",
        supported=False,
        form="gemini",
        wires=("gemini",),
        arguments=_gemini_arguments,
        environment=_gemini_environment,
        files=_gemini_files,
        skills=(".agents/skills", ".gemini/skills"),
        home_skills=(".agents/skills", ".gemini/skills"),
        context=("GEMINI.md",),
        listing=_TAGGED,
        loads=(
            Load("activate_skill", "name", "name"),
            Load("read_file", "file_path"),
            Load("read_file", "absolute_path"),
            Load("run_shell_command", "command"),
        ),
        writes=frozenset({"write_file", "replace"}),
        budget="everything",
        brings=("skill-creator", "antigravity-support"),
        own=OwnHome(("--output-format", "stream-json", "--yolo"), model="-m"),
        request_bytes=50_000,
        memory=288,
    ),
    KnownAgent(
        name="qwen",
        title="Qwen Code",
        command="qwen",
        package="@qwen-code/qwen-code",
        tried=("0.15.10", "0.15.10"),
        licence="Apache-2.0",
        supported=False,
        form="qwen",
        wires=("chat",),
        arguments=_qwen_arguments,
        environment=_qwen_environment,
        files=_qwen_files,
        skills=(".qwen/skills", ".agents/skills"),
        home_skills=(".qwen/skills", ".agents/skills"),
        context=("QWEN.md", "AGENTS.md"),
        listing=_TAGGED,
        loads=(
            Load("skill", "skill", "name"),
            Load("read_file", "file_path"),
            Load("read_file", "absolute_path"),
            Load("run_shell_command", "command"),
        ),
        writes=frozenset({"write_file", "edit"}),
        budget="everything",
        brings=("batch", "loop", "qc-helper", "review"),
        own=OwnHome(("--output-format", "stream-json", "--yolo"), model="-m", calls="--max-session-turns"),
        request_bytes=79_000,
        memory=715,
    ),
    KnownAgent(
        name="opencode",
        title="OpenCode",
        command="opencode",
        package="opencode-ai",
        tried=("1.18.33", "1.18.33"),
        licence="MIT",
        supported=False,
        form="opencode",
        wires=("chat",),
        arguments=_opencode_arguments,
        environment=_none,
        files=_opencode_files,
        skills=(".agents/skills", ".claude/skills", ".opencode/skills"),
        home_skills=(".agents/skills", ".claude/skills", ".opencode/skills", ".config/opencode/skills"),
        context=("AGENTS.md", "CLAUDE.md"),
        listing=_TAGGED,
        loads=(Load("skill", "name", "name"), Load("read", "filePath"), Load("bash", "command")),
        writes=frozenset({"write", "edit", "patch"}),
        budget="everything",
        brings=("customize-opencode",),
        own=OwnHome(("run", "--format", "json")),
        request_bytes=41_000,
        memory=620,
        # Its skill tool lists the folder with ripgrep, which it would download.
        needs=("rg",),
    ),
)

AGENTS: Final[Mapping[str, KnownAgent]] = {agent.name: agent for agent in _ROWS}
"""The agents by name, the supported ones first."""
