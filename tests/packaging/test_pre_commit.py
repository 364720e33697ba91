"""The hooks of pre-commit: the folder is as its generator writes it, and pre-commit itself reads and runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tools.packaging.pre_commit import FOLDER, contents

GIT = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def test_the_folder_is_what_its_generator_writes():
    """`python -m tools.packaging.pre_commit` writes it anew."""
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} == contents()


def test_pre_commit_takes_the_hooks():
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(FOLDER / ".pre-commit-hooks.yaml")]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that runs the hooks with the Prosa that is tested, since none is released."""
    environ = dict(GIT, PRE_COMMIT_HOME=str(tmp_path / "home"), PROSA_CACHE_DIR=str(tmp_path / "cache"))
    environ["PYTHONPATH"] = str(ROOT / "src")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "project"
    folder.mkdir()
    hooks = contents()[".pre-commit-hooks.yaml"].replace("language: python", "language: system")
    here = {"repo": "local", "hooks": "HOOKS"}
    config = json.dumps({"repos": [here]}).replace('"HOOKS"', json.dumps(_yaml(hooks)))
    (folder / ".pre-commit-config.yaml").write_text(config)
    git(folder, "init", "-q")
    return folder


def _yaml(text: str) -> list[dict[str, object]]:
    """The hooks, the first of them as strict as a project may have it."""
    import yaml

    found = yaml.safe_load(text)
    found[0]["args"] = ["--fail-on", "warning"]
    return found


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def hook(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", "run", name, "--verbose", "--files", "changed.md"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_hook_that_is_given_one_file_knows_the_others(project: Path):
    (project / "other.md").write_text("# Other\n")
    (project / "changed.md").write_text("[a](other.md#other), [b](other.md#gone)\n")
    git(project, "add", ".")
    ran = hook(project, "prosa-check")
    assert ran.returncode == 1 and "`other.md` has no heading `#gone`" in ran.stdout
    (project / "changed.md").write_text("[a](other.md#other)\n")
    git(project, "add", ".")
    assert hook(project, "prosa-check").returncode == 0
    assert hook(project, "prosa-check-all").returncode == 0


def test_the_formatting_hook_fails_once_and_leaves_the_normal_form(project: Path):
    (project / "changed.md").write_text("### @user\n\nHello.\n")
    git(project, "add", ".")
    first = hook(project, "prosa-fmt")
    git(project, "add", ".")
    second = hook(project, "prosa-fmt")
    assert (first.returncode, second.returncode) == (1, 0), first.stdout + second.stdout
