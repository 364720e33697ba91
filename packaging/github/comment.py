"""Post a report as one comment of a pull request, or say why not: `python3 -I comment.py REPORT.md`.

The comment is found again by a marker on its first line and by its author: no quotation, and no comment of another
author, is ever changed. From a fork, without a token, or with one that may only read, nothing is posted: the
report stands in the summary of the job, and a notice says so. The exit status is 1 only for a report that cannot be
read: whether tests passed is for their own job to say. It uses the standard library alone, follows no redirect, and
never prints the token.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MAX_BODY = 65_000
"""Characters; GitHub refuses comments of more than 65,536."""

MAX_PAGES = 100
"""Pages of 100 comments that are looked through."""

MAX_ANSWER = 20_000_000
"""Bytes of an answer of the API: a page of the largest comments has half as many."""

TIMEOUT = 20.0


class Refused(Exception):
    """A request that the API refused, with its status; 0 for no answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other: the token goes to no other address."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def main(path: str, environ: Mapping[str, str]) -> int:
    """Post the report in a file, or say why not. Return the exit status."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        say("error", f"{path}: the report cannot be read: {error}")
        return 1
    number, why = pull_request(environ)
    if not why and not environ.get("PROSA_TOKEN"):
        why = "there is no token"
    kind = "notice"
    if not why:
        try:
            say("notice", post(Api(environ), number, body_of(text, path, environ), environ))
            return 0
        except Refused as problem:
            kind, why = "warning", words(problem)
    say(kind, f"nothing is posted: {why}; the report is in the summary of the job")
    summarise(text, environ)
    return 0


def pull_request(environ: Mapping[str, str]) -> tuple[int, str]:
    """Return the number of the pull request that the job is about, and why nothing can be posted on it."""
    try:
        event = json.loads(Path(environ.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        event = {}
    found = event.get("pull_request") if isinstance(event, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("number"), int):
        return 0, "the job is about no pull request"
    head = (found.get("head") or {}).get("repo") or {}
    if str(head.get("full_name", "")).lower() != environ.get("GITHUB_REPOSITORY", "").lower():
        return found["number"], "the pull request comes from a fork, whose token may only read"
    return found["number"], ""


def marker(path: str, environ: Mapping[str, str]) -> str:
    """Return the first line of the comment: one for each workflow and report."""
    name = f"{environ.get('GITHUB_WORKFLOW', '')}\0{Path(path).as_posix()}"
    return f"<!-- prosa test {hashlib.sha256(name.encode()).hexdigest()[:12]} -->"


def body_of(text: str, path: str, environ: Mapping[str, str]) -> str:
    """Return the comment: the marker, the report, and where its page is."""
    server, repository, run = (environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    link = f"\n\n[The whole report]({server}/{repository}/actions/runs/{run}#artifacts) is an artifact of this run.\n"
    first = marker(path, environ)
    room = MAX_BODY - len(first) - len(link) - 60
    if len(text) > room:
        text = f"{text[:room].rpartition(chr(10))[0]}\n{_closing(text[:room])}\n… the rest is in the whole report.\n"
    return f"{first}\n{text.rstrip()}{link}"


def _closing(text: str) -> str:
    """Return what closes the fence that a cut leaves open; empty if none is."""
    opened = ""
    for line in text.splitlines():
        fence = re.match(r"`{3,}", line)
        if fence and (not opened or (line.strip() == fence[0] and len(fence[0]) >= len(opened))):
            opened = "" if opened else fence[0]
    return opened


class Api:
    """The comments of a repository."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.base = environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
        self.token = environ["PROSA_TOKEN"]
        self.repository = environ.get("GITHUB_REPOSITORY", "")
        if not re.match(r"https://|http://(?:127\.0\.0\.1|localhost)(?::|/|$)", self.base):
            raise Refused(0, "the address of the API is not https")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", self.repository):
            raise Refused(0, "there is no name of a repository")

    def ask(self, method: str, path: str, data: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - it is JSON
        """Return the answer to a request. Raises `Refused`."""
        request = urllib.request.Request(  # noqa: S310 - the scheme is looked at above
            f"{self.base}/repos/{self.repository}{path}",
            data=None if data is None else json.dumps(data).encode(),
            method=method,
            headers={
                "Authorization": f"Bearer {self.token}",
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
                "User-Agent": "prosa-action",
                "Content-Type": "application/json",
            },
        )
        try:
            with _OPENER.open(request, timeout=TIMEOUT) as answer:
                return json.loads(answer.read(MAX_ANSWER))
        except urllib.error.HTTPError as error:
            limited = error.headers.get("x-ratelimit-remaining") == "0" or error.headers.get("retry-after")
            error.close()
            raise Refused(429 if limited else error.code, f"the API answered {error.code}") from None
        except (OSError, ValueError) as error:
            raise Refused(0, f"the API gave no answer that can be read ({type(error).__name__})") from None

    def comments(self, number: int) -> Iterator[Mapping[str, Any]]:
        """Yield the comments of a pull request, oldest first."""
        for page in range(1, MAX_PAGES + 1):
            found = self.ask("GET", f"/issues/{number}/comments?per_page=100&page={page}")
            if not isinstance(found, list):
                raise Refused(0, "the API gave no list of comments")
            yield from (each for each in found if isinstance(each, dict))
            if len(found) < 100:
                return


def post(api: Api, number: int, body: str, environ: Mapping[str, str]) -> str:
    """Change the comment that is there, or add one, and return what was done. Raises `Refused`."""
    first, author = body.partition("\n")[0], environ.get("PROSA_COMMENT_AUTHOR") or "github-actions[bot]"
    mine = next((each for each in api.comments(number) if is_mine(each, first, author)), None)
    if mine is not None and mine.get("body", "").replace("\r\n", "\n").strip() == body.strip():
        return "the comment is up to date"
    if mine is not None and isinstance(mine.get("id"), int):
        try:
            api.ask("PATCH", f"/issues/comments/{mine['id']}", {"body": body})
            return "the comment was brought up to date"
        except Refused as problem:
            if problem.status != 404:
                raise
    api.ask("POST", f"/issues/{number}/comments", {"body": body})
    return "a comment was added"


def is_mine(comment: Mapping[str, Any], first: str, author: str) -> bool:
    """Return whether a comment begins with the marker and is by the author that this job posts as."""
    user = comment.get("user") or {}
    begins = str(comment.get("body") or "").replace("\r\n", "\n").startswith(f"{first}\n")
    return begins and str(user.get("login", "")).lower() == author.lower()


def words(problem: Refused) -> str:
    """Return why a request was refused, and what to do."""
    told = {
        401: "the token is not valid",
        403: "the token may only read; the job needs `permissions: pull-requests: write`",
        404: "there is no such pull request, or the token may not see it",
        410: "comments are switched off here",
        422: "the comment was refused; the pull request may be locked",
        429: "there were too many requests",
    }
    return told.get(problem.status, str(problem))


def summarise(text: str, environ: Mapping[str, str]) -> None:
    """Add the report to the summary of the job, where there is one."""
    if path := environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(f"{text.rstrip()}\n")


def say(kind: str, text: str) -> None:
    """Print a message of the step, on one line."""
    line = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{kind} title=Prosa::{line}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], os.environ))
