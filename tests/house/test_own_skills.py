"""The files for agents that this repository carries: without findings, read by every host, with cases that can fail.

Whether the skills help a model is not measured here: answers are scripted.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.app.check.host_view import host_views
from prosa.cli.main import main
from prosa.dialects.context.hosts import HOSTS
from prosa.dialects.context.places import JSON_FILES
from tests.app.evals.suites import report, test
from tests.cli.desk import desk
from tests.house.tree import ROOT

SKILLS = sorted(path.parent for path in (ROOT / "skills").glob("*/SKILL.md"))
CONTEXT = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", *(name for name in JSON_FILES if (ROOT / name).exists())]


def test_x38_own_context_files_and_skills_have_no_findings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    for argv in (["--strict", *CONTEXT, "skills"], ["--profile", "agentskills", "skills"]):
        at = desk()
        assert main(["check", "--fail-on", "hint", "--no-cache", *argv], at.console) == 0, at.out


def test_x38_every_host_reads_the_same_instructions_here():
    text = (ROOT / "AGENTS.md").read_text()
    views = {view.host.name: view for view in host_views(ROOT)}
    assert sorted(views) == sorted(host.name for host in HOSTS)
    for view in views.values():
        read = [file for file in view.files if file.loaded == "start" and file.text.strip() == text.strip()]
        assert [file.path for file in read] == ["AGENTS.md"] and not read[0].cut, view.host.title


def test_the_plugin_has_the_skills_and_the_marketplace_has_the_plugin():
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    assert [path.name for path in SKILLS] == ["prosa-check", "prosa-site", "prosa-test"]
    (entry,) = market["plugins"]
    assert entry["name"] == plugin["name"] and (ROOT / entry["source"] / ".claude-plugin" / "plugin.json").is_file()


@pytest.mark.parametrize("skill", SKILLS, ids=lambda path: path.name)
def test_x32_every_case_passes_with_its_answer_and_fails_without(
    skill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """X32. The answer to a case is what its assertions ask for; without the skill a model has said nothing of it."""
    monkeypatch.chdir(tmp_path)
    cases = json.loads((skill / "evals" / "evals.json").read_text())["evals"]
    requests = json.loads((skill / "evals" / "trigger-eval.json").read_text())
    replies: list[dict[str, object]] = []
    for case in cases:
        words = [each["contains"] for each in case["assertions"] if "contains" in each]
        assert words and {word for each in case["assertions"] for word in each} <= {"contains", "not-contains"}
        replies += [
            {"program": skill.name, "content": " ".join(words)},
            {"program": f"{skill.name}-without", "content": "Read the manual."},
        ]
    for each in requests:
        loaded = skill.name if each["should_trigger"] else each.get("expected_skill", "")
        call = {"tool_calls": [{"name": "skill", "arguments": {"name": loaded}}]} if loaded else {"content": "Done."}
        replies.append({"program": f"{skill.name}-triggers", **call})
    Path("replies.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in replies))
    status, at = test(
        tmp_path, str(skill), "--model", "scripted:replies.jsonl", "--concurrency", "1", "--format", "json"
    )
    assert status == 0, at.out + at.err
    told = report(at)
    (lift,) = [each["lift"] for each in told["comparisons"]]
    assert (lift["with"]["rate"], lift["without"]["rate"], len(cases) >= 8) == (1.0, 0.0, True)
    (routing,) = [each["routing"] for each in told["suites"] if "routing" in each]
    assert sorted(routing["offered"]) == [path.name for path in SKILLS]
