"""Programs that a very small model can answer, and runs of them, in this process and in others."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import Any

import msgspec

import prosa
from prosa.adapters.embedded.engine import engine_of, plan_of
from prosa.adapters.embedded.weights import model_in
from prosa.app.run.embedded import EmbeddedProvider
from prosa.data import Value
from prosa.runtime.messages import Message, ModelRequest, OutputFormat
from tests import warm
from tests.adapters.embedded.presence import weights

AGREED = {"MARKDOWNLANG_AGREE": "Trans rights are human rights"}
BRIEF = {"type": "string", "maxLength": 20}
NAME_AND_EUROS = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 30}, "euros": {"type": "integer"}},
    "required": ["name", "euros"],
    "additionalProperties": False,
}
TEXT = """\
---
name: {name}
description: {does}
input: {{type: object, properties: {{text: {{type: string}}}}, required: [text]}}
{output}---
{does}

{{{{ .text }}}}
"""


def program(folder: Path, does: str, output: Value, *, name: str = "small", more: str = "") -> Path:
    """Write a program; ``output`` is its schema, ``more`` further lines of its front matter."""
    lines = f"output: {msgspec.json.encode(output).decode()}\n{more}"
    path = folder / f"{name}.md"
    path.write_text(TEXT.format(name=name, does=does, output=lines), encoding="utf-8")
    return path


def letter(folder: Path) -> Path:
    """Write the program that reads a name and a sum out of a letter."""
    return program(folder, "Extract the name of the person and the number of euros.", NAME_AND_EUROS, name="letter")


def short(folder: Path) -> Path:
    """Write a program whose prompt and answer are as short as any, for tests that are not about either."""
    return program(folder, "Name it.", {"enum": ["Ada", "Bob"]})


def answered(schema: Any, question: str, most: int = 60) -> str:
    """What the model writes when it is held by a schema of which the question says nothing."""

    async def ask() -> str:
        model = model_in(weights())
        provider = EmbeddedProvider(engine_of(model, plan_of(model), os.environ), str, completion=False)
        output = OutputFormat("output", {"type": "object"}, strict=False)
        messages = (Message("user", question),)
        request = ModelRequest("m", messages, output=output, schema=schema, max_output=most)
        try:
            return (await provider.complete(request)).content
        finally:
            await provider.aclose()

    return asyncio.run(ask())


def ran(path: Path, text: str, environ: Mapping[str, str], **options: Any) -> prosa.RunResult:
    """Run a program in this process, whose engine all tests share."""
    given = {"model": "embedded", "environ": environ, **options}
    return prosa.run(path, {"text": text}, **given)


def started(*words: str | Path, environ: Mapping[str, str], **more: Any) -> subprocess.Popen[str]:
    """Start the command line in a process of its own, in a group of its own."""
    command = [sys.executable, "-m", "prosa", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "text": True}
    return warm.popen(command, env=dict(environ), start_new_session=True, **{**pipes, **more})


def finished(*words: str | Path, environ: Mapping[str, str]) -> tuple[int, str, str]:
    """Run the command line and give its exit status and what it wrote."""
    process = started(*words, environ=environ)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def engines_below(pid: int) -> list[int]:
    """The engines that a process started, or had started when it ended (those of no parent that is a Prosa)."""
    found = []
    for each in _below(pid):
        with suppress(OSError):
            if b"prosa.adapters.embedded.child" in Path(f"/proc/{each}/cmdline").read_bytes():
                found.append(each)
    return found


def _below(pid: int) -> list[int]:
    """The processes that each thread of a process started. To look through all processes costs more than an answer."""
    found: list[int] = []
    for each in glob(f"/proc/{pid}/task/*/children"):
        with suppress(OSError):
            found += map(int, Path(each).read_text().split())
    return found


def is_there(pid: int) -> bool:
    """Whether a process still runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
