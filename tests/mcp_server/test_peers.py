"""Clients that others wrote: the inspector's command line and the conformance suite, both from npm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from prosa.app.trust import accept_agreement
from tests import warm
from tests.house.tree import ROOT
from tests.mcp_server.folder import write
from tests.mcp_server.test_process import environ, over_http

PEERS = ROOT / "tests" / "peers" / "node_modules"
NODE = Path(sys.executable).with_name("node")
INSPECTOR = PEERS / ".bin" / "mcp-inspector"
CONFORMANCE = PEERS / ".bin" / "conformance"
COMPILED = {"NODE_COMPILE_CACHE": str(PEERS / ".compiled")}
BASELINE = Path(__file__).with_name("conformance.yaml")
ATTEMPTS = 60
TEXT = "This is a simple text response for testing."

PROGRAM = """---
name: {name}
description: What the conformance suite asks for.
input: {input}
output: {{type: object}}
---
Say something{values}.
"""
NO_INPUT = "{type: object}"
TWO_TEXTS = "{type: object, properties: {arg1: {type: string}, arg2: {type: string}}, required: [arg1, arg2]}"
PROGRAMS = {
    "test_simple_text": NO_INPUT,
    "test_error_handling": NO_INPUT,
    "test_tool_with_progress": NO_INPUT,
    "test_simple_prompt": NO_INPUT,
    "test_prompt_with_arguments": TWO_TEXTS,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    accept_agreement({"HOME": str(tmp_path)}, 0)
    return write(tmp_path / "docs")


def inspect(folder: Path, *words: str) -> dict:
    """What the inspector prints of one request; it starts the server itself."""
    server = [warm.scripts(folder.parent / "bin") / "prosa", "mcp", str(folder)]
    command, known = [NODE, INSPECTOR, "--cli", *server, *words], {**environ(folder), **COMPILED}
    ran = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_inspector_lists_and_calls(folder: Path):
    index = warm.run([sys.executable, "-m", "prosa", "index", str(folder)], env=environ(folder), capture_output=True)
    assert index.returncode == 0, index.stderr
    tools = inspect(folder, "--method", "tools/list")["tools"]
    assert [each["name"] for each in tools] == ["search", "read", "outline", "links", "check", "list"]
    listing = ("--method", "tools/call", "--tool-name", "list")
    complete = (inspect(folder, *listing)["structuredContent"]["complete"] for _ in range(ATTEMPTS))
    assert any(complete), "ids are not known before the index is there"
    call = ("--method", "tools/call", "--tool-name", "read", "--tool-arg", "document=pier")
    # Each call is a server of its own, and an id leads nowhere before it has read the index.
    answers = (inspect(folder, *call) for _ in range(5))
    found = next(each for each in answers if not each["isError"])
    assert found["structuredContent"]["path"] == "guide/pier.md" and found["isError"] is False


def conformance(folder: Path, program: Path) -> subprocess.CompletedProcess[str]:
    """What the conformance suite says of a server for the folder. Its baseline names what does not apply: pictures,
    sound, sampling, elicitation, subscriptions, logging, and texts that this server does not make."""
    for name, schema in PROGRAMS.items():
        values = "".join(f", {{{{ .{key} }}}}" for key in ("arg1", "arg2") if key in schema)
        text = PROGRAM.format(name=name, input=schema, values=values)
        (folder / f"{name}.md").write_text(text)
    replies = folder.parent / "replies.jsonl"
    lines = [{"program": "test_error_handling", "content": "no JSON"}] * 30
    lines += [{"program": "test_tool_with_progress", "content": "no JSON"}] * 2  # three calls, so three steps
    lines += [{"program": name, "content": json.dumps({"text": TEXT})} for name in PROGRAMS if "error" not in name] * 9
    replies.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    with over_http(folder, "--allow-run", "test_*", "--model", f"scripted:{replies}") as url:
        command = [NODE, program, "server", "--url", url, "--expected-failures", str(BASELINE)]
        known = {**os.environ, **COMPILED}
        return subprocess.run(command, cwd=folder.parent, env=known, capture_output=True, text=True, check=False)


def test_the_conformance_suite_finds_what_its_baseline_says(folder: Path):
    """The suite fails on a stale entry of the baseline too."""
    ran = conformance(folder, CONFORMANCE)
    assert ran.returncode == 0, ran.stdout[-2_000:] + ran.stderr
    expected = yaml.safe_load(BASELINE.read_text())["server"]
    passed = [line.split()[1].rstrip(":") for line in ran.stdout.splitlines() if line.startswith("✓")]
    assert {"server-initialize", "ping", "tools-list", "tools-call-error", "prompts-list"} <= set(passed)
    assert not set(passed) & set(expected)
