"""Programs, users and replies for the tests of the commands that run something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.providers.table import ServerAddress
from prosa.cli.main import main
from prosa.dialects.markdownlang.agreement import PHRASES
from tests import warm
from tests.cli.desk import Desk, desk
from tests.model_server.server import ModelServer

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
# Where the tests of the sandbox keep the compiled interpreter: making it takes seconds.
CACHE = ROOT / "build" / "sandbox-cache"

COUNT = """\
---
name: {name}
description: Counts the words of a text.
input:
  type: object
  properties:
    text: {{ type: string, default: nothing }}
    times: {{ type: integer, minimum: 1, maximum: 9 }}
    ratio: {{ type: number }}
    loud: {{ type: boolean }}
    tags: {{ type: array, items: {{ type: string }} }}
    where:
      type: object
      properties:
        page: {{ type: integer }}
        line: {{ type: integer }}
  additionalProperties: false
output:
  type: object
  properties:
    words: {{ type: integer, minimum: 0 }}
  required: [words]
  additionalProperties: false
{more}---
Count {{{{ .text }}}}{{{{ with .where }}}} at {{{{ .page }}}}:{{{{ .line }}}}{{{{ end }}}}.
"""
BROKEN = """\
---
name: broken
description: has three mistakes at once
input: {type: object, properties: {a: {type: strnig}}, additionalProperties: false}
imports: [./gone.md]
output: {type: object}
---
Say {{ .b }} and {{ .a }}.
"""
ANSWER = {"content": {"words": 2}, "usage": {"input_tokens": 150, "output_tokens": 75}}


def program(folder: Path, *, name: str = "count", more: str = "", text: str | None = None) -> Path:
    """Writes `NAME.md`; ``more`` is further front matter, ``text`` replaces all of it."""
    path = folder / f"{name}.md"
    path.write_text(COUNT.format(name=name, more=more) if text is None else text, encoding="utf-8")
    return path


def script(folder: Path, *replies: Mapping[str, Any], name: str = "replies.jsonl") -> str:
    """Writes scripted replies and gives the value of ``--model``."""
    path = folder / name
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies or (ANSWER,)), encoding="utf-8")
    return f"scripted:{path}"


def nested(folder: Path) -> tuple[Path, tuple[Any, ...]]:
    """A program that calls its import twice at once, and the replies for it."""
    program(folder, name="inner")
    call = {"name": "inner", "arguments": {"text": "a"}}
    asks = {"program": "count", "tool_calls": [{**call, "id": "one"}, {**call, "id": "two"}]}
    inner = {"program": "inner", "content": {"words": 1}}
    return program(folder, more="imports: [./inner.md]\n"), (asks, inner, inner, {"program": "count", **ANSWER})


def configured(folder: Path, text: str) -> str:
    """A user's settings; gives the folder that `PROSA_CONFIG_DIR` names."""
    place = folder / "config"
    place.mkdir(exist_ok=True)
    (place / "settings.toml").write_text(text)
    return str(place)


def user(folder: Path, **environ: str) -> dict[str, str]:
    """The environment of somebody who has agreed, has no key and keeps all that is theirs in ``folder``."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    own = {"HOME": str(home), "MARKDOWNLANG_AGREE": PHRASES[0], "PROSA_CACHE_DIR": str(CACHE)}
    return {name: value for name, value in (own | environ).items() if value}


def prosa(*argv: Any, environ: Mapping[str, str], typed: str = "", terminal: bool = False) -> tuple[int, Desk]:
    """`prosa` in this process."""
    at = desk(typed, environ, terminal=terminal)
    return main([str(item) for item in argv], at.console), at


def ran(path: Path, *argv: Any, replies: tuple[Any, ...] = (), typed: str = "", **environ: str) -> tuple[int, Desk]:
    """A scripted run of a program in its own folder."""
    folder = path.parent
    model = script(folder, *replies)
    return prosa("run", path, *argv, "--model", model, environ=user(folder, **environ), typed=typed)


def rendered(path: Path, *argv: Any, typed: str = "") -> tuple[int, Desk]:
    """What the model would be told, which shows the input."""
    return prosa("render", path, *argv, environ=user(path.parent), typed=typed)


def asked(server: ModelServer, path: Path, *argv: Any, **environ: str) -> tuple[int, Desk]:
    """A run whose base URL comes from the environment."""
    return prosa("run", path, *argv, environ=user(path.parent, OPENAI_BASE_URL=server.base_url, **environ))


def started(*argv: Any, environ: Mapping[str, str], module: str = "main", **options: Any) -> subprocess.Popen[bytes]:
    """`prosa` in a process of its own, with pipes for what it prints."""
    command = [sys.executable, "-c", f"from prosa.cli.{module} import entry; entry()", *map(str, argv)]
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ["PYTHONPATH"]} | dict(environ)
    return warm.popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=own, **options)


def summary_in(text: str) -> dict[str, Any]:
    """The summary among the lines of stderr."""
    start = text.index('{\n  "program"')
    found: dict[str, Any] = json.JSONDecoder().raw_decode(text[start:])[0]
    return found


def events_in(text: str) -> list[dict[str, Any]]:
    """The events among the lines of a text; every line that begins like one must be one."""
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"seq"')]


def look_at(monkeypatch: pytest.MonkeyPatch, **ports: int) -> None:
    """Has a model server of one's own looked for at these ports alone, each under what is expected there."""
    places = tuple(ServerAddress(label, f"http://127.0.0.1:{port}/v1") for label, port in ports.items())
    monkeypatch.setattr("prosa.app.run.routes.local_places", lambda *_: places)
    monkeypatch.setattr("prosa.adapters.providers.local.find_local.__kwdefaults__", {"timeout": 60.0})
