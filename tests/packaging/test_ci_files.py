"""What runs at code hosts: the files satisfy their schemas and linters, and the step of the action does its work."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.packaging.validating import assert_fits

BIN = Path(sys.executable).parent
STEP = ROOT / "packaging" / "github" / "action.sh"
ACTION = ROOT / "action.yml"
CHOICES = {
    "PROSA_VERSION": "installed",
    "PROSA_COMMAND": "check",
    "PROSA_PATHS": ".",
    "PROSA_REPORT": "annotations",
    "PROSA_FAIL_ON": "error",
    "PROSA_INSTALL_ONLY": "false",
    "PROSA_ARGS": "",
    "PROSA_COMMENT_AUTHOR": "",
    "PROSA_TOKEN": "",
}


def test_the_action_is_valid_by_the_schema_of_github():
    assert_fits("vendor.github-actions", ACTION)


def test_the_step_and_the_image_satisfy_their_linters():
    subprocess.run([BIN / "shellcheck", str(STEP)], check=True, capture_output=True)
    subprocess.run([BIN / "hadolint", str(ROOT / "Dockerfile")], check=True, capture_output=True)


def test_no_choice_is_part_of_the_text_of_a_command():
    """A choice inside `run` would be shell code."""
    text = ACTION.read_text(encoding="utf-8")
    (run,) = re.findall(r"^ +run: (.+)$", text, re.MULTILINE)
    assert "${{" not in run
    assert set(re.findall(r"^ +(PROSA_\w+):", text, re.MULTILINE)) == set(CHOICES)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The folder of a job, with a document that has an error and one that has only a hint."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.md").write_text("[x](gone.md)\n")
    (tmp_path / "work" / "b c.md").write_text("# B\n")
    return tmp_path


def step(job: Path, **choices: str) -> tuple[int, str, dict[str, str], str]:
    """Exit status, log, outputs and summary of the step."""
    (job / "output").write_text("")
    (job / "summary").write_text("")
    environ = {
        **CHOICES,
        **choices,
        "PATH": f"{BIN}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "PYTHONPATH": str(ROOT / "src"),
        "PROSA_CACHE_DIR": str(job / "cache"),
        "GITHUB_OUTPUT": str(job / "output"),
        "GITHUB_STEP_SUMMARY": str(job / "summary"),
        "RUNNER_TEMP": str(job),
        "HOME": str(job),
    }
    ran = subprocess.run(
        ["bash", str(STEP)], cwd=job / "work", env=environ, capture_output=True, text=True, check=False
    )
    outputs = dict(line.split("=", 1) for line in (job / "output").read_text().splitlines())
    return ran.returncode, ran.stdout + ran.stderr, outputs, (job / "summary").read_text()


def test_a_check_annotates_counts_and_sums_up(job: Path):
    status, log, outputs, summary = step(job)
    assert status == 1 and "::error file=a.md,line=1" in log
    assert outputs["findings"] == "1" and re.fullmatch(r"\d+\.\d+\.\d+\S*", outputs["version"])
    assert summary.startswith("### Prosa: 1 error in 2 documents\n")


def test_a_report_in_sarif_is_a_file(job: Path):
    status, _, outputs, _ = step(job, PROSA_REPORT="sarif", PROSA_FAIL_ON="never")
    assert status == 0
    (run,) = json.loads(Path(outputs["sarif-file"]).read_text())["runs"]
    assert len(run["results"]) == 1


def test_paths_and_arguments_are_words_whatever_they_hold(job: Path):
    status, log, outputs, _ = step(job, PROSA_PATHS="b c.md\n\n", PROSA_ARGS="--ignore\nunresolved-link")
    assert (status, outputs["findings"]) == (0, "0"), log
    status, log, _, _ = step(job, PROSA_PATHS="$(touch hacked)")
    assert status == 2 and not (job / "work" / "hacked").exists() and "no such file" in log


@pytest.mark.parametrize(("name", "value"), [("COMMAND", "rm"), ("REPORT", "pdf"), ("VERSION", "1; rm -rf x")])
def test_a_choice_that_does_not_exist_is_said(job: Path, name: str, value: str):
    status, log, _, _ = step(job, **{f"PROSA_{name}": value})
    assert status == 2 and log.startswith("::error title=Prosa::")


def test_installing_alone_checks_nothing(job: Path):
    status, log, outputs, _ = step(job, PROSA_INSTALL_ONLY="true")
    assert (status, "::error" in log, list(outputs)) == (0, False, ["version"])


def snippets(head: str) -> list[str]:
    """The YAML below a heading of the page."""
    text = (ROOT / "docs" / "checking.md").read_text(encoding="utf-8")
    part = re.split(r"\n##+ ", text.partition(f"\n### {head}\n")[2])[0]
    return re.findall(r"^```yaml\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("head", "schema"),
    [
        ("GitHub Actions", "vendor.github-workflows"),
        ("Comments on pull requests", "vendor.github-workflows"),
        ("GitLab", "vendor.gitlab-ci"),
        ("Azure Pipelines", "vendor.azure-pipelines"),
    ],
)
def test_the_snippets_of_the_page_satisfy_the_schema_of_their_host(tmp_path: Path, head: str, schema: str):
    (snippet,) = snippets(head)
    file = tmp_path / "snippet.yml"
    file.write_text(snippet)
    assert_fits(schema, file)


def test_pre_commit_takes_the_configuration_of_the_page(tmp_path: Path):
    (snippet,) = snippets("pre-commit hooks")
    file = tmp_path / ".pre-commit-config.yaml"
    file.write_text(snippet)
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config", str(file)], check=True, capture_output=True)
