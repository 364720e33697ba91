"""X28: programs are tried on cases; a report says how often each does what is expected."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from random import Random

import pytest

from prosa.evaluation.statistics import pass_all, wilson
from tests import warm
from tests.app.evals.suites import BILLING, CARE, TRIAGE, Service, blocks, report, routed, suite, test, write
from tests.cli.programs import SOURCE, user
from tests.model_server.behaviour import Behaviour
from tests.model_server.server import ModelServer

PASSING = suite(("Charged twice", BILLING), ("Card", CARE))


def test_x28_every_case_passes(here: Path, model_server: ModelServer):
    write(PASSING)
    service = Service(model_server, routed)
    status, at = test(here, server=model_server)
    assert (status, service.calls) == (0, 2)
    lines = at.out.splitlines()
    assert lines[0] == "triage.test.md · triage"
    assert "✓ Charged twice" in lines[1]
    assert "1/1  [0.21, 1.00]" in lines[1]
    assert lines[-1].startswith("passed · 2 of 2 cases")


def test_x28_what_is_not_met_says_where_and_closes_the_gate(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING), ("Card", blocks("Where is my card?", expect="team: sales"))))
    Service(model_server, routed)
    status, at = test(here, server=model_server)
    assert status == 1
    assert '      /team: expected "sales", found "care" (string)' in at.out
    assert "required: all; FAILED" in at.out


def test_b6_an_expectation_that_the_schema_forbids_asks_nothing(here: Path, model_server: ModelServer):
    """B6."""
    write(suite(("Charged twice", blocks("x", expect="team: biling"))))
    service = Service(model_server, routed)
    status, at = test(here, server=model_server)
    assert (status, service.calls) == (1, 0)
    assert "triage.test.md:12:7: TS023 error" in at.err
    assert "the tests have errors and were not run" in at.err


def test_b7_a_model_that_is_right_four_times_in_five(here: Path, model_server: ModelServer):
    """B7: n = 50; the interval is that of the formula, pass^3 is C(c,3)/C(n,3)."""
    write(suite(("Charged twice", BILLING), front='repeat: 50\nrequire: "pass^3 >= 0.9"\n'))
    draw = Random(7)
    right = [draw.random() < 0.8 for _ in range(50)]
    Service(model_server, lambda text, at: routed(text) if right[at - 1] else {"team": "care", "reason": "twice"})
    status, at = test(here, "--format", "json", server=model_server)
    (found,) = report(at)["suites"]
    (case,) = found["cases"]
    passed = sum(right)
    assert (status, case["pass"], case["n"]) == (1, passed, 50)
    assert case["interval"] == pytest.approx([wilson(passed, 50).low, wilson(passed, 50).high], abs=1e-9)
    assert found["rate"]["name"] == "pass^3"
    assert found["rate"]["value"] == pytest.approx(pass_all(passed, 50, 3))


def test_b8_repeats_are_kept_each_for_itself(here: Path, model_server: ModelServer):
    """B8: five repeats give five answers; the second time the same five, and nothing is asked."""
    write(suite(("Charged twice", BILLING)))
    service = Service(model_server, lambda _, at: {"team": "billing", "reason": f"twice, {at}"})
    found = []
    for _ in range(2):
        status, at = test(here, "--repeat", "5", "--format", "json", server=model_server)
        assert status == 0
        (case,) = report(at)["suites"][0]["cases"]
        found.append([each["output"]["reason"] for each in case["attempts"]])
    assert len(set(found[0])) == 5
    assert found[0] == found[1]
    assert service.calls == 5
    _, at = test(here, "--repeat", "5", server=model_server)
    assert "5 answers from the cache" in at.out
    test(here, "--repeat", "6", server=model_server)
    assert service.calls == 6  # the sixth repeat is new
    test(here, "--repeat", "2", "--no-cache", server=model_server)
    assert service.calls == 8


def test_x28_a_changed_prompt_is_asked_anew_and_a_changed_expectation_is_not(here: Path, model_server: ModelServer):
    write(PASSING)
    service = Service(model_server, routed)
    assert test(here, server=model_server)[0] == 0
    write(PASSING.replace("team: care", "team: sales"))
    assert (test(here, server=model_server)[0], service.calls) == (1, 2)
    (here / "triage.md").write_text(TRIAGE.replace("Which team", "Say which team"))
    assert (test(here, server=model_server)[0], service.calls) == (1, 4)


def test_x28_errors_and_refusals_are_never_kept(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING)))
    service = Service(model_server, lambda *_: Behaviour(content="no", finish="content_filter"))
    assert test(here, server=model_server)[0] == 1
    service.answer = lambda *_: Behaviour(status=400, message="no such model")
    assert test(here, server=model_server)[0] == 1
    service.answer = routed
    assert (test(here, server=model_server)[0], service.calls) == (0, 3)


def test_b9_junit_has_a_case_for_each_case_and_model(here: Path, model_server: ModelServer):
    """B9: the form of Jenkins (junit-10.xsd): which elements and attributes stand where."""
    write(
        suite(("Charged & twice", BILLING), ("Card", blocks("Where?", expect="team: sales")), front="models: [a, b]\n")
    )
    Service(model_server, routed)
    status, at = test(here, "--format", "junit", server=model_server)
    assert status == 1
    root = ET.fromstring(at.out)
    assert set(root.attrib) <= {"name", "time", "tests", "failures", "errors"}
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "4", "2")
    for each in root:
        assert each.tag == "testsuite"
        assert {"name", "tests", "failures", "errors"} <= set(each.attrib)
        assert [child.tag for child in each] == ["properties", "testcase"]
        properties = {child.get("name"): child.get("value") for child in each[0]}
        assert set(properties) == {"pass", "n", "interval", "method", "cost"}
        assert set(each[1].attrib) <= {"name", "time", "classname", "group"}
        assert {child.tag for child in each[1]} <= {"failure", "system-out"}
    cases = [(each[1].get("name"), each.get("name"), len(each[1])) for each in root]
    assert cases == [
        ("Charged & twice", "triage.test.md · a", 0),
        ("Card", "triage.test.md · a", 1),
        ("Charged & twice", "triage.test.md · b", 0),
        ("Card", "triage.test.md · b", 1),
    ]
    failure = root[1][1][0]
    assert failure.get("message") == '/team: expected "sales", found "care" (string)'
    assert "triage.test.md:" in (failure.text or "")


KILLED = """
import sys
from prosa.cli.main import entry
sys.argv = ["prosa", "test", "--repeat", "20", "--concurrency", "2", "--no-progress"]
entry()
"""


def test_b10_a_run_that_was_killed_goes_on_where_it_was(here: Path, model_server: ModelServer):
    """B10: calls that were answered before kill -9 are not made again; at most those in flight are."""
    write(PASSING)
    environ = user(here, OPENAI_BASE_URL=model_server.base_url, PROSA_CACHE_DIR=str(here / "cache"))
    (here / "cache").mkdir(mode=0o700)
    running: list[subprocess.Popen[bytes]] = []

    def answer(text: str, number: int) -> object:
        if number == 15:
            running[0].send_signal(signal.SIGKILL)
        return routed(text)

    service = Service(model_server, answer)
    command = [sys.executable, "-c", KILLED]
    environment = {**os.environ, **environ, "PYTHONPATH": str(SOURCE)}
    running.append(warm.popen(command, cwd=here, env=environment, stdout=subprocess.DEVNULL))
    assert running[0].wait(60) == -signal.SIGKILL
    before = service.calls
    assert before >= 15
    status, at = test(here, "--repeat", "20", "--format", "json", server=model_server)
    assert status == 0
    assert service.calls <= 40 + 3  # two in flight, and one whose answer was being sent
    assert report(at)["total"]["kept"] >= before - 3


def test_x28_cases_are_chosen_by_name_and_by_failure(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING), ("Card", blocks("Where?", expect="team: sales"))))
    service = Service(model_server, routed)
    assert test(here, "--case", "CHARGED", server=model_server)[0] == 0
    status, at = test(here, "--failed", server=model_server)
    assert (status, at.out.count("Card")) == (0, 0) or status == 1
    test(here, server=model_server)
    status, at = test(here, "--failed", "--format", "json", server=model_server)
    assert [each["name"] for each in report(at)["suites"][0]["cases"]] == ["Card"]
    assert service.calls == 2
    status, at = test(here, "--case", "nobody", server=model_server)
    assert (status, "there is no case to run" in at.err) == (1, True)


def test_x28_without_a_last_run_failed_means_all(here: Path, model_server: ModelServer):
    write(PASSING)
    Service(model_server, routed)
    status, at = test(here, "--failed", server=model_server)
    assert status == 0
    assert "nothing is known of the last run" in at.err
    assert "2 of 2 cases" in at.out


def test_x28_models_are_compared_case_by_case(here: Path, model_server: ModelServer):
    write(
        suite(
            *((f"Case {at}", blocks(f"charged {at}", expect="team: billing")) for at in range(8)), front="repeat: 3\n"
        )
    )
    told = {"bad": {"team": "care", "reason": "no"}, "good": {"team": "billing", "reason": "yes"}}
    model_server.answer = lambda request: Behaviour(content=told[request.body["model"]])
    status, at = test(here, "--model", "bad,good", "--format", "json", server=model_server)
    found = report(at)
    assert status == 1
    assert [(each["model"], each["passed"]) for each in found["suites"]] == [("bad", False), ("good", True)]
    (told,) = found["comparisons"]
    assert (told["first"], told["second"], told["verdict"]) == ("good", "bad", "better")
    status, at = test(here, "--model", "good", "--against", "bad", server=model_server)
    assert status == 0  # no gate is asked of what is compared with
    assert "good against bad: +1.00" in at.out
    assert ": better" in at.out


def test_x28_a_program_is_compared_with_its_own_past(here: Path, model_server: ModelServer):
    def git(*arguments: str) -> None:
        warm.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=here, check=True, capture_output=True
        )

    (here / "tests").mkdir()
    (here / "triage.md").rename(here / "tests" / "triage.md")
    write(PASSING, "tests/triage.test.md")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    (here / "tests" / "triage.md").write_text(TRIAGE.replace("Which team", "Say which team"))
    service = Service(model_server, routed)
    status, at = test(here, "tests", "--against", "HEAD", "--format", "json", server=model_server)
    assert status == 0
    assert [each["baseline"] for each in report(at)["suites"]] == [False, True]
    assert report(at)["comparisons"][0]["verdict"] == "cannot tell"
    assert sum(text.startswith("Say which") for text in service.texts) == 2
    assert sum(text.startswith("Which team") for text in service.texts) == 2
    status, at = test(here, "tests", "--against", "rev:nothing", server=model_server)
    assert (status, "git knows no such revision" in at.err) == (1, True)
    other = here / "other.md"
    other.write_text(TRIAGE.replace("Which team", "Tell me which team"))
    status, at = test(here, "tests", "--against", "other.md", server=model_server)
    assert status == 0
    assert "against other.md" in at.out


def test_x28_the_lower_bound_asks_for_more(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING), front="repeat: 5\nrequire: 4/5\n"))
    Service(model_server, routed)
    assert test(here, server=model_server)[0] == 0
    assert test(here, "--gate", "lower", server=model_server)[0] == 1
    write(PASSING)
    status, at = test(here, "--gate", "lower", server=model_server)
    assert (status, "no interval of them ends at 1" in at.err) == (1, True)


def test_x26_what_tests_may_cost_together(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING), front="repeat: 50\n"))
    Service(model_server, routed)
    status, at = test(here, "--model", "gpt-4o", "--max-cost", "0.0001", server=model_server)
    assert status in (1, 2)
    assert "budget" in at.out + at.err or "--max-cost" in at.out + at.err


def test_x28_a_run_is_held_against_what_is_expected_of_it(here: Path, model_server: ModelServer):
    write(
        suite(
            ("Fails", blocks("x", run="fails: {kind: refused, text: no valid output}")),
            ("Calls", blocks("charged", run="calls: 2")),
            ("Input", "```yaml input\nrequest: 3\n```\n\n```yaml run\nfails: {kind: input}\n```"),
        )
    )
    Service(model_server, lambda text, _: routed(text) if "charged" in text else "never JSON")
    status, at = test(here, "--max-iterations", "1", server=model_server)
    assert status == 1
    assert "✓ Fails" in at.out
    assert "✓ Input" in at.out
    assert "run/calls: expected 2, found 1" in at.out


def test_x28_rows_are_cases(here: Path, model_server: ModelServer):
    rows = [
        {"name": f"row {at}", "input": {"request": f"charged {at}"}, "expect": {"team": "billing"}} for at in range(30)
    ]
    (here / "cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    write(suite(("Card", CARE), front="rows: cases.jsonl\n"))
    service = Service(model_server, routed)
    status, at = test(here, "--format", "jsonl", server=model_server)
    assert (status, service.calls) == (0, 31)
    lines = [json.loads(line) for line in at.out.splitlines()]
    assert [each["name"] for each in lines] == ["Card", *(each["name"] for each in rows)]


def test_x28_globs_of_the_project_choose_documents(here: Path, model_server: ModelServer):
    for name in ("one", "two"):
        (here / name).mkdir()
        (here / name / "triage.md").write_text(TRIAGE)
        write(PASSING, f"{name}/triage.test.md")
    Service(model_server, routed)
    (here / "prosa.toml").write_text('tests = ["two/**"]\n')
    status, at = test(here, "--format", "json", server=model_server)
    assert [each["path"] for each in report(at)["suites"]] == ["two/triage.test.md"]
    status, at = test(here, "one/triage.test.md", "--format", "json", server=model_server)
    assert (status, [each["path"] for each in report(at)["suites"]]) == (0, ["one/triage.test.md"])


def test_x28_wrong_use(here: Path):
    assert test(here)[0] == 2
    assert "no test documents in ." in test(here)[1].err
    assert test(here, "gone.test.md")[0] == 2
    write(suite(("A", BILLING)).replace("./triage.md", "./gone.md"))
    status, at = test(here)
    assert (status, "does not exist" in at.err) == (1, True)
    write(suite(("A", BILLING), front='require: "pass^3 >= 0.5"\n'))
    status, at = test(here, "--repeat", "2")
    assert (status, "--repeat 3 or more" in at.err) == (1, True)


def test_x28_a_broken_program_is_said_before_anything_runs(here: Path, model_server: ModelServer):
    write(PASSING)
    (here / "triage.md").write_text(TRIAGE.replace("{{ .request }}", "{{ .request"))
    service = Service(model_server, routed)
    status, at = test(here, server=model_server)
    assert (status, service.calls) == (1, 0)
    assert "triage.md:16" in at.err


@pytest.mark.parametrize("where", ["program", "document"])
def test_x25_nothing_is_kept_of_classified_documents(here: Path, model_server: ModelServer, where: str):
    """X25."""
    write(suite(("Charged twice", BILLING), front="" if where == "program" else "classification: confidential\n"))
    if where == "program":
        (here / "triage.md").write_text(TRIAGE.replace("name: triage", "classification: secret\nname: triage"))
    service = Service(model_server, routed)
    for _ in range(2):
        assert test(here, server=model_server)[0] == 0
    assert service.calls == 2


def test_x17_nobody_to_ask_is_said_once(here: Path):
    """X17: with the ways on, and before any case."""
    write(PASSING)
    status, at = test(here)
    assert (status, at.out) == (1, "")
    assert at.err.count("no model to ask") == 1
    assert "--model local" in at.err


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("HEAD~999", "git knows no such revision here"),
        ("main^", "git knows no such revision here"),
        ("HEAD", "git knows no such revision here"),
        ("old.md", "no such file"),
    ],
)
def test_x28_a_misspelt_other_side_is_no_model_that_is_asked(
    here: Path, model_server: ModelServer, other: str, said: str
):
    write(PASSING)
    service = Service(model_server, routed)
    status, at = test(here, "--against", other, server=model_server)
    assert (status, service.calls) == (1, 0)
    assert f"--against {other}: {said}" in at.err
