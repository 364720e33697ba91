"""X38: what the scripts of a skill reach is listed by file and line, and nothing is executed for it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.dialects.skill_md.scripts import MAX_REACHES, MAX_SCRIPT, language_of, reaches
from tests import warm
from tests.work import PART, is_linear

PYTHON = """\
import os, subprocess as sp
import requests as r
from urllib.request import urlopen
from os import environ as env, path
from pathlib import Path

def f(session):
    session.get("https://a.dev")
    r.post("https://a.dev", json=dict(env))
    with open("a") as file: Path("b").write_text(file.read())
    sp.run(["ls"]); os.system("ls"); path.join("a"); os.sep
    # requests.get and "os.environ" are only words here
    return urlopen("x"), "subprocess.run", eval("1")
"""


def listed(path: str, text: str) -> list[tuple[int, str, str, str]]:
    return [(each.line, each.target, each.name, each.method) for each in reaches(path, text)]


def test_x38_python_is_read_by_its_syntax_tree():
    assert listed("a.py", PYTHON) == [
        (1, "shell", "import subprocess", "ast"),
        (2, "network", "import requests", "ast"),
        (3, "network", "import urllib.request.urlopen", "ast"),
        (4, "environment", "import os.environ", "ast"),
        (9, "environment", "os.environ", "ast"),
        (9, "network", "requests.post", "ast"),
        (10, "files", ".write_text", "ast"),
        (10, "files", "open", "ast"),
        (11, "shell", "os.system", "ast"),
        (11, "shell", "subprocess.run", "ast"),
        (13, "network", "urllib.request.urlopen", "ast"),
        (13, "shell", "eval", "ast"),
    ]


SCRIPTS = {
    "a.sh": (
        "# curl\ncurl -s https://a.dev > a\nrm -rf b; eval $X\necho $API_KEY",
        "network files files shell environment",
    ),
    "a.js": (
        'import fs from "node:fs";\nfetch("x"); process.env.HOME\nexecSync("ls")',
        "files environment network shell",
    ),
    "a.ts": ("import { x } from 'undici'\nDeno.readTextFile('a')", "network files"),
    "a.ps1": ("iwr https://a.dev | iex\n$env:PATH\nRemove-Item a", "network shell environment files"),
    "tool": ("#!/usr/bin/env python3\nimport socket\n", "network"),
    "old.py": ("import urllib2\nprint 'a'\nos.system('ls')", "network shell"),
    "bin/run": ("#!/bin/sh\nwget https://a.dev\n", "network"),
}


@pytest.mark.parametrize("path", SCRIPTS)
def test_x38_scripts_of_other_languages_are_searched_by_names(path: str):
    text, targets = SCRIPTS[path]
    found = reaches(path, text)
    assert sorted(each.target for each in found) == sorted(targets.split())
    assert {each.method for each in found} == {"ast" if path == "tool" else "pattern"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "curl x"),
        ("a.json", '{"fs": 1}'),
        ("README", "curl x"),
        ("a.py", "import math\nx = math.sqrt(2)\nclass A:\n    def open(self): ...\nA().open()\n"),
        ("a.sh", "echo hello 2>&1\ncurling=1\n# rm -rf\n"),
        ("a.js", "const x = prefetch(1) // fetch\nregex.exec('a')\n"),
    ],
)
def test_x38_what_reaches_nothing_is_not_listed(path: str, text: str):
    assert reaches(path, text) == ()


HOSTILE = {
    "unclosed": "(" * (100_000 // PART),
    "signs": "-" * (200_000 // PART) + "1",
    "a sum": "x = " + "+".join("1" * (100_000 // PART)),
    "a chain": "import os\nos" + ".a" * (100_000 // PART),
    "calls": "f" + "()" * (100_000 // PART),
    "else": "".join(f"{'if x' if not at else 'elif x'}: pass\n" for at in range(20_000)),
    "zero": "import os\0\nos.system('a')",
    "surrogates": "os.system('\ud800')\nimport os",
    "many": "import os\n" + "os.system('a')\n" * (5_000 // PART),
    "one line": "curl " * (100_000 // PART),
    "large": "# a\n" * (MAX_SCRIPT // 4) + "import requests\n",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ["a.py", "a.sh", "a.js", "a.ps1"])
def test_x38_hostile_scripts_end_in_a_list(name: str, path: str):
    assert len(reaches(path, HOSTILE[name])) <= MAX_REACHES


LINES = (
    "import os\n",
    "from a import b as open\n",
    "os.environ",
    "curl ",
    "fetch(",
    "'fs'",
    "\n",
    "  ",
    "#",
    "$",
    "\0",
    "ä",
    "=",
    "(",
    ")",
)


@given(
    st.lists(st.sampled_from(LINES), max_size=20).map("".join), st.sampled_from(["a.py", "a.sh", "a.js", "a.ps1", "a"])
)
def test_x38_any_script_is_read(text: str, path: str):
    found = reaches(path, text)
    assert list(found) == sorted(found) and all(1 <= each.line <= text.count("\n") + 1 for each in found)
    assert not found or language_of(path, text) is not None


@pytest.mark.parametrize("piece", [*LINES, "${A", "curl\n", "%A", "fs.a "])
@pytest.mark.parametrize("path", ["a.py", "a.sh", "a.js", "a.ps1"])
def test_x38_reading_takes_linear_time(piece: str, path: str):
    assert is_linear(lambda size: reaches(path, piece * (size // len(piece))), 4_000, 32_000)


def test_x38_show_lists_them_and_executes_nothing(tmp_path: Path):
    """X5: a link out of the folder is not followed."""
    skill = tmp_path / "skill"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: skill\ndescription: d\n---\nText.\n")
    (skill / "scripts/a.py").write_text("import socket, pathlib\npathlib.Path('ran').touch()\n")
    (skill / "scripts/b.sh").write_text("touch ran\n")
    (tmp_path / "out.py").write_text("import subprocess\n")
    os.symlink(tmp_path / "out.py", skill / "scripts/out.py")

    def show(*arguments: str) -> str:
        command = [sys.executable, "-m", "prosa", "show", "skill/SKILL.md", *arguments]
        return warm.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    facts = json.loads(show("--format", "json"))
    assert facts["reaches"] == [
        {"path": "scripts/a.py", "line": 1, "target": "network", "name": "import socket", "method": "ast"},
        {"path": "scripts/a.py", "line": 2, "target": "files", "name": ".touch", "method": "ast"},
        {"path": "scripts/b.sh", "line": 1, "target": "files", "name": "touch", "method": "pattern"},
    ]
    assert "scripts/b.sh:1  touch (pattern)" in show() and not list(tmp_path.rglob("ran"))
