"""`prosa call` in this process, with its streams as texts; and a node to call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prosa.cli import call as command
from prosa.cli.errors import guarded
from prosa.cli.parser import Parser
from tests.cli.desk import Desk, desk

NODE = """\
---
id: ferry
type: page
title: Ferries
actions:
  - id: sailings.list
    method: GET
    url: /api/harbours/{harbour}/sailings
    accept: application/json
    auth: {type: none}
    query:
      required: [day]
      optional: [deck, cursor]
      properties:
        seats: {type: integer, minimum: 1}
    pagination:
      type: cursor
      request: {cursor_param: cursor}
      response:
        next_cursor_jsonpath: $.page.next_cursor
        next_link_jsonpath: $.links.next
  - id: sailings.book
    method: POST
    url: /api/bookings
    accept: application/json
    auth: {type: bearer, token_help: Ask at the harbour}
    body_schema:
      required: [name]
      additionalProperties: false
      properties:
        name: {type: string}
        seats: {type: integer}
  - id: elsewhere
    method: GET
    url: https://other.example/x
  - id: sketched
    method: POST
    url: /api/sketches
    body_schema: /schemas/sketch.json
---
The ferry leaves on the hour.
"""


def call(
    *words: str, typed: str = "", environ: Mapping[str, str] | None = None, terminal: bool = False
) -> tuple[int, Desk]:
    """The exit status and what was written."""
    at = desk(typed, environ, terminal=terminal)

    def work() -> int:
        parser = Parser(console=at.console, prog="prosa call", description="Call.")
        command.configure(parser)
        return command.run(parser.parse_anywhere(words), at.console)

    return guarded(at.console, words, work), at


def written(folder: Path, text: str = NODE) -> str:
    """The path of a node in a file."""
    path = folder / "ferry.md"
    path.write_text(text, encoding="utf-8")
    return str(path)
