"""`prosa init`: only what is absent is written; what is there is added to at its end or left alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import prosa
from prosa.app.check.host_view import host_view
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


# ---- X38: what each host reads ----

SKILL = "prosa-check/SKILL.md"


def for_agents(folder: Path, before: dict[str, str], *argv: str) -> dict[str, str]:
    """What `init` writes or changes of the files for agents, by path, with the paths of imports in place of texts."""
    for name, text in before.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    status, _, err = init("--only", "agents", "--only", "skill", *argv)
    assert status == 0, err
    changed = {name: text for name, text in written(folder).items() if before.get(name) != text}
    return {name: text if text.startswith("@") else name.rpartition("/")[2] for name, text in changed.items()}


SHARED = {"AGENTS.md": "AGENTS.md"}


@pytest.mark.parametrize(("hosts", "expected"), [
    ("claude", {**SHARED, "CLAUDE.md": "@AGENTS.md\n", f".claude/skills/{SKILL}": "SKILL.md"}),
    ("codex", {**SHARED, f".agents/skills/{SKILL}": "SKILL.md"}),
    ("cursor", {**SHARED, f".agents/skills/{SKILL}": "SKILL.md"}),
    ("copilot", {**SHARED, f".agents/skills/{SKILL}": "SKILL.md"}),
    ("gemini", {**SHARED, "GEMINI.md": "@AGENTS.md\n", f".agents/skills/{SKILL}": "SKILL.md"}),
    ("claude copilot", {**SHARED, "CLAUDE.md": "@AGENTS.md\n", f".claude/skills/{SKILL}": "SKILL.md"}),
    ("claude codex copilot cursor gemini", {
        **SHARED, "CLAUDE.md": "@AGENTS.md\n", "GEMINI.md": "@AGENTS.md\n",
        f".agents/skills/{SKILL}": "SKILL.md", f".claude/skills/{SKILL}": "SKILL.md",
    }),
])  # fmt: skip
def test_x38_every_host_gets_what_it_reads_in_as_few_files_as_possible(
    folder: Path, hosts: str, expected: dict[str, str]
):
    named = [word for host in hosts.split() for word in ("--host", host)]
    assert for_agents(folder, {}, *named) == expected
    for host in hosts.split():
        read = [each.text for each in host_view(host, folder).files if each.loaded in ("start", "choice")]
        assert any("prosa check FILE" in text for text in read), host
        assert host == "cursor" or any(text.startswith("prosa-check: ") for text in read), host
    assert init("--only", "agents", "--only", "skill", *named)[1] == ""


@pytest.mark.parametrize(("before", "expected"), [
    ({"CLAUDE.md": "Be kind.\n"}, {"CLAUDE.md": "CLAUDE.md"}),
    ({"CLAUDE.md": "Be kind.\n\n@AGENTS.md\n"}, SHARED),
    ({".claude/CLAUDE.md": "@../AGENTS.md\n", "AGENTS.md": "Be kind.\n"}, SHARED),
    ({".claude/CLAUDE.md": "See `@../AGENTS.md`.\n"}, {".claude/CLAUDE.md": "CLAUDE.md"}),
    ({".claude/settings.json": "{}"}, {**SHARED, "CLAUDE.md": "@AGENTS.md\n"}),
    ({"AGENTS.override.md": "Be kind.\n", "AGENTS.md": "Be good.\n"}, {"AGENTS.override.md": "AGENTS.override.md"}),
    ({".gemini/settings.json": "{}", ".cursor/rules/a.mdc": "a"}, {**SHARED, "GEMINI.md": "@AGENTS.md\n"}),
    ({".github/workflows/a.yml": "a: 1\n", ".mcp.json": "{}"}, SHARED),
])  # fmt: skip
def test_x38_hosts_are_known_by_their_files_and_nothing_is_written_twice(
    folder: Path, before: dict[str, str], expected: dict[str, str]
):
    found = for_agents(folder, before)
    assert {name: text for name, text in found.items() if not name.endswith("SKILL.md")} == expected


def test_x38_a_program_on_the_path_is_a_host_and_is_not_executed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
):
    programs = tmp_path_factory.mktemp("programs")
    (programs / "claude").write_text(f"#!/bin/sh\ntouch '{folder}/executed'\n")
    (programs / "claude").chmod(0o755)
    at = desk(environ={"PATH": str(programs)})
    assert main(["init", "--dry-run"], at.console) == 0
    assert "agents here: Claude Code (claude on the PATH)" in at.err and "would write CLAUDE.md\n" in at.out
    assert list(folder.iterdir()) == []


def test_x38_a_link_to_the_shared_file_is_that_file(folder: Path):
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    assert init("--only", "agents")[1] == "wrote AGENTS.md\n"
    assert (folder / "CLAUDE.md").is_symlink() and "@AGENTS.md" not in (folder / "AGENTS.md").read_text()
    assert "CLAUDE.md: is AGENTS.md" in init("--only", "agents")[2]
    (folder / "GEMINI.md").symlink_to(folder.parent / "outside.md")
    assert init("--only", "agents", "--host", "gemini")[0] == 2 and not (folder.parent / "outside.md").exists()


def test_x38_a_skill_that_is_there_reaches_the_hosts_of_its_folder(folder: Path):
    before = {f".gemini/skills/{SKILL}": "mine", f".claude/skills/{SKILL}": "mine"}
    assert for_agents(folder, before, "--host", "claude", "--host", "copilot", "--host", "gemini").keys() == {
        *SHARED, "CLAUDE.md", "GEMINI.md",
    }  # fmt: skip
    assert init("--host", "claud")[0] == 2 and "did you mean claude?" in init("--host", "claud")[2]


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


def test_x44_a_workflow_without_an_address_fails_with_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("prosa.app.init.ADDRESS", "")
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


def test_x44_nothing_that_is_written_names_a_package(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("prosa.app.init.ADDRESS", "")
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
    (page,) = (each["with"]["path"] for each in found if "upload-artifact" in each.get("uses", ""))
    assert "$RUNNER_TEMP/tests.html" in test["run"] and page == "${{ runner.temp }}/tests.html"


@pytest.mark.parametrize("name", ["AGENTS.md", ".pre-commit-config.yaml"])
def test_what_is_added_ends_its_lines_as_the_file_does(folder: Path, name: str):
    (folder / name).write_bytes(b"# Mine\r\n" if name == "AGENTS.md" else b"repos:\r\n- repo: local\r\n  hooks: []\r\n")
    assert init()[0] == 0
    data = (folder / name).read_bytes()
    assert b"prosa" in data and data.count(b"\n") == data.count(b"\r\n")


def test_settings_of_a_pyproject_are_not_put_out_of_force(folder: Path):
    """A `prosa.toml` takes the place of `[tool.prosa]`, so an empty one would drop the settings of the project."""
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n\n[tool.prosa]\nstrict = true\n")
    status, out, err = init()
    assert status == 0 and not (folder / "prosa.toml").exists() and "wrote AGENTS.md" in out
    assert "left alone: prosa.toml: pyproject.toml has [tool.prosa], which would count no more" in err
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert init("--only", "settings")[1] == "wrote prosa.toml\n"


def test_x44_what_counts_only_at_the_top_of_a_repository_is_not_written_below_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """A package of a monorepo: GitHub and pre-commit would not look there. The text to add is for this package."""
    (folder / ".git").mkdir()
    package = folder / "packages" / "my.ferries"
    (package / "tapes").mkdir(parents=True)
    monkeypatch.chdir(package)
    status, out, err = init()
    assert status == 0 and out.splitlines() == [
        f"wrote {each}" for name, each in PARTS.items() if name not in ("hook", "workflow")
    ]
    for name in ("hook", "workflow"):
        assert f"left alone: {folder / PARTS[name]}: counts only there, and `init` writes into . alone" in err
        assert not (package / PARTS[name]).exists() and not (folder / PARTS[name]).exists()
    told = json.loads(init("--only", "hook", "--ci", "--format", "json")[1])["left"]
    hook, workflow = (yaml.safe_load(each["by_hand"]) for each in told)
    pattern = re.compile(hook[0]["hooks"][0]["files"])
    assert pattern.search("packages/my.ferries/docs/a.md") and not pattern.search("packages/my_ferries/a.md")
    runs = [each.get("run", "") for each in workflow["jobs"]["prosa"]["steps"]]
    assert any(each.startswith("prosa check packages/my.ferries --format") for each in runs)
    assert any("prosa test packages/my.ferries --replay packages/my.ferries/tapes --format" in each for each in runs)
    assert told[1]["by_hand"].count("hashFiles('packages/my.ferries/tapes/**')") == 2
    (folder / PARTS["hook"]).write_text(f"repos:\n{told[0]['by_hand']}")
    assert "names prosa already" in init("--only", "hook")[2]
    monkeypatch.chdir(folder)
    assert init("--ci")[1] == f"wrote {PARTS['workflow']}\n"
