"""The sites that the browser looks at: folders, made or shipped, each served by a `prosa serve` of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from prosa.cli.demo.site import served
from tests import warm
from tests.adapters.mcp.support import wait_until
from tests.app.scripts.documents import block
from tests.browser.vectors import hostile_folder
from tests.examples.ferries import FOLDER
from tests.house.examples import surroundings

TOKEN = "a-token-for-the-browser"
COUNT = 300

ECHO = '''
"""Says what it was asked."""
import json

async def app(scope, receive, send):
    body = b""
    while scope["type"] == "http":
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    if scope["type"] != "http":
        return
    names = ("authorization", "idempotency-key", "content-type", "accept", "cookie")
    headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
    told = {
        "method": scope["method"],
        "url": scope["raw_path"].decode() + ("?" + scope["query_string"].decode() if scope["query_string"] else ""),
        "headers": {name: headers[name] for name in names if name in headers},
        "body": body.decode(),
    }
    status = 201 if scope["method"] == "POST" else 200
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(told).encode()})
'''

ACTIONS = """\
---
id: echo
type: page
title: What was asked
actions:
  - id: words.find
    method: GET
    url: /api/words/{shelf}/find
    accept: application/json
    auth: {type: none}
    query:
      required: [word]
      optional: [kind, cursor]
      properties:
        kind: {type: array, items: {type: string, enum: [noun, verb, "a & b"]}}
  - id: words.all
    method: GET
    url: /api/words
    auth: {type: none}
    query: {required: [word]}
  - id: words.add
    method: POST
    url: /api/words
    accept: application/json
    auth: {type: bearer, token_help: Any token will do}
    body_schema:
      required: [word, count]
      properties:
        word: {type: string}
        count: {type: integer, minimum: 1}
        loud: {type: boolean}
        kind: {type: string, enum: [noun, verb]}
  - id: words.write
    method: PUT
    url: /api/words/{shelf}
    auth: {type: api_key, name: X-Shelf-Key, token_help: None}
    body_schema: {type: object, properties: {deep: {type: object}}}
---
# What was asked

A page for forms.
"""

SCRIPTS = (
    "---\ntitle: A page with scripts\n---\n\n# A page with scripts\n\nTen apples, two pears.\n",
    block("sum", "Sum up, secretly.", **{"interactive-type": "button", "interactive-label": "Sum it up"}),
    block(
        "ask",
        "Answer.",
        **{
            "interactive-type": "inputbox",
            "interactive-label": "Ask the fruit",
            "interactive-placeholder": "What would you like to know?",
        },
    ),
)
LONG = "\n\n".join(f"Paragraph {number} says **that** there are {number} apples." for number in range(1, 30))
REPLIES = {
    "sum": {"content": f"# In short\n\nTen **apples**.\n\n| fruit | count |\n|---|---|\n| pear | 2 |\n\n{LONG}"},
    "ask": {
        "content": "Two <b>pears</b><script>window.__pwned=1</script><img src=x onerror='window.__pwned=2'> "
        "[there](javascript:window.__pwned=3)."
    },
    "greet": {"content": {"greeting": "Hello, Ada"}},
}
KINDS = ("note", "tip", "WARNING", "danger", "example", "quote", "of-my-own")
VAULT = {
    ".obsidian/app.json": "{}",
    "Home.md": "# Home\n\nTo [[Bell|the bell]], [[Bell#How it rings]], [[Gone]], ==all==.\n\n![[bell.svg|120]]\n\n"
    + "".join(f"> [!{kind}] A title\n> Some [[Bell]] and `code`.\n\n" for kind in KINDS)
    + "> [!faq]- Folded\n> > [!tip] Inside\n> > ![[Bell#^short]]\n\n![[Bell]]\n",
    "Bell.md": "# Bell\n\nA bell. ^short\n\n## How it rings\n\n![[Home]]\n\nLoud, over the water.\n",
    "files/bell.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="4"/></svg>',
}
PROGRAM = """\
---
name: greet
description: Greets a person.
input:
  type: object
  properties:
    name: {type: string, description: Who is greeted}
    times: {type: integer, minimum: 1}
  required: [name]
