"""A folder with everything that an agent may and may not be told of, and a server over it in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

from mcp import Client

from prosa.app.options import Environment, Options
from prosa.app.run.world import server_budget
from prosa.app.settings import settings_for
from prosa.app.site.agents import CheckScope
from prosa.app.site.keeper import SiteOptions
from prosa.app.site.live import open_site
from prosa.app.site.skills import Skills
from prosa.mcp_server.programs import Programs, Rights
from prosa.mcp_server.server import build_server

PROGRAM = """---
name: greet
description: Greets a person.
input:
  type: object
  properties:
    who: {type: string, description: who is greeted}
    tone: {type: string, enum: [warm, formal], default: warm}
    times: {type: integer}
  required: [who]
output:
  type: object
  properties: {text: {type: string}}
  required: [text]
---
Greet {{ .who }} in a {{ .tone }} way.
"""
IMPORTING = """---
name: tell
description: Imports what is secret.
input: {type: object}
output: {type: object}
imports: [./secret-program.md]
---
Use it.
"""
LONG = "# Long\n\n" + "".join(f"## Part {n}\n\n{'words and more words. ' * 40}\n\n" for n in range(40))
HOME = "---\nid: home\ntype: page\ntitle: Home\nstatus: draft\n---\n# Home\n\nSee [the pier](guide/pier.md).\n"
PIER = "---\nid: pier\ntype: page\ntitle: The pier\n---\n# The pier\n\nBoats land here.\n\n## Opening\n\nAlways.\n"
FILES = {
    "prosa.toml": "",
    "index.md": HOME,
    "guide/pier.md": PIER,
    "greet.md": PROGRAM,
    "long.md": LONG,
    "tell.md": IMPORTING,
    "secret-program.md": PROGRAM.replace("greet", "hidden").replace("---\nname", "---\nvisibility: private\nname", 1),
    "secret.mda": "---\ntitle: Canary\nclassification: confidential\n---\nThe canary sings.\n",
    ".hidden/note.md": "# Canary\n",
    ".gitignore": "ignored.md\n",
    "ignored.md": "# Canary\n",
}


def write(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder.resolve()


@asynccontextmanager
async def served(
    folder: Path,
    mode: str = "auto",
    *,
    globs: tuple[str, ...] = (),
    options: Options | None = None,
    max_cost: Decimal | None = None,
    ready: bool = True,
    baseline: Path | None = None,
    changed_since: str | None = None,
    skills: tuple[Skills, ...] = (),
    **callbacks,
) -> AsyncIterator[Client]:
    """A client of a server over the folder."""
    environ = {"PROSA_CACHE_DIR": str(folder.parent / "cache"), "HOME": str(folder.parent)}
    settings = settings_for(folder, environ)
    with open_site(folder, SiteOptions("docs"), environ, settings, max_size=10**7) as site:
        around = Environment(environ=environ, settings=settings)
        budget = server_budget(max_cost, around)
        programs = Programs(site, options or Options(), around, Rights(globs), budget)
        server = build_server(site, programs, CheckScope(environ, baseline, changed_since), skills)
        site.start()
        if ready:
            assert await asyncio.to_thread(site.index.wait_ready, 20)
        async with Client(server, mode=mode, **callbacks) as client:
            yield client
