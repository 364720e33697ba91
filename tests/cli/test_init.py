"""`prosa init`: only what is absent is written; what is there is added to at its end or left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import prosa
from prosa.app.init import PARTS, plan_parts, write_parts
from prosa.cli.main import main
from tests.cli.desk import desk
from tests.depth import examples
from tests.house.tree import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*argv: str) -> tuple[int, str, str]:
    at = desk(environ={"PROSA_CACHE_DIR": str(Path.cwd().parent / "cache-of-init")})
    status = main(["init", *argv], at.console)
    return status, at.out, at.err


def written(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_an_empty_project_gets_everything_once_and_it_is_valid(folder: Path):
    assert init("--diff")[0] == 1 and init("--dry-run")[0] == 0 and written(folder) == {}
    status, out, _ = init()
    assert status == 0 and out.splitlines() == [f"wrote {name}" for name in PARTS.values()]
    first = written(folder)
    assert sorted(first) == sorted(PARTS.values())
    status, out, err = init()
    assert (status, out, written(folder)) == (0, "", first) and err.count("left alone: ") == len(PARTS)
    at = desk(environ={"PROSA_CACHE_DIR": str(folder.parent / "cache-of-init")})
    assert main(["check", "--fail-on", "hint", "."], at.console) == 0, at.out
    for command, file in (
        ("pre_commit validate-config", PARTS["hook"]),
        ("check_jsonschema --builtin-schema vendor.github-workflows", PARTS["workflow"]),
    ):
        subprocess.run([sys.executable, "-m", *command.split(), file], check=True, capture_output=True)


def test_what_the_diff_shows_is_what_is_written(folder: Path):
    (folder / "AGENTS.md").write_text("# Agents\n\nBe kind.")
    _, diff, _ = init("--diff")
    before = folder / "before"
    before.mkdir()
    (before / "AGENTS.md").write_text("# Agents\n\nBe kind.")
    subprocess.run(["git", "apply", "-p0", "--unidiff-zero", "-"], input=diff, text=True, check=False, cwd=before)
    init()
    assert (folder / "AGENTS.md").read_text().startswith("# Agents\n\nBe kind.\n\n## Documents\n")
    assert "+## Documents" in diff and "-Be kind" in diff


def test_a_part_by_itself(folder: Path):
    assert init("--only", "skill")[0] == 0
    assert list(written(folder)) == [PARTS["skill"]]
    assert init("gone")[0] == 2


CONFIGS = [
    "repos:\n- repo: local\n  hooks: []\n",
    "fail_fast: true\nrepos:\n    - repo: local\n      hooks: []",
    "repos:\r\n  - repo: local\r\n    hooks: []\r\n",
]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_hook_is_added_to_the_others(folder: Path, config: str):
    file = folder / PARTS["hook"]
    file.write_bytes(config.encode())
    assert init("--only", "hook")[1] == f"wrote to {PARTS['hook']}\n"
    assert file.read_bytes().startswith(config.encode())
    assert [each["hooks"][0]["id"] for each in yaml.safe_load(file.read_text())["repos"][1:]] == ["prosa-check"]
    assert "names prosa already" in init("--only", "hook")[2]


@pytest.mark.parametrize(
    "config",
    ["repos: []\n", "repos: [{repo: local, hooks: []}]\n", "repos:\n- repo: x\nfail_fast: true\n", "a: [\n", ""],
)
def test_what_nothing_can_be_added_to_is_left_alone_and_the_text_is_shown(folder: Path, config: str):
    file = folder / PARTS["hook"]
    file.write_text(config)
    status, out, err = init("--only", "hook")
    assert (status, out) == (0, "") and file.read_text() == config
    assert "to add by hand:" in err and "prosa-check" in err


@settings(max_examples=examples(60), deadline=None)
@given(st.text(alphabet=" -:[]{}\nreposa#'|", max_size=40))
def test_no_configuration_loses_anything(tmp_path_factory: pytest.TempPathFactory, config: str):
    folder = tmp_path_factory.mktemp("init")
    file = folder / PARTS["hook"]
    file.write_text(config)
    before = file.read_bytes()
    assert write_parts(plan_parts(folder, ["hook"])) == {}
    assert file.read_bytes().startswith(before)


def test_x5_no_link_leads_out_and_a_file_that_changes_is_left_alone(folder: Path):
    outside = folder.parent / "outside-of-init"
    outside.mkdir()
    (folder / ".github").symlink_to(outside, target_is_directory=True)
    status, _, err = init("--only", "workflow")
    assert status != 0 and "leads out of the folder" in err and list(outside.iterdir()) == []
    parts = plan_parts(folder, ["agents"])
    (folder / "AGENTS.md").write_text("somebody else")
    (words,) = write_parts(parts).values()
    assert "changed" in words and (folder / "AGENTS.md").read_text() == "somebody else"


# ---- X44: what is written installs nothing by a name ----


def steps(folder: Path) -> list[dict[str, str]]:
    assert init("--only", "workflow")[0] == 0
    (job,) = yaml.safe_load((folder / PARTS["workflow"]).read_text())["jobs"].values()
    found: list[dict[str, str]] = job["steps"]
    return found


def test_x44_a_workflow_without_an_address_fails_with_one_sentence(folder: Path):
    (install,) = (each for each in steps(folder) if each.get("name") == "Install Prosa")
    done = subprocess.run(["bash", "-e", "-c", install["run"]], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == ""
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error title=Prosa::") and "replace this step" in line


@pytest.mark.parametrize("address", ["git+https://example.org/p@v{version}", "it's $(touch pwn); here"])
def test_x44_a_workflow_installs_from_the_address_of_the_owner(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("prosa.app.init.ADDRESS", address)
    (install,) = (each for each in steps(folder) if each.get("name") == "Install Prosa")
    done = subprocess.run(
        ["bash", "-c", f'pip() {{ printf "%s\\n" "$@"; }}; {install["run"]}'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["install", address.replace("{version}", prosa.__version__)]


def test_x44_nothing_that_is_written_names_a_package(folder: Path):
    assert init()[0] == 0
    for name, text in written(folder).items():
        assert "prosa-core" not in text and "pip install" not in text and "additional_dependencies" not in text, name
    (hook,) = yaml.safe_load((folder / PARTS["hook"]).read_text())["repos"][0]["hooks"]
    assert (hook["language"], hook["entry"]) == ("system", "prosa check")


def test_x44_the_flag_for_ci_writes_the_workflow_alone(folder: Path):
    """X44: its checkout leaves no credentials behind, and its actions are the commits that this project uses."""
    assert init("--ci")[0] == 0
    assert list(written(folder)) == [PARTS["workflow"]]
    (job,) = yaml.safe_load((folder / PARTS["workflow"]).read_text())["jobs"].values()
    assert job["steps"][0]["with"] == {"persist-credentials": False}
    own = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    assert all(f"uses: {each['uses']} " in own for each in job["steps"] if "uses" in each)


def test_x44_the_workflow_has_no_rights_and_plays_the_tests(folder: Path):
    found = steps(folder)
    workflow = yaml.safe_load((folder / PARTS["workflow"]).read_text())
    assert workflow["permissions"] == {"contents": "read"}
    (test,) = (each for each in found if each.get("run", "").startswith("prosa test"))
    assert "--replay tapes" in test["run"] and "hashFiles" in test["if"]
