"""X37, X44: a report becomes one comment of a pull request, and nothing of another author is ever changed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.house.tree import ROOT
from tests.loopback import answering
from tests.packaging.test_ci_files import BIN, CHOICES, STEP

SCRIPT = ROOT / "packaging" / "github" / "comment.py"
TOKEN, READS = "ghs_writes", "ghs_reads"
BOT = "github-actions[bot]"
MARK = re.compile(r"<!-- prosa test [0-9a-f]{12} -->\n")


class Hub:
    """A fake of the API of GitHub for the comments of one pull request, as strict as it: tokens, rights, pages of at
    most 100, bodies of at most 65,536 characters."""

    def __init__(self) -> None:
        self.address = ""
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.fails: dict[str, tuple[int, dict[str, str]]] = {}

    def add(self, body: str, login: str = "ada") -> int:
        """Add a comment of a person or a program, and return its number."""
        number = 1_000 + len(self.comments)
        self.comments.append({"id": number, "body": body, "user": {"login": login}})
        return number

    def body(self, number: int) -> str:
        return next(str(each["body"]) for each in self.comments if each["id"] == number)

    def answer(self, method: str, path: str, token: str, data: Any) -> tuple[int, Any, dict[str, str]]:
        parts = urlsplit(path)
        self.asked.append(f"{method} {path}")
        if method in self.fails:
            status, headers = self.fails[method]
            return status, {"message": "no"}, headers
        if token not in (TOKEN, READS):
            return 401, {"message": "Bad credentials"}, {}
        if not parts.path.startswith("/repos/own/repo/issues/"):
            return 404, {"message": "Not Found"}, {}
        if method != "GET" and token == READS:
            return 403, {"message": "Resource not accessible by integration"}, {}
        rest = parts.path.removeprefix("/repos/own/repo/issues/")
        if method == "GET" and rest == "7/comments":
            asked = parse_qs(parts.query)
            size, page = min(100, int(asked.get("per_page", ["30"])[0])), int(asked.get("page", ["1"])[0])
            return 200, self.comments[(page - 1) * size : page * size], {}
        if method != "GET" and (not isinstance(data, dict) or not 0 < len(data.get("body", "")) <= 65_536):
            return 422, {"message": "Validation Failed"}, {}
        if method == "POST" and rest == "7/comments":
            self.add(data["body"], BOT)
            return 201, self.comments[-1], {}
        found = [each for each in self.comments if rest == f"comments/{each['id']}"]
        if method == "PATCH" and found:
            found[0]["body"] = data["body"]
            return 200, found[0], {}
        return 404, {"message": "Not Found"}, {}


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            data = json.loads(self.rfile.read(size)) if size else None
            assert self.headers["Accept"] == "application/vnd.github+json" and self.headers["User-Agent"]
            token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
            status, value, headers = hub.answer(self.command, self.path, token, data)
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def do_POST(self) -> None:
            self.do_GET()

        def do_PATCH(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            return

    with answering(Handler) as port:
        hub.address = f"http://127.0.0.1:{port}"
        yield hub


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job about pull request 7 of the repository itself, with a report."""
    event(tmp_path, "own/repo")
    (tmp_path / "comment.md").write_text("### better\n\n| a | b |\n")
    return tmp_path


def event(job: Path, head: str | None) -> None:
    repo = None if head is None else {"full_name": head}
    (job / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "head": {"repo": repo}}}))


def posted(job: Path, hub: Hub, *, script: bool = False, **more: str) -> tuple[int, str, str]:
    """Exit status, log and summary of the step."""
    (job / "summary").write_text("")
    environ = {
        "PATH": f"{BIN}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "GITHUB_API_URL": hub.address,
        "GITHUB_EVENT_PATH": str(job / "event.json"),
        "GITHUB_REPOSITORY": "own/repo",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_RUN_ID": "42",
        "GITHUB_WORKFLOW": "tests",
        "GITHUB_STEP_SUMMARY": str(job / "summary"),
        "PROSA_TOKEN": TOKEN,
        "RUNNER_TEMP": str(job),
        "HOME": str(job),
        "no_proxy": "*",
    }
    choices = {**CHOICES, "PROSA_COMMAND": "comment", "PROSA_PATHS": "comment.md"} if script else {}
    command = ["bash", str(STEP)] if script else [sys.executable, "-I", str(SCRIPT), "comment.md"]
    own = {**choices, **environ, **more}
    ran = subprocess.run(command, cwd=job, env=own, capture_output=True, text=True, check=False)
    assert TOKEN not in ran.stdout + ran.stderr and "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout + ran.stderr, (job / "summary").read_text()


