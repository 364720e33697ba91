"""The composition root: what the user chose → adapters → a run. The only module that knows every adapter.

In: a path or a program, and `Choices`. Out: a loaded `Program`, a `World`, a `RunResult`. Trust and endpoints come from
the user alone (X7): flags, environment, user-level settings, never from a document.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from prosa.diagnostics import Problem, Severity
from prosa.runtime.errors import ProgramRefused, ProviderError, RunError
from prosa.runtime.events import Listener, ignore, tell
from prosa.runtime.limits import Limits

if TYPE_CHECKING:
    from prosa.runtime.ports import Clock, Provider, Sandbox, ToolServers
    from prosa.runtime.program import Program
    from prosa.runtime.summary import Summary, Tally
    from prosa.runtime.world import World
    from prosa.settings import Settings

DEFAULT_MODEL = "gpt-4o"
"""L35: the model where neither the user nor the program names one."""

LOCAL = "local"
SCRIPTED = "scripted:"

THREE_WAYS = (
    "Three ways on:\n"
    "- a key: set OPENAI_API_KEY\n"
    "- another server: --base-url URL, or a model server on this machine: --model local\n"
    "- fixed replies, without any model: --model scripted:FILE"
)
"""X17: what to do without key and base URL."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose for a run. None leaves the choice to the settings, the environment or the program.

    ``model`` wins over every program and may be ``local``, ``local:NAME`` or ``scripted:FILE`` (X16, X17);
    ``default_model`` loses to the program's own. ``api_key_env`` names the variable whose key may go to ``base_url``.
    """

    model: str | None = None
    default_model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    api: Literal["chat", "responses"] | None = None
    iterations: int | None = None
    wall_clock: float | None = None
    retries: int | None = None
    tool_result: int | None = None
    concurrency: int | None = None
    python_timeout: float | None = None
    python_memory: int | None = None
    root: Path | None = None
    max_size: int | None = None
    stream: bool = False

    @property
    def model_name(self) -> str | None:
        """The model name that overrides every program's, where there is one."""
        if self.model is None or self.model == LOCAL or self.model.startswith((SCRIPTED, f"{LOCAL}:")):
            return None
        return self.model


def _say_nothing(text: str) -> None:
    del text


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run gave: the validated output, and the summary of what it took."""

    output: Any
    summary: Summary


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a surface hands in: environment, settings, and the ways to say and ask something.

    ``ask`` is None where nobody can be asked; it gives whether the answer was yes.
    """

    environ: Mapping[str, str]
    settings: Settings
    notice: Callable[[str], None] = field(default=_say_nothing)
    ask: Callable[[str], bool] | None = None


