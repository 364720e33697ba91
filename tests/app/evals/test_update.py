"""X28: `--update` accepts what came out as what is expected, by edits that touch nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.evals.suites import Service, blocks, routed, suite, test, write
from tests.model_server.server import ModelServer

WRONG = suite(
    ("Charged twice", blocks("charged", expect="# why\nteam: care   # wrong\nreason: {contains: twice}\n$.team: care")),
    ("Card", blocks("card")),
)


def test_x28_the_diff_comes_first_and_writes_nothing(here: Path, model_server: ModelServer):
    path = write(WRONG)
    Service(model_server, routed)
    for flag in (["--diff"], ["--update", "--dry-run"], ["--update", "--diff"]):
        status, at = test(here, *flag, server=model_server)
        assert status == 1
        assert "-team: care   # wrong\n+team: billing   # wrong\n" in at.out
        assert path.read_text() == WRONG


def test_x28_what_is_written_is_met_the_next_time(here: Path, model_server: ModelServer):
    path = write(WRONG)
    service = Service(model_server, routed)
    status, at = test(here, "--update", server=model_server)
    assert (status, "updated 1 of 1 documents" in at.err) == (0, True)
    text = path.read_text()
    assert "# why\nteam: billing   # wrong\nreason: {contains: twice}\n$.team: billing\n" in text
    assert 'request: "card"\n```\n\n```yaml expect\nteam: care\nreason: card\n```\n' in text
    assert test(here, server=model_server)[0] == 0
    assert service.calls == 2
    status, at = test(here, "--update", server=model_server)
    assert (status, path.read_text()) == (0, text)


@pytest.mark.parametrize(
    ("expect", "left"),
    [
        ("reason: {contains: never}", "its condition on a value with `contains` is not changed"),
        ("$.reason: {length: 3}", "its condition on a value with `length` is not changed"),
    ],
)
def test_x28_words_are_left_to_their_author(here: Path, model_server: ModelServer, expect: str, left: str):
    path = write(suite(("Charged twice", blocks("charged", expect=expect))))
    Service(model_server, routed)
    before = path.read_text()
    status, at = test(here, "--update", server=model_server)
    assert (status, path.read_text()) == (1, before)
    assert left in at.err


def test_x28_what_differs_from_repeat_to_repeat_is_not_accepted(here: Path, model_server: ModelServer):
    path = write(suite(("Charged twice", blocks("charged", expect="reason: x")), front="repeat: 2\n"))
    Service(model_server, lambda _, at: {"team": "care", "reason": f"answer {at}"})
    before = path.read_text()
    status, at = test(here, "--update", server=model_server)
    assert (status, path.read_text()) == (1, before)
    assert "its repeats gave different outputs" in at.err


def test_x28_lists_and_texts_of_several_lines(here: Path, model_server: ModelServer):
    (here / "triage.md").write_text(
        "---\nname: triage\ndescription: x\n"
        "input: {type: object, properties: {request: {type: string}}}\noutput: {type: object}\n---\nx\n"
    )
    expect = "tags:\n  - a\n  - b\nbody: |\n  one\n  two\nrest:\n  deep:\n    - {x: 1}\nother: 1"
    path = write(suite(("A", blocks("x", expect=expect))))
    Service(
        model_server,
        lambda *_: {"tags": ["a"], "body": "on: one\nline\n", "rest": {"deep": [{"x": 2, "y": 3}]}, "other": "no"},
    )
    status, _ = test(here, "--update", server=model_server)
    assert status == 0, path.read_text()
    assert test(here, server=model_server)[0] == 0