def test_x37_the_first_report_is_a_comment_and_the_next_changes_it(job: Path, hub: Hub):
    status, log, summary = posted(job, hub, script=True)
    (first,) = hub.comments
    assert (status, summary) == (0, "") and "a comment was added" in log
    assert MARK.match(first["body"]) and "### better" in first["body"]
    assert "https://github.example/own/repo/actions/runs/42#artifacts" in first["body"]
    (job / "comment.md").write_text("### worse\n")
    assert "brought up to date" in posted(job, hub, script=True)[1]
    assert len(hub.comments) == 1 and "### worse" in hub.comments[0]["body"]


def test_x37_the_same_report_again_changes_nothing(job: Path, hub: Hub):
    posted(job, hub)
    hub.comments[0]["body"] = hub.comments[0]["body"].replace("\n", "\r\n")
    assert "up to date" in posted(job, hub)[1]
    assert not any(each.startswith("PATCH") for each in hub.asked)


def test_x37_a_marker_in_the_comment_of_another_author_is_left_alone(job: Path, hub: Hub):
    posted(job, hub)
    own = hub.comments.pop()["body"]
    quotations = [hub.add(own), hub.add(own, "copy[bot]"), hub.add(f"> {own}", BOT), hub.add(f"See\n{own}", BOT)]
    before = [hub.body(each) for each in quotations]
    assert "a comment was added" in posted(job, hub)[1]
    assert [hub.body(each) for each in quotations] == before
    assert len(hub.comments) == 5


def test_x37_a_token_of_another_author_finds_its_own_comment(job: Path, hub: Hub):
    posted(job, hub)
    hub.comments[0]["user"]["login"] = "Reporter[bot]"
    (job / "comment.md").write_text("### worse\n")
    assert "brought up to date" in posted(job, hub, PROSA_COMMENT_AUTHOR="reporter[bot]")[1]


def test_x37_other_reports_and_workflows_have_comments_of_their_own(job: Path, hub: Hub):
    posted(job, hub)
    posted(job, hub, GITHUB_WORKFLOW="nightly")
    assert len({each["body"].partition("\n")[0] for each in hub.comments}) == 2


@pytest.mark.parametrize("before", [0, 99, 100, 250])
def test_x37_the_comment_is_found_on_any_page(job: Path, hub: Hub, before: int):
    for _ in range(before):
        hub.add("me too")
    posted(job, hub)
    (job / "comment.md").write_text("### worse\n")
    posted(job, hub)
    assert len(hub.comments) == before + 1
    assert "### worse" in hub.comments[-1]["body"]


def test_x37_a_comment_that_was_deleted_meanwhile_is_added_again(job: Path, hub: Hub):
    posted(job, hub)
    hub.fails["PATCH"] = (404, {})
    (job / "comment.md").write_text("### worse\n")
    assert "a comment was added" in posted(job, hub)[1]


@pytest.mark.parametrize("head", ["stranger/repo", None])
def test_x37_from_a_fork_nothing_is_posted_or_asked_and_the_summary_has_the_report(
    job: Path, hub: Hub, head: str | None
):
    event(job, head)
    status, log, summary = posted(job, hub, script=True)
    assert (status, hub.asked) == (0, [])
    assert "::notice" in log and "from a fork" in log
    assert summary == "### better\n\n| a | b |\n"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"PROSA_TOKEN": ""}, "no token"),
        ({"PROSA_TOKEN": "wrong"}, "not valid"),
        ({"PROSA_TOKEN": READS}, "permissions: pull-requests: write"),
        ({"GITHUB_REPOSITORY": "own/other"}, "from a fork"),
        ({"GITHUB_EVENT_PATH": "gone.json"}, "about no pull request"),
        ({"GITHUB_API_URL": "http://example.org"}, "not https"),
        ({"GITHUB_API_URL": "http://127.0.0.1:9"}, "no answer"),
    ],
)
def test_x37_what_keeps_a_comment_from_being_posted_is_said_and_fails_nothing(
    job: Path, hub: Hub, more: dict[str, str], message: str
):
    status, log, summary = posted(job, hub, **more)
    assert (status, hub.comments) == (0, [])
    assert message in log and summary.startswith("### better")


@pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        (404, {}, "no such pull request"),
        (403, {"x-ratelimit-remaining": "0"}, "too many requests"),
        (429, {"retry-after": "60"}, "too many requests"),
        (502, {}, "answered 502"),
        (302, {"Location": "http://127.0.0.1:9/"}, "answered 302"),
    ],
)
def test_x37_a_failing_service_is_said_and_fails_nothing(
    job: Path, hub: Hub, status: int, headers: dict[str, str], message: str
):
    hub.fails["GET"] = (status, headers)
    ended, log, summary = posted(job, hub)
    assert ended == 0 and message in log and summary.startswith("### better")
    assert len(hub.asked) == 1


def test_x37_a_report_that_is_too_long_is_cut_with_its_fence_closed(job: Path, hub: Hub):
    (job / "comment.md").write_text("# A\n````text\n" + "```x\nü\n" * 20_000 + "````\n")
    posted(job, hub)
    (comment,) = hub.comments
    assert len(comment["body"]) <= 65_000
    assert "\n````\n… the rest is in the whole report.\n" in comment["body"]


def test_x37_a_report_that_is_not_there_fails_the_step(job: Path, hub: Hub):
    (job / "comment.md").unlink()
    status, log, _ = posted(job, hub)
    assert status == 1 and "cannot be read" in log


def test_x44_the_token_goes_to_the_command_that_posts_alone(job: Path, hub: Hub):
    """X44: tests of a pull request run without it, and posting runs nothing of one."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert "PROSA_TOKEN: ${{ inputs.command == 'comment' && inputs.token || '' }}" in text
    (job / "prosa").write_text('#!/bin/sh\necho "token=${PROSA_TOKEN-none} $*"\n')
    (job / "prosa").chmod(0o755)
    (job / "json.py").write_text("open('canary', 'w')\n")
    found = {**CHOICES, "PROSA_COMMAND": "test", "PROSA_TOKEN": TOKEN, "PATH": f"{job}:/usr/bin:/bin"}
    ran = subprocess.run(["bash", str(STEP)], cwd=job, env=found, capture_output=True, text=True, check=False)
    assert "token=none test --report" in ran.stdout, ran.stderr
    assert posted(job, hub, script=True, PYTHONPATH=str(job))[0] == 0
    assert not (job / "canary").exists()


def test_a_test_writes_its_reports_into_a_folder_and_the_summary(job: Path):
    (job / "prosa").write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo prosa 9 && exit\necho "$@" >args\n'
        'echo "### better" >"$3"; echo page >"$5"; exit 1\n'
    )
    (job / "prosa").chmod(0o755)
    more = {"GITHUB_OUTPUT": str(job / "output"), "GITHUB_STEP_SUMMARY": str(job / "summary"), "RUNNER_TEMP": str(job)}
    choices = {**CHOICES, "PROSA_COMMAND": "test", "PROSA_PATHS": "skills", "PROSA_ARGS": "--replay\ntapes"}
    environ = {**choices, **more, "PATH": f"{job}:/usr/bin:/bin"}
    ran = subprocess.run(["bash", str(STEP)], cwd=job, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    folder = Path(dict(line.split("=", 1) for line in (job / "output").read_text().splitlines())["report-folder"])
    assert sorted(each.name for each in folder.iterdir()) == ["comment.md", "report.html"]
    assert (job / "summary").read_text() == "### better\n"
    assert (job / "args").read_text().endswith("--format github --replay tapes -- skills\n")
