"""Whether an agent is here: by PATH, with its version from its package, and what the box has to show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.adapters.agents.discover import AgentMissing, find_agent, system_path
from prosa.adapters.agents.table import AGENTS


def program(path: Path, text: str) -> Path:
    """A file that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """An interpreter in a folder of its own, as version managers keep it."""
    (tmp_path / "node" / "lib").mkdir(parents=True)
    return program(tmp_path / "node" / "bin" / "node", "#!/bin/sh\necho node\n")


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_that_is_not_here_says_how_to_install_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(AgentMissing, match=f"npm install -g {AGENTS[name].package}"):
        find_agent(name, {"PATH": str(tmp_path)})


def test_a_script_of_npm_needs_its_packages_and_its_interpreter(tmp_path: Path, node: Path) -> None:
    package = tmp_path / "lib" / "node_modules" / "@earendil-works" / "pi-coding-agent"
    cli = program(package / "dist" / "cli.js", "#!/usr/bin/env node\n")
    (package / "package.json").write_text(json.dumps({"name": AGENTS["pi"].package, "version": "0.74.2"}))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pi").symlink_to(cli)
    here = find_agent("pi", {"PATH": f"{tmp_path / 'bin'}:{node.parent}"})
    assert (here.path, here.version) == (cli, "0.74.2")
    assert here.roots == (tmp_path / "lib" / "node_modules", tmp_path / "node")
    assert system_path(here).startswith(f"{node.parent}:/usr/local/bin")


def test_an_interpreter_that_is_a_script_is_asked_where_the_real_one_is(tmp_path: Path, node: Path) -> None:
    """Version managers and wheels lay a script on PATH, whose own files an agent in the box would lack."""
    program(tmp_path / "pi", "#!/usr/bin/env node\n")
    real = program(tmp_path / "real" / "bin" / "node", "\x7fELF")
    (tmp_path / "real" / "lib").mkdir()
    shim = program(tmp_path / "shims" / "node", f'#!/bin/sh\ntest "$1 $2" = "-p process.execPath" && echo {real}\n')
    here = find_agent("pi", {"PATH": f"{tmp_path}:{shim.parent}:/usr/bin:/bin"})
    assert here.programs == (real.parent,)
    assert here.roots[1] == tmp_path / "real"


def test_a_program_without_a_package_is_asked_for_its_version(tmp_path: Path) -> None:
    program(tmp_path / "claude", "#!/bin/sh\necho 2.1.500 '(Claude Code)'; echo $HOME > seen; test -z $SECRET\n")
    here = find_agent("claude", {"PATH": f"{tmp_path}:/usr/bin:/bin", "SECRET": "x"})
    assert here.version == "2.1.500"
    assert here.roots[0] == tmp_path / "claude"
    assert not (tmp_path / "seen").exists(), "it runs in a folder of its own"


def test_a_program_that_says_nothing_has_no_version(tmp_path: Path) -> None:
    program(tmp_path / "claude", "#!/bin/sh\nexit 3\n")
    assert find_agent("claude", {"PATH": f"{tmp_path}:/usr/bin:/bin"}).version == ""


def test_what_an_agent_needs_on_path_is_named(tmp_path: Path) -> None:
    program(tmp_path / "opencode", "#!/bin/sh\necho 1.18.33\n")
    (tmp_path / "sh").symlink_to("/bin/sh")
    with pytest.raises(AgentMissing, match="needs the program `rg`"):
        find_agent("opencode", {"PATH": str(tmp_path)})
