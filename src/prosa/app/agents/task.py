"""What an agent is asked to do, and what came of it: the values between suites, recordings and the agents themselves.

In: the user's choice of agents. Out: tasks and results. A source of results is an agent that runs here, or what was
recorded of one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, cast

from msgspec import Struct
from msgspec.json import encode

from prosa.app.options import AgentKeywords
from prosa.records.agent import AgentTrace
from prosa.runtime.errors import RunError

DEFAULT_TIMEOUT = 300.0
"""Seconds of one attempt."""

DEFAULT_CALLS = 40
"""Model calls of one attempt."""


class AgentRefused(RunError):
    """An agent that cannot be used as the user asked: not installed, not isolated, a flag that cannot hold. Refused
    before anything starts."""

    is_wrong_use = True


class AgentChoice(Struct, frozen=True):
    """An agent that the user named, and the model that it uses; None for the default of the agent."""

    name: str
    model: str | None = None

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.name if self.model is None else f"{self.name}:{self.model}"


class AgentOptions(Struct, frozen=True):
    """The user's options for agents (X36). ``trust`` allows an agent without isolation; ``home`` is a fresh folder or
    the user's own, with their login. ``timeout`` seconds and ``max_calls`` model calls bound each attempt.
    ``workspace_out`` is the folder in which workspaces are kept."""

    agents: tuple[AgentChoice, ...] = ()
    trust: bool = False
    home: Literal["fresh", "user"] = "fresh"
    timeout: float = DEFAULT_TIMEOUT
    max_calls: int = DEFAULT_CALLS
    workspace_out: Path | None = None


class SkillFolder(Struct, frozen=True):
    """A skill as an agent gets it: its name, description and folder. ``digest`` is that of all its files."""

    name: str
    folder: Path
    description: str = ""
    digest: str = ""


class AgentTask(Struct, frozen=True):
    """One attempt that is asked of an agent. ``case`` and ``repeat``, counted from 1, with ``side`` name it in
    recordings. ``skills`` are laid where the agent looks for them; ``files`` are laid in the workspace: the content's
    path and its place. With ``triggers`` the attempt ends once a skill was loaded."""

    agent: AgentChoice
    case: str
    repeat: int
    side: str
    prompt: str
    skills: tuple[SkillFolder, ...] = ()
    files: tuple[tuple[Path, str], ...] = ()
    triggers: bool = False
    classified: bool = False

    @property
    def key(self) -> str:
        """The digest of everything but the agent's version and settings that the attempt depends on."""
        skills = [(skill.name, skill.digest) for skill in self.skills]
        files = [(hashlib.sha256(path.read_bytes()).hexdigest(), place) for path, place in self.files]
        parts = [self.agent, self.case, self.repeat, self.side, self.prompt, skills, files, self.triggers]
        return hashlib.sha256(encode(parts, order="deterministic")).hexdigest()


class AgentResult(Struct, frozen=True):
    """What came of a task. ``content`` returns the new content of a changed file by its digest, None where it was not
    kept; ``remembered`` says that the agent was not asked now."""

    trace: AgentTrace
    content: Callable[[str], bytes | None]
    remembered: bool = False


class AgentSource(Protocol):
    """What gives the results of tasks: agents that run, or recordings."""

    @property
    def at_once(self) -> int:
        """The number of attempts that may run at the same time."""
        ...

    def about(self, agent: AgentChoice) -> str:
        """Return what else an attempt of an agent depends on: its version, its settings, the service."""
        ...

    async def attempt(self, task: AgentTask) -> AgentResult:
        """Return what came of a task. Raises `RunError` for a recording that is missing or does not fit."""
        ...


def agent_choices(texts: tuple[str, ...], model: str | None = None) -> tuple[AgentChoice, ...]:
    """Return the agents that the user named as ``NAME`` or ``NAME:MODEL``, each once; ``model`` is for those without
    one. Raises `AgentRefused` for an empty name."""
    chosen: dict[AgentChoice, None] = {}
    for text in texts:
        name, colon, own = text.strip().partition(":")
        if not name or (colon and not own):
            raise AgentRefused(f"--agent {text!r} names no agent", hint="as in: --agent claude, --agent pi:MODEL")
        chosen[AgentChoice(name, own or model)] = None
    return tuple(chosen)


def agent_options(arguments: Mapping[str, object], models: Sequence[str] = ()) -> AgentOptions:
    """Return the options of keywords; ``models`` are tried with each agent that names none."""
    keywords = cast("AgentKeywords", arguments)  # the parser of the command makes them of these keywords
    texts = keywords.get("agents") or ()
    named = (texts,) if isinstance(texts, str) else tuple(texts)
    agents = dict.fromkeys(choice for model in models or (None,) for choice in agent_choices(named, model))
    out = keywords.get("workspace_out")
    return AgentOptions(
        agents=tuple(agents),
        trust=bool(keywords.get("trust_agent")),
        home=keywords.get("agent_home") or "fresh",
        timeout=keywords.get("agent_timeout") or DEFAULT_TIMEOUT,
        max_calls=keywords.get("max_calls") or DEFAULT_CALLS,
        workspace_out=None if out is None else Path(out),
    )


def is_offered(trace: AgentTrace, name: str) -> bool | None:
    """Return whether a skill was offered to the model; None where that was not seen."""
    if name in trace.loaded:
        return True
    return None if trace.listed is None else name in trace.listed
