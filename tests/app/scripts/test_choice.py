"""Which scripts run, in which order, and what is said of the others."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from prosa.render.planned import PlannedScripts
from tests.app.scripts.documents import block, document, lines_of, own, run, trusting
from tests.cli.programs import prosa


def test_ma12_without_a_choice_the_plan_is_printed_and_nothing_runs(report: Path):
    status, at = run(report)
    assert status == 2
    assert [line.partition(" (line")[0] for line in at.out.splitlines() if line[:1].isdigit()] == [
        "1. data",
        "2. later",
        "3. ask",
        "4. sum",
    ]
    assert "sum (line 9): runs: asks for auto-run: --auto or --all" in at.out
    assert "does not run: is for the environment browser, and this is server" in at.out
    assert "nothing was run: choose what runs: --script ID…, --auto, --all or --stale" in at.err


def test_ma12_without_a_choice_json_lines_stay_clean(report: Path):
    status, at = run(report, "--format", "jsonl", "--write")
    assert (status, at.out) == (2, "")
    assert json.loads(at.err)["message"].startswith("nothing was run")


def test_m26_ma13_all_run_by_priority_and_then_in_document_order(tmp_path: Path):
    names = (("a", {"priority": "low"}), ("b", {}), ("c", {"priority": "soon"}), ("d", {"priority": "high"}))
    path = document(tmp_path, "Text.\n", *(block(name, **more) for name, more in names), block("e", priority="medium"))
    status, at = run(path, "--all", "--format", "jsonl", "--jobs", "1")
    assert status == 0
    assert [line["script"] for line in lines_of(at)] == ["d", "b", "e", "a", "c"]


def test_m24_ma9_a_script_is_named_by_its_address(tmp_path: Path):
    path = document(tmp_path, "Text.\n", block("twin", "One."), block("twin", "Two."))
    replies = ({"program": "twin", "content": "first"}, {"program": "twin@7", "content": "second"})
    status, at = run(path, "--script", "twin@7", replies=replies)
    assert (status, at.out) == (0, "second\n")
    status, at = run(path, "--script", "twin", replies=replies)
    assert (status, at.out) == (0, "first\n")


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (("--script", "dat"), "has no script 'dat'", "did you mean data?"),
        (("--script", "nothing"), "has no script 'nothing'", "its scripts are sum, data, later, ask"),
        (("--script", "later"), "`later` was not run: is for the environment browser", "--env browser"),
        (("--script", "ask"), "`ask` was not run: waits for a text: --input TEXT or ask=TEXT", ""),
        (("--all", "--auto"), "--auto and --all choose differently", ""),
        (("--all", "--input", "x", "--script", "sum"), "--script and --all choose differently", ""),
        (("--all", "data=x"), "no script 'data' takes a text", "these take a text: ask"),
        (("--all", "--tool", "shell"), "there is no tool 'shell'", "known: python"),
        (("--all", "--force"), "--force is about results in the document", ""),
        (("--all", "--write", "--output", "x"), "--output and --write are two places", ""),
        (("--all", "--output", "gone/x"), "the folder gone does not exist", ""),
        (("--as", "prapti"), "nothing in it can be run here", ""),
        (("--as", "markdownlang", "--all"), "is read as a program", "--as magi"),
    ],
)
def test_wrong_use_is_told_before_anything_runs(argv: tuple[str, ...], message: str, hint: str, report: Path):
    status, at = run(report, *argv)
    assert (status, at.out) == (2, "")
    assert message in at.err and hint in at.err


def test_a_script_with_errors_is_not_run_and_the_others_are(tmp_path: Path):
    path = document(tmp_path, "Text.\n", block("good"), block("bad").replace('"prompt"', '"prompts"'), block(None))
    status, at = run(path, "--all", "--format", "jsonl")
    assert status == 1
    good, bad, nameless = lines_of(at)
    assert (good["script"], good["ok"], good["result"]) == ("good", True, "Done.")
    assert (bad["script"], bad["ok"]) == ("bad", False)
    assert bad["error"] == f"{path}:8: `prompt` is missing: an ai-script block needs a string"
    assert (nameless["script"], nameless["ok"]) == ("@11", False)
    status, at = run(path, "--script", "bad")
    assert (status, at.out) == (1, "")
    assert f"run: prosa check {path}" in at.err


def test_m33_ma12_the_environment_filters_and_is_never_contacted(tmp_path: Path):
    path = document(
        tmp_path,
        block("here", **{"runtime-env": "Server"}),
        block("there", **{"runtime-env": "https://127.0.0.1:9/run"}),
        block("anywhere"),
    )
    assert [line["script"] for line in lines_of(run(path, "--all", "--format", "jsonl")[1])] == ["here", "anywhere"]
    status, at = run(path, "--all", "--env", "https://127.0.0.1:9/run", "--format", "jsonl")
    assert [line["script"] for line in lines_of(at)] == ["there", "anywhere"]
    assert status == 0


def test_m37_m38_m39_an_input_field_takes_its_text_from_the_command_line(report: Path):
    for argv in (("--input", "Why?"), ("ask=Why?",), ("text=Why?",)):
        replies = ({"program": "ask", "content": "Because."},)
        status, at = run(report, "--script", "ask", *argv, replies=replies)
        assert (status, at.out) == (0, "Because.\n")
    _, at = prosa("render", report, "--script", "ask", "--input", "Why?", environ=own(report.parent))
    assert at.out.endswith("Answer.\n\nThe text that was entered:\n\n```text\nWhy?\n```\n")


def test_m37_without_a_text_the_others_run(report: Path):
    status, at = run(report, "--all", "--format", "jsonl", replies=({"content": {"n": 1}}, {"content": "Sum."}))
    assert status == 0
    assert [line["script"] for line in lines_of(at)] == ["data", "sum"]
    assert at.err == ""
    assert "ask (line" in prosa("plan", report, "--all", environ=own(report.parent))[1].out


def test_ma15_m27_what_runs_by_itself_asks_nobody(tmp_path: Path):
    path = document(tmp_path, block("auto", **{"auto-run": True, "interactive-type": "inputbox"}))
    assert trusting(path)[0] == 0
    status, at = run(path, "--auto")
    assert (status, at.out) == (0, "Done.\n")
    assert "takes a text" in run(path, "--all", "--input", "x")[1].err


def test_a_script_that_looks_like_one_is_none(tmp_path: Path):
    """M40, MA2, MA3."""
    hint = "<!-- AI-PROCESSOR: blocks with ```ai-script are for programs -->\n"
    quoted = "> " + "\n> ".join(block("quoted").splitlines()) + "\n"
    path = document(tmp_path, hint + block("real"), f"````markdown\n{block('example')}````\n", quoted)
    status, at = run(path, "--all", "--format", "jsonl")
    assert (status, [line["script"] for line in lines_of(at)]) == (0, ["real", "quoted"])


def test_nothing_to_run_is_no_failure(tmp_path: Path):
    path = document(tmp_path, "Text.\n")
    status, at = run(path, "--all")
    assert (status, at.out) == (0, "")
    assert "nothing to run" in at.err


def test_a_plain_document_is_a_program_unless_somebody_says_otherwise(tmp_path: Path):
    """M2: what makes a document one of scripts."""
    path = document(tmp_path, "Text.\n", block("one"), name="plain.md")
    status, at = run(path, "--all")
    assert status == 2 and "--all is about ai-scripts" in at.err and "--as magi" in at.err
    assert run(path, "--all", "--as", "magi")[1].out == "Done.\n"
    (tmp_path / "prosa.toml").write_text('[dialects]\n"*.md" = "magi"\n')
    assert run(path, "--all")[1].out == "Done.\n"


def test_the_plan_of_a_run_as_json(report: Path):
    _, at = prosa("plan", report, "--format", "json", environ=own(report.parent))
    plan = json.loads(at.out)
    msgspec.convert(plan, PlannedScripts)
    assert [(each["script"], each["order"], each["kind"]) for each in plan["scripts"]] == [
        ("data", 1, "runs"),
        ("later", 2, "environment"),
        ("ask", 3, "text"),
        ("sum", 4, "runs"),
    ]
    assert (plan["env"], plan["context"]) == ("server", "document")
