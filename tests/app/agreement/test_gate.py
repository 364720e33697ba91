"""X47: which runs the agreement gates, decided in one place."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import prosa as library
from prosa.app.options import Options
from prosa.dialects.markdownlang.agreement import PHRASES
from tests.app.mail.steps import text_of
from tests.app.run.skills.worlds import skill
from tests.app.trust.places import GRADES, REPLY
from tests.app.trust.places import program as grader
from tests.cli.desk import Desk
from tests.cli.programs import ROOT, program, prosa, script, user
from tests.mcp_server.folder import served
from tests.web.run.site import site

REFUSED = "The markdownlang agreement has not been accepted yet."
TEST = "---\ntests: ./count.md\n---\n\n## One\n\n```json input\n{}\n```\n\n```yaml expect\nwords: 2\n```\n"
EVALS = '{"skill_name": "greeting", %s"evals": [{"id": 1, "prompt": "p", "assertions": ["It is good."]}]}'


class Here:
    """A user who has not agreed, in a folder with a document of each kind."""

    def __init__(self, tmp_path: Path) -> None:
        root = self.root = tmp_path / "here"
        root.mkdir()
        program(root)
        (root / "count.test.md").write_text(TEST)
        (root / "number.md").write_text(text_of(more="mailbox: true\n"))
        (root / "rows.jsonl").write_text('{"text": "a"}\n')
        (root / "chat.md").write_text("### @user:\n\nq\n")
        (root / "page.mda").write_text(
            '---\ntitle: P\n---\nT.\n\n```ai-script\n{"script-id": "s", "prompt": "p"}\n```\n'
        )
        skill(root, files={"evals/evals.json": EVALS % ""})
        graded = skill(root / "graded", files={"evals/evals.json": EVALS % '"grader": "g.md", '})
        grader(graded / "g.md", output=GRADES)
        self.model = script(tmp_path, *[{"program": "count", "content": {"words": 2}}] * 20, *[REPLY] * 20)
        self.environ = user(tmp_path, MARKDOWNLANG_AGREE="")
        self.agreed = user(tmp_path)

    def run(self, *argv: Any, agreed: bool = False) -> tuple[int, Desk]:
        return prosa(*argv, environ=self.agreed if agreed else self.environ)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    made = Here(tmp_path)
    monkeypatch.chdir(made.root)
    return made


GATED: tuple[tuple[str, ...], ...] = (
    ("run", "count.md"),
    ("run", "count.md", "--record", "tapes"),
    ("test",),
    ("test", "count.test.md"),
    ("test", "graded/greeting"),
    ("batch", "count.md", "--rows", "rows.jsonl", "--yes"),
    ("worker", "--mail", "number.md", "--until-empty"),
)
FREE: tuple[tuple[str, ...], ...] = (
    ("run", "greeting", "Hello."),
    ("test", "greeting"),
    ("batch", "greeting", "--rows", "requests.jsonl", "--yes"),
    ("run", "page.mda", "--all"),
    ("chat", "chat.md"),
    ("chat", "chat.md", "--tool", "count.md"),
    ("plan", "count.md"),
    ("run", "count.md", "--dry-run"),
    ("batch", "count.md", "--rows", "rows.jsonl", "--plan"),
)


@pytest.mark.parametrize("argv", GATED, ids=" ".join)
def test_x47_a_run_of_a_program_asks_for_the_agreement(argv: tuple[str, ...], here: Here):
    status, at = here.run(*argv, "--model", here.model)
    assert status == 1 and REFUSED in at.err and "prosa agree" in at.err
    status, at = here.run(*argv, "--model", here.model, agreed=True)
    assert REFUSED not in at.err


def test_x47_live_runs_are_gated_before_anybody_is_asked(here: Here):
    status, at = here.run("run", "count.md", "--base-url", "http://127.0.0.1:9/v1")
    assert status == 1 and REFUSED in at.err and "127.0.0.1" not in at.err


@pytest.mark.parametrize("argv", FREE, ids=" ".join)
def test_x47_skills_chats_scripts_and_plans_need_none(argv: tuple[str, ...], here: Here):
    (here.root / "requests.jsonl").write_text('{"request": "Hello."}\n')
    status, at = here.run(*argv, "--model", here.model)
    assert REFUSED not in at.err and status in (0, 1), at.err
    if argv[0] in ("run", "chat", "plan"):
        assert status == 0, at.err


def test_x47_what_only_reads_needs_none(here: Here):
    for argv in (("check", "."), ("render", "count.md"), ("show", "count.md"), ("run", "count.md", "--help")):
        assert REFUSED not in here.run(*argv)[1].err


def test_x47_a_replay_needs_none_and_what_is_asked_beside_it_does(here: Here):
    for argv in (("run", "count.md"), ("test", "count.test.md")):
        tapes = f"tapes-{argv[0]}"
        assert here.run(*argv, "--model", here.model, "--record", tapes, agreed=True)[0] == 0
        status, at = here.run(*argv, "--replay", tapes)
        assert status == 0, at.err
        more = ("--replay", tapes, "--new", "live", "--record", "more", "--model", here.model)
        status, at = here.run(*argv, *more)
        assert status == 1 and REFUSED in at.err


def test_x47_the_other_doors_decide_the_same(here: Here):
    with pytest.raises(library.AgreementRequired):
        library.run("count.md", model=here.model, environ=here.environ)
    with pytest.raises(library.AgreementRequired):
        library.run_tests("count.test.md", models=here.model, environ=here.environ)
    assert library.run("greeting", "Hello.", model=here.model, environ=here.environ).output

    async def doors() -> None:
        with site(here.root, REPLY, agreed=False) as at:
            reply = await at.run({}, "/mdh/run/count")
            assert reply.status == 503 and REFUSED in reply.json["detail"]
        async with served(here.root, globs=("*",), options=Options(model=here.model)) as client:
            assert REFUSED in (await client.call_tool("count", {})).content[0].text
            assert not (await client.call_tool("greeting", {"request": "Hello."})).is_error

    asyncio.run(doors())


def test_x47_one_place_decides():
    """X47: the record is asked for in one module of the use cases, which every run passes."""
    source = ROOT / "src" / "prosa" / "app"
    asking = [path.name for path in source.rglob("*.py") if "check_agreement(" in path.read_text()]
    assert asking == ["permission.py"]


def test_x47_trust_is_the_new_spelling(here: Here):
    status, at = here.run("trust", "--agreement", "--phrase", PHRASES[3])
    assert status == 0 and "Agreement accepted" in at.out
    assert here.run("run", "count.md", "--model", here.model)[0] == 0
    status, at = here.run("agree")
    assert status == 0 and "already accepted" in at.out


def test_x47_trust_refuses_what_makes_no_sense_with_it(here: Here):
    for argv in (("--agreement", "count.md"), ("--agreement", "--list"), ("--phrase", PHRASES[0], "count.md")):
        status, at = here.run("trust", *argv)
        assert status == 2 and "--agreement" in at.err
    status, at = here.run("trust", "--agreement", "--phrase", "something else")
    assert status == 2 and "prosa trust --agreement --phrase" in at.err
