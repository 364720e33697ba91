"""`prosa chat` called in this process, and a model that says its reply in steps while the test does other things."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.providers.scripted import ScriptedProvider
from prosa.cli.main import main
from prosa.runtime.messages import ModelReply, ModelRequest
from tests import warm
from tests.cli.desk import desk
from tests.compiled import lend_compiled

ASK = "### @user:\n\nHi.\n"


@dataclass(frozen=True)
class Done:
    """What a command gave."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class User:
    """Somebody with a folder that is a project, settings and caches of their own."""

    folder: Path

    @property
    def path(self) -> Path:
        """Their chat."""
        return self.folder / "chat.md"

    @property
    def text(self) -> str:
        """What is in it."""
        return self.path.read_bytes().decode()

    def write(self, text: str) -> None:
        """Puts something in it."""
        self.path.write_bytes(text.encode())

    def script(self, *replies: Any) -> str:
        """A model that plays these replies."""
        rows = [each if isinstance(each, dict) else {"content": each} for each in replies]
        path = self.folder / "replies.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return f"scripted:{path}"

    @property
    def environ(self) -> dict[str, str]:
        """Their environment."""
        places = {name: str(self.folder / name.lower()) for name in ("HOME", "PROSA_CONFIG_DIR", "PROSA_CACHE_DIR")}
        (self.folder / "home").mkdir(exist_ok=True)
        lend_compiled(Path(places["PROSA_CACHE_DIR"]))
        return {**places, "TERM": "xterm"}

    def chat(self, *argv: str | Path, typed: str = "", terminal: bool = False, file: Path | None = None) -> Done:
        """Calls the command on their chat."""
        (self.folder / "prosa.toml").touch()
        at = desk(typed, self.environ, terminal=terminal)
        status = main(["chat", str(file or self.path), *map(str, argv)], at.console)
        return Done(status, at.out, at.err)


@contextmanager
def started_chat(user: User, *argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command as a process of its own, with nothing on its standard input; ended with the block at the latest."""
    (user.folder / "prosa.toml").touch()
    command = [sys.executable, "-m", "prosa", "chat", str(user.path), *argv]
    environ = {**user.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with warm.popen(command, env=environ, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


Step = str | Callable[[], None] | Exception


@dataclass
class Talker:
    """A model that says pieces, and between them does what a test wants."""

    steps: Sequence[Step]
    requests: list[ModelRequest] = field(default_factory=list)

    async def complete(self, request: ModelRequest, on_text: Callable[[str], None] | None = None) -> ModelReply:
        """One reply."""
        self.requests.append(request)
        said = ""
        for step in self.steps:
            await asyncio.sleep(0)
            if isinstance(step, Exception):
                raise step
            if isinstance(step, str):
                said += step
                if on_text is not None:
                    on_text(step)
            else:
                step()
        return ModelReply(said)


def talking(monkeypatch: pytest.MonkeyPatch, *steps: Step) -> Talker:
    """Every scripted model says this."""
    talker = Talker(steps)

    async def complete(
        self: ScriptedProvider, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        del self
        return await talker.complete(request, on_text)

    monkeypatch.setattr(ScriptedProvider, "complete", complete)
    return talker
