"""X27, X28: a suite is recorded once and played again without model, key or network."""

from __future__ import annotations

from pathlib import Path

from tests.app.evals.suites import BILLING, CARE, TRIAGE, Service, blocks, report, routed, suite, test, write
from tests.depth import examples
from tests.model_server.server import ModelServer

GRADED = f"{BILLING}\n\n```text grade\nIt names the charge.\n```"


def answered(text: str, number: int) -> object:
    return (
        {"pass": True, "reason": f"yes {number}"}
        if "You judge" in text
        else {**routed(text), "reason": f"twice {number}"}
    )


def test_x28_a_recorded_suite_gives_the_same_report_without_a_model(here: Path, model_server: ModelServer):
    text = suite(("Charged twice", GRADED), ("Card", CARE), ("Card again", CARE), front="repeat: 3\nvotes: 3\n")
    write(text)
    service = Service(model_server, answered)
    status, _ = test(here, "--record", "tape", "--model", "gpt-4o", server=model_server)
    assert (status, service.calls) == (0, 3 * 3 + 3 * 3)
    played = [test(here, "--replay", "tape", "--model", "gpt-4o", "--format", "json") for _ in range(2)]
    assert [status for status, _ in played] == [0, 0], played[0][1].err
    assert played[0][1].out == played[1][1].out
    assert service.calls == 18
    reasons = [
        each["output"]["reason"] for case in report(played[0][1])["suites"][0]["cases"] for each in case["attempts"]
    ]
    assert len(set(reasons)) == 9
    assert report(played[0][1])["suites"][0]["cases"][0]["attempts"][0]["grades"][0]["votes"] == [3, 3]
    assert test(here, "--replay", "tape", "--model", "gpt-4o")[1].out.endswith("no model was called now\n")
    junit = [test(here, "--replay", "tape", "--model", "gpt-4o", "--format", "junit")[1].out for _ in range(2)]
    assert junit[0] == junit[1]


def test_x28_models_are_recorded_each_for_itself(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING), front="models: [a, b]\n"))
    Service(model_server, answered)
    assert test(here, "--record", "tape", server=model_server)[0] == 0
    assert sorted(path.name for path in (here / "tape").iterdir()) == ["a", "b"]
    status, at = test(here, "--replay", "tape", "--format", "json")
    assert (status, [each["model"] for each in report(at)["suites"]]) == (0, ["a", "b"])


def test_x27_what_is_not_as_recorded_fails_and_says_why(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING)))
    service = Service(model_server, answered)
    test(here, "--record", "tape", server=model_server)
    (here / "triage.md").write_text(TRIAGE.replace("Which team", "Say which team"))
    status, at = test(here, "--replay", "tape")
    assert (status, service.calls) == (1, 1)
    assert "not measured: recording: " in at.out
    assert "Say which team" in at.out


def test_b9_a_failure_names_its_recording(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", blocks("charged", expect="team: sales"))))
    Service(model_server, answered)
    status, at = test(here, "--record", "tape", "--format", "json", server=model_server)
    trace = report(at)["suites"][0]["cases"][0]["attempts"][0]["trace"]
    assert status == 1
    assert (here / trace).is_file()
    status, at = test(here, "--record", "tape", "--format", "junit", server=model_server)
    assert trace in at.out


def test_x28_a_replayed_suite_of_a_hundred_cases(here: Path, model_server: ModelServer):
    """Counts; the time is in bench."""
    count = examples(100, share=4)
    write(suite(*((f"Case {at}", blocks(f"charged {at}", expect="team: billing")) for at in range(count))))
    service = Service(model_server, answered)
    test(here, "--record", "tape", server=model_server)
    status, at = test(here, "--replay", "tape", "--format", "json")
    assert (status, service.calls, report(at)["total"]["runs"]) == (0, count, count)


def test_x25_a_classified_document_is_recorded_only_by_force(here: Path, model_server: ModelServer):
    """X25."""
    write(suite(("Charged twice", BILLING), front="classification: confidential\n"))
    service = Service(model_server, answered)
    status, at = test(here, "--record", "tape", server=model_server)
    assert (status, service.calls) == (1, 0)
    assert "--force" in at.out + at.err
    assert not list(here.glob("tape/**/*.ymj"))
    assert test(here, "--record", "tape", "--force", server=model_server)[0] == 0


def test_x27_recordings_that_are_not_there_are_said_once(here: Path):
    write(suite(("Charged twice", BILLING), ("Card", CARE), front="repeat: 3\n"))
    status, at = test(here, "--replay", "nowhere")
    assert (status, at.out) == (2, "") and at.err.count("no such file or folder") == 1
