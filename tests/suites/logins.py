"""The scenarios of the official suite for clients with a login, with `prosa login` and `prosa run` as the client.

As a program it stands for a user: it logs in, opens the printed address, runs a program that calls the tool of the
server, and makes the second login where the run asks for further rights.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prosa.app.trust import accept_agreement
from tests.suites.suite import Outcome

ROOT = Path(__file__).parents[2]
PROSA = (sys.executable, "-m", "prosa")
SECONDS = 110
"""For one scenario, which starts a handful of processes."""

PROGRAM = """\
---
name: caller
description: calls the tool of a server
input: {{type: object}}
output: {{type: object}}
mcp_servers:
  - name: s
    url: {url}
---
Call it.
"""


def logins(place: Path) -> Outcome:
    """Have the suite ask a client with a login."""
    package = place / "node_modules" / "@modelcontextprotocol" / "conformance" / "package.json"
    version: dict[str, Any] = json.loads(package.read_text(encoding="utf-8"))
    tool = str(place / "node_modules" / ".bin" / "conformance")
    listed = subprocess.run([tool, "list", "--client"], capture_output=True, text=True, check=True).stdout
    scenarios = re.findall(r"^ +- auth/(\S+)", listed, re.MULTILINE)
    return Outcome(version["version"], len(scenarios), tuple(each for each in scenarios if not _passes(tool, each)))


def _passes(tool: str, scenario: str) -> bool:
    client = shlex.join([sys.executable, "-m", "tests.suites.logins"])
    words = [tool, "client", "--command", client, "--scenario", f"auth/{scenario}", "--timeout", str(SECONDS * 1000)]
    with TemporaryDirectory() as folder:
        done = subprocess.run([*words, "-o", folder], cwd=ROOT, capture_output=True, timeout=SECONDS + 30, check=False)
    return done.returncode == 0


class _User:
    def __init__(self, url: str, home: Path) -> None:
        self.url, self.home = url, home
        self.environ = {
            **os.environ,
            "HOME": str(home),
            "PYTHONPATH": f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}",
        }
        accept_agreement({"HOME": str(home)}, 0)
        (home / "caller.md").write_text(PROGRAM.format(url=url))
        call = {"tool_calls": [{"name": "mcp__s__test-tool", "arguments": {}, "id": "1"}]}
        lines = (call, {"content": {"done": True}})
        (home / "replies.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))

    def knows(self, context: dict[str, str], scenario: str) -> None:
        """Write settings with the client that the suite gives to a user."""
        own = "https://conformance-test.local/client-metadata.json" if "cimd" in scenario else context.get("client_id")
        if own is None:
            return
        found = re.match(r"https?://[^/]+", self.url)
        assert found is not None
        lines = [f'[servers."{found[0]}"]', f'client-id = "{own}"']
        if secret := context.get("client_secret"):
            lines.append('client-secret-env = "SUITE_SECRET"')
            self.environ["SUITE_SECRET"] = secret
        (self.home / "config").mkdir()
        (self.home / "config" / "settings.toml").write_text("\n".join(lines))
        self.environ["PROSA_CONFIG_DIR"] = str(self.home / "config")

    def login(self, *argv: str) -> int:
        words = (*PROSA, "login", self.url, "--allow-private", "--yes", "--no-browser", "--timeout", "20", *argv)
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=self.environ) as done:
            assert done.stderr is not None
            for line in done.stderr:
                if line.startswith("  http"):
                    threading.Thread(target=_browse, args=(line.strip(),), daemon=True).start()
        return done.returncode

    def run(self) -> tuple[int, str]:
        """Return the status of a run, and all that was said, also to the model."""
        model = f"scripted:{self.home / 'replies.jsonl'}"
        words = (*PROSA, "run", str(self.home / "caller.md"), "--model", model)
        with TemporaryDirectory(dir=self.home) as tape:
            done = subprocess.run(
                [*words, "--record", f"{tape}/t"], env=self.environ, capture_output=True, text=True, check=False
            )
            files = [each.read_text() for each in Path(tape).rglob("*") if each.is_file()]
        return done.returncode, "\n".join((done.stderr, *files))


def _browse(url: str) -> None:
    with urllib.request.urlopen(url, timeout=20) as answer:
        answer.read()


def main(url: str) -> int:
    """Log in, call the tool, and follow a hint to a second login."""
    with TemporaryDirectory() as folder:
        user = _User(url, Path(folder))
        context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
        user.knows(context, os.environ.get("MCP_CONFORMANCE_SCENARIO", ""))
        if status := user.login():
            return status
        status, said = user.run()
        if found := re.search(r"prosa login \S+ (--scope [^\n\"\\]+)", said):
            status = user.login(*shlex.split(found[1])[:2]) or user.run()[0]
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