output: {type: object, properties: {greeting: {type: string}}, required: [greeting]}
---
Greet {{ .name }}.
"""


@contextmanager
def serving(folder: Path, root: str, *more: str, where: Path | None = None, **environ: str) -> Iterator[str]:
    """The URL of ``root`` below ``where`` while it is served and its index is there; ``folder`` holds all else."""
    home = folder / "home"
    home.mkdir()
    words = ("serve", root, "--port", "0", "--access-log", str(home / "log"), *more)
    environ = {**surroundings(home), **environ}  # its path leads to the commands that are forked
    with served(("prosa", *words), environ, where or folder) as url:
        assert wait_until(lambda: _is_ready(url))
        yield url


def _is_ready(url: str) -> bool:
    with urlopen(f"{url}/healthz", timeout=120) as answer:
        health: dict[str, Any] = json.loads(answer.read())
    return bool(health["ready"])


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """A folder called `site` with these files."""
    for name, text in files.items():
        path = folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "site"


@contextmanager
def ferries(folder: Path) -> Iterator[str]:
    """The example site as its own page says."""
    with serving(folder, "ferries/pages", "--api", "ferries/api.py:app", where=FOLDER.parent) as url:
        yield url


@contextmanager
def echoing(folder: Path) -> Iterator[str]:
    """A page with actions of every kind, and an API that answers with the request."""
    written(folder, {"index.md": "# Home\n\n[the forms](echo.md)\n", "echo.md": ACTIONS})
    (folder / "echo.py").write_text(ECHO, encoding="utf-8")
    with serving(folder, "site", "--api", "echo.py:app") as url:
        yield url


@contextmanager
def linked(folder: Path) -> Iterator[str]:
    """Documents of which each links to others, in five parts with a hub each."""
    written(folder, dict(_linked()))
    with serving(folder, "site", "--name", "Three hundred") as url:
        yield url


def _linked() -> Iterator[tuple[str, str]]:
    for number in range(COUNT):
        hub, far = number % 5, (number * 7 + 3) % COUNT
        body = f"# Note {number:03}\n\nPart of [note {hub}](note-{hub:03}.md), near [another](note-{far:03}.md).\n"
        rel = f"links: [{{rel: follows, target: n{(number - 5) % COUNT}}}]\n" if number % 3 == 0 else ""
        yield f"note-{number:03}.md", f"---\nid: n{number}\ntype: note\ntitle: Note {number:03}\n{rel}---\n{body}"


@contextmanager
def vault(folder: Path) -> Iterator[str]:
    """Notes with wikilinks, embeds and callouts."""
    written(folder, VAULT)
    with serving(folder, "site") as url:
        yield url


@contextmanager
def hostile(folder: Path) -> Iterator[str]:
    """Every vector in every place."""
    written(folder, hostile_folder())
    with serving(folder, "site", "--name", "Hostile <b onclick=x>'\"&") as url:
        yield url


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Scripts and a program that are answered from a file."""
    _scripts(folder)
    replies = [{"program": name, **reply} for name, reply in REPLIES.items()]
    (folder / "replies.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in replies), encoding="utf-8")
    allowed = ("--allow-run", "--token-env", "SITE_TOKEN", "--model", "scripted:replies.jsonl")
    with serving(folder, "site", *allowed, SITE_TOKEN=TOKEN) as url:
        yield url


@contextmanager
def idle(folder: Path) -> Iterator[str]:
    """The same, as it is served without a permission."""
    _scripts(folder)
    with serving(folder, "site") as url:
        yield url


def _scripts(folder: Path) -> None:
    written(folder, {"page.mda": "\n".join(SCRIPTS), "greet.md": PROGRAM, "index.md": "# Home\n\n[a](page.mda)\n"})


@contextmanager
def built(folder: Path) -> Iterator[Path]:
    """The example site as files."""
    home = folder / "home"
    home.mkdir()
    words = (sys.executable, "-P", "-m", "prosa", "build", "ferries/pages", str(folder / "out"))
    warm.run(words, cwd=FOLDER.parent, env=surroundings(home), check=True, capture_output=True)
    yield folder / "out"
