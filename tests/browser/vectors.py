"""A folder in which every field and body wants to be a script: the vectors of the tests of pages, made to leave a trace
in the window of a browser."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.render.page.test_hostile import VECTORS as PLAIN

VECTORS = tuple(each.replace("alert(1)", "window.__pwned=1") for each in PLAIN)
LINES = tuple(re.sub(r"[\0\n]", " ", each) for each in VECTORS)
"""The same for places that take one line."""

SIGN = "vis1ble"


def hostile_folder() -> dict[str, str]:
    """The documents by name."""
    made = {f"field-{number}.md": _fields(line) for number, line in enumerate(LINES)}
    made |= {f"body-{number}.md": _body(vector, LINES[number]) for number, vector in enumerate(VECTORS)}
    chat = "".join(f"### @user {line}:\n\n{line} {SIGN}\n\n### @_{line}:\n\n{line}\n\n" for line in LINES)
    return {**made, "chat.md": chat, "program.md": _program(), "scripts.mda": _scripts(), "record.ymj": _record()}


def _quoted(text: str) -> str:
    return json.dumps(text)


def _fields(line: str) -> str:
    front = {
        "id": f"x:{line}",
        "type": line,
        "title": f"{line}{SIGN}",
        "summary": line,
        "language": line,
        "updated": line,
        "tags": [line, line],
        "aliases": [line],
        "deep": {line: [line]},
        line: line,
        "links": [{"rel": line, "target": line, "title": line}, {"rel": "x", "href": line}],
        "actions": _actions(line),
    }
    fields = "".join(f"{_quoted(name)}: {_quoted(value)}\n" for name, value in front.items())
    return f"---\n{fields}---\n# {line} {SIGN}\n\nBody.\n"


def _actions(line: str) -> list[dict[str, Any]]:
    described = {"a": {"type": "string", "enum": [line, "b"], "description": line}, line: {"type": "string"}}
    query = {"required": ["a", line], "optional": ["c"], "properties": described}
    auth = {"type": "bearer", "token_help": line}
    named = {"id": line, "title": line, "description": line}
    body = {"properties": {line: {"type": "string", "description": line, "default": line}}}
    return [
        {**named, "method": "GET", "url": "/api/a", "query": query, "auth": auth},
        {**named, "method": "POST", "url": "/api/{name}", "body_schema": body, "auth": auth},
        {**named, "method": line, "url": line},
        {**named, "method": "GET", "url": f"https://evil.example/{line}"},
        {"id": "s", "method": "POST", "url": "/api/a", "accept": line, "content_type": line, "auth": {"type": line}},
    ]


def _body(vector: str, line: str) -> str:
    return f"""\
---
id: {_quoted(f"b:{line}")}
type: page
title: A body
---
# {line}

{vector} {SIGN}

{vector}

## {line} {SIGN}

| a | {line} |
|---|---|
| {line} | {SIGN} |

x[^1] y[^{line}]

[^1]: {line} {SIGN}

[^{line}]: {SIGN}

```{line}
{vector} {SIGN}
```

![{line}](/x.txt) [{SIGN}](<{line}>) [{SIGN}]({line}) <{line}> [{SIGN}](/x "{line}") [{line}](/x)

> - [x] {line} `{line}`

<details open><summary>{line}</summary>

{line}

</details>

<a id="page:main" href="{line}">{SIGN}</a>

<div title="{line}
"""


def _program() -> str:
    one = {line: {"type": "string", "description": line, "default": line, "enum": [line]} for line in LINES}
    words = "".join(f"{line} {SIGN}\n\n" for line in LINES)
    fields = {"name": LINES[4], "description": LINES[0], "input": {"properties": one}, "output": {"properties": one}}
    return "---\n" + "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items()) + f"---\n{words}"


def _scripts() -> str:
    blocks = [
        json.dumps(
            {
                "script-id": line,
                "prompt": line,
                "interactive-type": "inputbox" if number % 2 else "button",
                "interactive-label": line,
                "interactive-placeholder": line,
            }
        )
        for number, line in enumerate(LINES)
    ]
    return f"---\ntitle: {SIGN}\n---\n\n" + "".join(f"```ai-script\n{each}\n```\n\n" for each in blocks)


def _record() -> str:
    head = f"ymj_spec: 1.0.0\nid: r\ndoc_summary: {_quoted(LINES[4])}\n"
    words = "".join(f"{line} [[{line}|{SIGN}]] {SIGN}\n\n" for line in LINES)
    return f"---\n{head}---\n{words}\n```json\n{json.dumps({'schema': LINES[4], 'index': {'tags': LINES}})}\n```\n"
