"""A folder in which every place of a document that can name a program or a server names a canary."""

from __future__ import annotations

import json
from pathlib import Path

SERVER = 'mcp_servers:\n  - {{name: canary, command: sh, args: ["-c", "echo started >> {canary}"]}}\n'
PROGRAM = """\
---
name: {name}
description: Answers.
input: {{type: object}}
output: {output}
{more}---
Answer.
"""
GRADES = "{type: object, properties: {pass: {type: boolean}}, required: [pass]}"
TEST = """\
---
tests: {program}
{more}---

## One

```json input
{{}}
```

```yaml expect
n: 1
```

```text grade
Is it good?
```
"""
REPLY = {"content": {"n": 1, "pass": True}}
CALLS = ("outer", "evil"), ("reaching", "far"), ("asks", "evil"), ("tools", "evil")
REPLIES = (
    *({"program": name, "tool_calls": [{"id": "1", "name": called, "arguments": {}}]} for name, called in CALLS),
    *[REPLY] * 20,
)
"""What the model says: programs call what they import."""


def program(path: Path, *, more: str = "", output: str = "{type: object}") -> Path:
    """Write a program; ``more`` is further front matter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PROGRAM.format(name=path.stem, more=more, output=output))
    return path


def server(canary: Path) -> str:
    """Return front matter with a server that leaves a trace when it starts."""
    return SERVER.format(canary=canary)


def skill(folder: Path, grader: str) -> Path:
    """Write a skill whose cases name a grader."""
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: Says hello.\n---\nSay hello.\n")
    evals = {"skill_name": folder.name, "grader": grader, "evals": [{"id": 1, "prompt": "p", "assertions": ["good"]}]}
    (folder / "evals" / "evals.json").write_text(json.dumps(evals))
    return folder


def everything(root: Path, canary: Path) -> Path:
    """Write the folder. `evil.md` and `grader.md` have the server, everything else names them, or the command."""
    (root / ".git").mkdir(parents=True)
    start = f"sh -c 'echo started >> {canary}'"
    program(root / "evil.md", more=server(canary))
    program(root / "grader.md", more=server(canary), output=GRADES)
    program(root / "plain.md")
    program(root / "outer.md", more="imports: [./evil.md]\n")
    program(root.parent / "beyond" / "far.md", more=server(canary))
    program(root / "reaching.md", more=f"imports: [{root.parent}/beyond/far.md]\n")
    (root / "evil.test.md").write_text(TEST.format(program="./evil.md", more=""))
    (root / "outer.test.md").write_text(TEST.format(program="./outer.md", more=""))
    (root / "graded.test.md").write_text(TEST.format(program="./plain.md", more="grader: ./grader.md\n"))
    skill(root / "inner", "g.md").joinpath("g.md").write_text((root / "grader.md").read_text())
    skill(root / "apart", "../grader.md")
    tools = json.dumps([f"mcp:canary={start}", "evil.md"])
    (root / "tools.md").write_text(f"% tools = {tools}\n% plugins.load canary\n\n### @user:\n\nq\n")
    (root / "asks.md").write_text('% tools = ["evil.md"]\n\n### @user:\n\nq\n')
    (root / "page.mda").write_text(
        f"---\ntitle: Page\n{server(canary)}command: [sh]\n---\nText.\n\n"
        '```ai-script\n{"script-id": "s", "prompt": "Say.", "auto-run": true, '
        f'"tools": ["mcp:canary={start}"], "mcp_servers": [{{"name": "c", "command": "sh"}}]}}\n```\n'
    )
    program(root / "nested" / "plain.md")
    (root / "nested" / "prosa.toml").write_text(f'[mcp-servers.canary]\ncommand = "{start}"\n')
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": start}]}]}}
    (root / ".claude").mkdir()
    (root / ".claude" / "settings.json").write_text(json.dumps(hooks))
    servers = {"mcpServers": {"canary": {"command": "sh", "args": ["-c", f"echo started >> {canary}"]}}}
    (root / ".mcp.json").write_text(json.dumps(servers))
    (root / "rows.jsonl").write_text('{"a": 1, "program": "evil.md"}\n')
    return root