def settings_for(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The user's settings, with those of the project that ``path`` belongs to (X7).

    Raises `RunError` with file and line when a settings file has errors: a choice is never dropped in silence.
    """
    from prosa.adapters.files import config_dir, find_root
    from prosa.settings import PROJECT_FILE, USER_FILE, Settings, merge, read_project_settings, read_user_settings

    user = _settings_in(config_dir(environ) / USER_FILE, read_user_settings)
    project = _settings_in(find_root(path) / PROJECT_FILE, read_project_settings) if path else None
    return merge(user or Settings(), project or Settings())


def _settings_in(path: Path, read: Callable[[str], tuple[Settings, tuple[Problem, ...]]]) -> Settings | None:
    from prosa.adapters.files import RootedFiles

    if not path.is_file():
        return None
    source = RootedFiles().read(path)
    settings, problems = read(source.text)
    wrong = next((each for each in problems if each.severity is Severity.ERROR), None)
    if wrong is not None:
        where = source.position(wrong.span.start)
        raise RunError(f"{path}:{where.line}:{where.column}: {wrong.message}", hint="\n".join(wrong.notes))
    return settings


def load_program(path: Path, choices: Choices, settings: Settings, *, to_run: bool = True) -> Program:
    """Reads a program with everything it imports (L6, L15).

    Raises `FileProblem`, and `ProgramRefused` when there are errors that stop a run, or with ``to_run`` False those
    that stop even rendering (LA2).
    """
    from prosa.adapters.files import MAX_DOCUMENT_BYTES, RootedFiles
    from prosa.rules.engine import check_program
    from prosa.runtime.lower.markdownlang import lower

    files = RootedFiles(choices.root, max_size=choices.max_size or settings.max_size or MAX_DOCUMENT_BYTES)
    checked = check_program(path, files, follow_outside_root=choices.root is None)
    errors = checked.stopping("run" if to_run else "render")
    if errors or checked.closure is None:
        raise ProgramRefused(errors)
    return lower(
        checked.closure,
        default_model=choices.default_model or settings.model_name or DEFAULT_MODEL,
        model=choices.model_name,
        base=replace(Limits(), **_set_in(settings)),
        chosen=_set_in(choices),
    )


LIMITS = ("iterations", "wall_clock", "retries", "tool_result", "concurrency", "python_timeout", "python_memory")


def _set_in(holder: Choices | Settings) -> dict[str, Any]:
    """The limits that flags or settings name."""
    return {name: value for name in LIMITS if (value := getattr(holder, name)) is not None}


async def run_program(
    program: Program,
    given: Any,
    choices: Choices,
    around: Surroundings,
    *,
    listener: Listener = ignore,
    provider: Provider | None = None,
    tally: Tally | None = None,
) -> RunResult:
    """Runs a loaded program. Raises `RunError`; ``tally`` then still knows what happened (L44)."""
    from prosa.runtime.execute import execute
    from prosa.runtime.program import with_model

    tally = tally or new_tally(program, around.settings)
    chosen = Chosen(provider) if provider else await choose_provider(choices, around)
    if chosen.model_name is not None:
        tally.program = program = with_model(program, chosen.model_name)
    async with open_world(program, choices, around, tell(tally, listener), chosen.provider) as world:
        output = await execute(program, given, world)
    return RunResult(output, tally.summary())


def clock() -> Clock:
    """The real clock."""
    from prosa.adapters.clock import SystemClock

    return SystemClock()


def servers(environ: Mapping[str, str], notice: Callable[[str], None] = _say_nothing) -> ToolServers:
    """What starts MCP servers; ``${NAME}`` in their environment is taken from ``environ`` (X18)."""
    from prosa.adapters.mcp import McpServers

    return McpServers(environ=environ, notice=notice)


def new_tally(program: Program, settings: Settings) -> Tally:
    """A summary that begins now."""
    from prosa.adapters.providers.prices import KnownPrices
    from prosa.runtime.summary import Tally

    return Tally(program, clock(), KnownPrices(settings.prices))


@asynccontextmanager
async def open_world(
    program: Program, choices: Choices, around: Surroundings, listener: Listener, provider: Provider
) -> AsyncIterator[World]:
    """The ports of a run, closed at the end whatever happens."""
    from prosa.adapters.providers.prices import KnownPrices
    from prosa.runtime.world import World

    sandbox = _sandbox(around) if program.uses_python else None
    try:
        yield World(
            provider=provider,
            clock=clock(),
            servers=servers(around.environ, around.notice),
            sandbox=sandbox,
            prices=KnownPrices(around.settings.prices),
            listener=listener,
            jitter=random.random,
            stream=choices.stream,
        )
    finally:
        if sandbox is not None:
            await sandbox.aclose()
        await provider.aclose()


def _sandbox(around: Surroundings) -> Sandbox | None:
    """The sandbox, or None with a warning where this machine has none (LA18)."""
    from prosa.adapters.files import cache_dir
    from prosa.adapters.sandbox import WasmSandbox, missing_part

    if missing := missing_part():
        around.notice(f"warning: the python tool is not offered: {missing}")
        return None
    return WasmSandbox(cache_dir(around.environ), notice=around.notice)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A provider, and the model name it brings where the user left that open (``--model local``)."""

    provider: Provider
    model_name: str | None = None


async def choose_provider(choices: Choices, around: Surroundings) -> Chosen:
    """The provider the user chose (X16, X17). Raises `ProviderError` with the three ways on when there is none."""
    model = choices.model or ""
    if model.startswith(SCRIPTED):
        from prosa.adapters.providers.scripted import ScriptedProvider

        return Chosen(ScriptedProvider(Path(model.removeprefix(SCRIPTED))))
    if model == LOCAL or model.startswith(f"{LOCAL}:"):
        return await _local(model.removeprefix(LOCAL).removeprefix(":") or None, choices)
    return await _remote(choices, around)


async def _local(name: str | None, choices: Choices) -> Chosen:
    from prosa.adapters.providers.local import find_local
    from prosa.adapters.providers.openai import OpenAIProvider

    server = await find_local(name)
    provider = OpenAIProvider(api_key=None, base_url=server.base_url, api=choices.api or "chat")
    return Chosen(provider, server.model_name)


async def _remote(choices: Choices, around: Surroundings) -> Chosen:
    from prosa.adapters.providers.key import choose_key
    from prosa.adapters.providers.openai import OpenAIProvider

    configured = around.environ.get("OPENAI_BASE_URL") or around.settings.base_url
    base_url = choices.base_url or configured
    named = choices.api_key_env or around.settings.key_variables.get(base_url or "")
    key = choices.api_key or choose_key(
        around.environ, base_url, configured=configured, named=named, notice=around.notice
    )
    if key is None and base_url is None:
        if around.ask is not None and around.ask("No key and no base URL. Look for a model server on this machine?"):
            return await _local(None, choices)
        message = "no model to ask: there is no key and no base URL"
        raise ProviderError(message, kind="missing", retryable=False, hint=THREE_WAYS)
    return Chosen(OpenAIProvider(api_key=key, base_url=base_url, api=choices.api or around.settings.api or "chat"))
