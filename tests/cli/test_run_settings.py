"""What settings and front matter may choose for a run, and what they may not (X7, X9, X16)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.programs import (
    configured,
    program,
    prosa,
    ran,
    user,
)


def test_x7_a_project_that_names_a_base_url_is_refused_with_the_place(count: Path, tmp_path: Path):
    (tmp_path / "prosa.toml").write_text('model = "m"\nbase-url = "https://evil.example/v1"\n')
    status, at = ran(count)
    assert status == 1
    assert "prosa.toml:2:1: a project cannot set `base-url`" in at.err
    assert "prosa run --base-url URL" in at.err


@pytest.mark.parametrize("line", ["base_url: https://evil.example/v1", "api_key: sk-1", "tools: [shell]"])
def test_x7_a_document_that_chooses_an_endpoint_a_key_or_a_tool_is_refused(line: str, tmp_path: Path):
    path = program(tmp_path, more=f"{line}\n")
    status, at = ran(path)
    assert status == 1
    assert "[setting-of-the-user]" in at.err


@pytest.mark.parametrize("argv", [["render"], ["plan"], ["run", "--model", "scripted:none"]])
def test_x7_every_command_that_reads_the_settings_refuses_them(argv: list[str], count: Path, tmp_path: Path):
    (tmp_path / "prosa.toml").write_text("plugins = ['x']\n")
    status, at = prosa(argv[0], count, *argv[1:], environ=user(tmp_path))
    assert (status, "a project cannot set `plugins`" in at.err) == (1, True)


@pytest.mark.parametrize(
    ("files", "model_name"),
    [
        ({"prosa.toml": 'model = "mine"'}, "mine"),
        ({".git/HEAD": "", "pyproject.toml": '[tool.prosa]\nmodel = "pyproject"'}, "pyproject"),
        ({"prosa.toml": 'model = "mine"', "pyproject.toml": '[tool.prosa]\nmodel = "other"'}, "mine"),
        ({"prosa.toml": "", "pyproject.toml": '[tool.prosa]\nmodel = "other"'}, "gpt-4o"),
        ({".git/HEAD": "", "pyproject.toml": '[project]\nname = "x"'}, "gpt-4o"),
        ({".git/HEAD": "", "pyproject.toml": "no TOML" * 10_000}, "gpt-4o"),
    ],
    ids=range(6),
)
def test_x16_a_project_may_name_a_model(files: dict[str, str], model_name: str, count: Path, tmp_path: Path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    status, at = ran(count, "--summary")
    assert (status, json.loads(at.err)["model"]) == (0, model_name)


def test_a_setting_without_effect_is_told(count: Path, tmp_path: Path):
    (tmp_path / "prosa.toml").write_text('modle = "m"\n')
    status, at = ran(count)
    assert status == 0
    assert at.err.endswith("prosa.toml:1:1: there is no setting `modle`; did you mean `model`?\n")
    assert at.err.startswith("warning: ")


def limits(path: Path, folder: Path, *argv: str, settings: str = "") -> dict[str, Any]:
    """The limits that a run would have."""
    environ = user(folder, PROSA_CONFIG_DIR=configured(folder, settings))
    status, at = prosa("plan", path, "--format", "json", *argv, environ=environ)
    assert status == 0
    found: dict[str, Any] = json.loads(at.out)["limits"]
    return found


@pytest.mark.parametrize(
    ("front_matter", "settings", "argv", "name", "limit"),
    [
        ("", "", [], "iterations", 10),
        ("limits: {iterations: 20}", "", [], "iterations", 20),
        ("limits: {iterations: 200}", "", [], "iterations", 50),
        ("limits: {iterations: 20}", "[limits]\niterations = 5", [], "iterations", 20),
        ("", "[limits]\niterations = 80", [], "iterations", 80),
        ("limits: {iterations: 20}", "", ["--max-iterations", "99"], "iterations", 99),
        ("limits: {timeout: 60s}", "[limits]\nwall-clock = 3600", [], "wall_clock", 60),
        ("limits: {timeout: 600s}", "[limits]\nwall-clock = 30", [], "wall_clock", 30),
        ("limits: {timeout: 600s}", "[limits]\nwall-clock = 30", ["--timeout", "2h"], "wall_clock", 7200),
        ("limits: {retries: 10}", "[limits]\nretries = 2", [], "retries", 2),
        ("python: {timeout: 300, memory: 512MB}", "", [], "python_memory", 512 * 2**20),
        ("python: {timeout: 301}", "", [], "python_timeout", 300),
        ("python: {timeout: 10}", "", ["--python-timeout", "400s"], "python_timeout", 400),
        ("", "", ["--max-tool-result", "1000"], "tool_result", 1000),
        ("", "", ["--python-memory", "64"], "python_memory", 64 * 2**20),
    ],
)
def test_x9_la19_limits_are_lowered_by_anyone_and_raised_to_a_ceiling_by_a_document(
    front_matter: str, settings: str, argv: list[str], name: str, limit: float, tmp_path: Path
):
    path = program(tmp_path, more=f"{front_matter}\n" if front_matter else "")
    assert limits(path, tmp_path, *argv, settings=settings)[name] == limit
