"""Attempts of agents in files: what regrading needs, without the agent, a model or a key (X36).

    DIR/agents/claude/with-the-skill/<case>-<repeat>-<digest>.json     one attempt: its key, its trace
    DIR/agents/files/<sha256>                                          contents of changed files, each once

In: tasks and results. Out: files, written whole or not at all, and results read from them. Seconds are kept for people
and are no part of what is compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from msgspec import DecodeError, Struct, convert, to_builtins
from msgspec.json import decode, encode
from msgspec.json import format as indented

from prosa.adapters.files import replace_file
from prosa.app.agents.task import AgentChoice, AgentResult, AgentTask
from prosa.app.options import Record, RecordingOptions
from prosa.app.run.recordings import mark_of
from prosa.data import Value
from prosa.records.agent import AgentTrace
from prosa.records.replay import Mark
from prosa.regex import regex
from prosa.runtime.errors import CassetteProblem
from prosa.source import FileProblem

FOLDER = "agents"
FILES = "files"
VERSION = 1
"""The form of the files."""

MAX_BYTES = 64 * 1024 * 1024
"""Bytes of one recorded attempt."""

_NO_NAME = regex(r"[^\w.-]+")
_MAX_NAME = 60


class RecordedAttempt(Struct, frozen=True, forbid_unknown_fields=False):
    """One attempt as its file has it. ``key`` is the digest of its task, ``prompt`` and ``skills`` what stood in it,
    for people and for a message about a difference."""

    prosa_agent_attempt: int
    key: str
    agent: str
    side: str
    case: str
    repeat: int
    prompt: str
    skills: Mapping[str, str]
    trace: AgentTrace


class RecordedAgents(Struct, frozen=True):
    """Meets `AgentSource` with the recordings of a folder."""

    folder: Path
    at_once: int = 64

    def about(self, agent: AgentChoice) -> str:
        """Return nothing: what is recorded is not kept again."""
        del agent
        return ""

    async def attempt(self, task: AgentTask) -> AgentResult:
        """Return what was recorded of a task. Raises `CassetteProblem` for an attempt that is not there, or that was
        one of another request or another skill."""
        path = self.folder / _place(task)
        attempt = _read(path)
        if attempt is None:
            message = f"{self.folder}: there is no recording of {task.case!r} #{task.repeat} with {task.agent.label}"
            raise CassetteProblem(message, hint="record it with --record")
        if attempt.key != task.key:
            raise CassetteProblem(f"{path}: {_difference(attempt, task)} since it was recorded", hint="record it again")
        return AgentResult(attempt.trace, self._content, remembered=True)

    def _content(self, digest: str) -> bytes | None:
        return _content(self.folder, digest)


def _difference(attempt: RecordedAttempt, task: AgentTask) -> str:
    if attempt.prompt != task.prompt:
        return "the request has changed"
    changed = [skill.name for skill in task.skills if attempt.skills.get(skill.name) != skill.digest]
    changed += [name for name in attempt.skills if name not in {skill.name for skill in task.skills}]
    return f"the skill {', '.join(changed)} has changed" if changed else "the files of the case have changed"


def recorded_agents(chosen: RecordingOptions | None) -> RecordedAgents | None:
    """Return the recordings that stand in for agents; None where agents run."""
    if chosen is None or chosen.replay is None:
        return None
    return RecordedAgents(chosen.replay.path)


def record_attempt(record: Record, task: AgentTask, result: AgentResult) -> Path:
    """Write an attempt, without the secrets that the user's patterns match, and return its file.

    Raises `CassetteProblem` for a classified skill without ``redact`` or ``force``, and for what cannot be written.
    """
    require_recordable(record, task)
    folder = record.path
    mark = mark_of(record.patterns) if record.patterns else None
    trace = result.trace
    try:
        for change in trace.changes:
            if change.digest and (content := result.content(change.digest)) is not None:
                if mark is not None and change.is_text:
                    content = mark(content.decode("utf-8", "replace")).encode()
                _write(folder / FOLDER / FILES / change.digest, content)
        if mark is not None:
            trace = convert(_marked(to_builtins(trace), mark), AgentTrace)
        skills = {skill.name: skill.digest for skill in task.skills}
        kept = RecordedAttempt(
            VERSION, task.key, task.agent.label, task.side, task.case, task.repeat, task.prompt, skills, trace
        )
        path = folder / _place(task)
        _write(path, indented(encode(kept, order="deterministic"), indent=1) + b"\n")
    except (OSError, FileProblem) as error:
        raise CassetteProblem(f"the attempt cannot be recorded below {folder}: {error}") from None
    return path


_NAMES = frozenset(("agent", "version", "model", "kind", "tool", "call", "digest", "end", "wire", "configuration"))
"""Fields of a trace that hold words of Prosa, of the agent and of the service, and no secret."""


def _marked(value: Value, mark: Mark) -> Value:
    if isinstance(value, str):
        return mark(value)
    if isinstance(value, dict):
        return {key: member if key in _NAMES else _marked(member, mark) for key, member in value.items()}
    return [_marked(item, mark) for item in value] if isinstance(value, list | tuple) else value


def require_recordable(record: Record, task: AgentTask) -> None:
    """Raise `CassetteProblem` for a classified skill that may not be recorded as the user asked (X25)."""
    if task.classified and not record.patterns and not record.force:
        message = f"{task.case!r} is about a skill that is confidential or secret, and is not recorded"
        raise CassetteProblem(message, hint="remove secrets with --redact PATTERN, or record it anyway with --force")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() and path.read_bytes() == content:
        return
    replace_file(path, content)


def _place(task: AgentTask) -> Path:
    """Return the file of an attempt below the folder of recordings."""
    name = f"{file_name(task.case)}-{task.repeat}-{hashlib.sha256(task.case.encode()).hexdigest()[:8]}.json"
    return Path(FOLDER, file_name(task.agent.label), file_name(task.side), name)


def file_name(text: str) -> str:
    """Return a text as the name of a file."""
    return _NO_NAME.sub("-", text)[:_MAX_NAME].strip("-.") or "other"


def _read(path: Path) -> RecordedAttempt | None:
    """Return a recorded attempt; None where there is none. Raises `CassetteProblem` for any other file."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CassetteProblem(f"{path}: it is larger than {MAX_BYTES // 1024 // 1024} MiB")
        attempt = decode(path.read_bytes(), type=RecordedAttempt)
    except FileNotFoundError:
        return None
    except (OSError, DecodeError) as error:
        raise CassetteProblem(f"{path}: it is not a recorded attempt: {error}", hint="record it again") from None
    if attempt.prosa_agent_attempt != VERSION:
        raise CassetteProblem(f"{path}: it has the form {attempt.prosa_agent_attempt}, and this Prosa reads {VERSION}")
    return attempt


def _content(folder: Path, digest: str) -> bytes | None:
    if len(digest) != 64 or not all(char in "0123456789abcdef" for char in digest):
        return None
    path = folder / FOLDER / FILES / digest
    try:
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None
    except OSError:
        return None
