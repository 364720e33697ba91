"""Programs that a very small model can answer, and runs of them, in this process and in others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

import prosa
from prosa.data import Value
from tests import warm

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
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[1]) != pid:
                continue
            if b"prosa.adapters.embedded.child" in Path(f"/proc/{each}/cmdline").read_bytes():
                found.append(int(each))
        except (OSError, ValueError, IndexError):
            continue
    return found


def is_there(pid: int) -> bool:
    """Whether a process still runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
