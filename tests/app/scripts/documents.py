"""Documents with ai-scripts, users, and runs of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cli.desk import Desk
from tests.cli.programs import prosa, script, user
from tests.model_server.server import ModelServer


def block(name: str | None, prompt: str = "Do it.", **more: Any) -> str:
    """One ai-script block, with a blank line behind it."""
    data = ({} if name is None else {"script-id": name}) | {"prompt": prompt} | more
    return f"```ai-script\n{json.dumps(data, ensure_ascii=False)}\n```\n"


def document(folder: Path, *parts: str, name: str = "report.mda") -> Path:
    """Writes the parts with blank lines between them."""
    path = folder / name
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def own(folder: Path, **environ: str) -> dict[str, str]:
    """A user with a configuration of their own, outside the folder of the documents."""
    return user(folder, **({"PROSA_CONFIG_DIR": str(folder / "home" / "config")} | environ))


def run(path: Path, *argv: Any, replies: tuple[Mapping[str, Any], ...] = (), **environ: str) -> tuple[int, Desk]:
    """`prosa run PATH …` with scripted replies; without any, one for every script."""
    model = script(path.parent, *(replies or ({"content": "Done."},) * 9))
    return prosa("run", path, *argv, "--model", model, environ=own(path.parent, **environ))


def asked(server: ModelServer, path: Path, *argv: Any, **environ: str) -> tuple[int, Desk]:
    """`prosa run PATH …` against the fake model server."""
    return prosa("run", path, *argv, environ=own(path.parent, OPENAI_BASE_URL=server.base_url, **environ))


def trusting(path: Path, *argv: Any, **environ: str) -> tuple[int, Desk]:
    """`prosa trust …`."""
    return prosa("trust", path, *argv, environ=own(path.parent if path.is_file() else path, **environ))


def whole_summary(text: str) -> dict[str, Any]:
    """The summary among the lines of stderr."""
    found: dict[str, Any] = json.JSONDecoder().raw_decode(text[text.index('{\n  "program"') :])[0]
    return found


def lines_of(at: Desk) -> list[dict[str, Any]]:
    """The JSON lines on stdout."""
    return [json.loads(line) for line in at.out.splitlines()]
