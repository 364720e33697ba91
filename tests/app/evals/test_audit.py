"""Audits: vacuous suites are found, good ones are not; what cases notice (X34)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from prosa.app.evals.audit import audit_tests
from prosa.app.evals.load import find_tests, load_suites
from prosa.app.evals.variants import TestOptions
from prosa.app.options import Environment, Options
from prosa.evaluation.audit import Audit
from prosa.render.audit import audit_json, audit_text
from prosa.settings import Settings
from tests.app.evals.audited import GOOD, VACUOUS, Made, documents
from tests.app.evals.skilled import Model, evals, skill, triggers
from tests.app.evals.suites import Service, suite, test, write
from tests.cli.programs import user
from tests.model_server.behaviour import Behaviour
from tests.model_server.connection import Request
from tests.model_server.server import ModelServer


def made(each: Made) -> str:
    """Write a suite, and return what is to be audited."""
    if each.tests:
        write(suite(*each.tests, front=each.front))
        return "triage.test.md"
    folder = skill(body=each.body)
    cases = [
        {"id": at, "prompt": asked, "assertions": said}
        for at, (asked, said) in enumerate(zip(each.ask, each.cases, strict=False))
    ]
    if cases:
        evals(folder, *cases, **each.more)
    if each.triggers:
        triggers(folder, *({"query": query, "should_trigger": said} for query, said in each.triggers))
    return "skills"


def audit(path: str, model: Model | None = None, **options: Any) -> Audit:
    environment = Environment(user(Path.cwd()), Settings())
    of_run = Options()
    suites = load_suites(find_tests((path,)), of_run, environment)
    chosen = replace(TestOptions(cache=False), **options)
    return asyncio.run(audit_tests(suites, chosen, of_run, environment, provider=model, asks=model is not None))


@pytest.mark.parametrize("each", VACUOUS, ids=lambda each: each.name)
def test_x34_a_vacuous_suite_is_found(here: Path, each: Made):
    found = audit(made(each), Model(each.answer) if each.answer else None)
    assert each.kind in {finding.kind for finding in found.findings}
    assert not found.ok


@pytest.mark.parametrize("each", GOOD, ids=lambda each: each.name)
def test_x34_a_good_suite_has_no_finding(here: Path, each: Made):
    found = audit(made(each), Model(each.answer) if each.answer else None)
    assert found.findings == ()


def test_x34_there_are_enough_suites_of_both_kinds():
    assert len(VACUOUS) >= 25 and len(GOOD) >= 20


SECTIONS = "# Ports\n\nSay AHOY.\n\n## Units\n\nSay metres.\n\n## Manners\n\nBe polite.\n"


def by_section(text: str) -> str:
    if "Perhaps?" in text:
        return "maybe"
    words = ("AHOY" if "Say AHOY" in text else "", "4 metres" if "Say metres" in text else "")
    return " ".join(filter(None, words)) or "well"


class Whole(Service):
    """Answers by all messages of a request, not by the last one alone."""

    def __call__(self, request: Request) -> Behaviour:
        body: Any = request.body
        body["messages"].append({"content": "\n".join(each["content"] for each in body["messages"])})
        return super().__call__(request)


def sectioned(answer: Any = by_section, **options: Any) -> Audit:
    cases = [
        {"id": at, "prompt": each, "assertions": [{"contains": said}]} for at, (each, said) in enumerate(ASKED_FOR)
    ]
    evals(skill(body=SECTIONS), *cases)
    return audit("skills", Model(answer), **options)


ASKED_FOR = (("Hail.", "AHOY"), ("How high?", "4 metres"), ("Perhaps?", "maybe"), ("Greet.", "AHOY"))


def test_x34_an_audit_says_which_case_notices_the_absence_of_which_section(here: Path):
    found = sectioned()
    (ports, units, manners, nothing) = found.mutants
    names = [each.id for each in found.cases]
    assert [each.section for each in found.mutants] == ['"Ports"', '"Units"', '"Manners"', "all of its text"]
    assert (ports.noticed_by, units.noticed_by) == ((names[0], names[3]), (names[1],))
    assert nothing.noticed_by == (names[0], names[1], names[3])
    assert (manners.unnoticed, found.unnoticed) == (True, ('"Manners"',))
    assert [each.passes_without for each in found.cases] == [False, False, True, False]
    assert found.ok  # one easy case is no vacuous suite
    data = audit_json(found)
    assert data["cases"][2]["reason"] == "it passes without the subject"
    assert data["mutants"][1]["noticed_by"] == [names[1]]
    text = audit_text(found)
    assert "  x - - x  " in text and 'no case notices the absence of:\n  - "Manners"' in text


def test_x34_a_subject_without_effect_is_a_finding(here: Path):
    found = sectioned(lambda _: "AHOY, 4 metres, maybe")
    assert {each.kind for each in found.findings} > {"passes-without", "empty-subject-passes"}


def test_x34_a_section_without_which_a_program_cannot_run_is_not_tried(here: Path):
    write(suite(*documents("team: billing", "team: care")))
    program = here / "triage.md"
    program.write_text(f"{program.read_text()}\n# One\n\n{{{{ if .request }}}}\n\n# Two\n\n{{{{ end }}}}\n")
    found = audit("triage.test.md", Model(lambda _: '{"team": "care", "reason": "x"}'))
    assert [bool(each.why) for each in found.mutants] == [False, False, True, True]


def test_x34_a_budget_that_ends_in_the_middle_is_no_verdict_about_the_cases(here: Path, model_server: ModelServer):
    evals(skill(body=SECTIONS), *({"prompt": each, "assertions": [{"contains": said}]} for each, said in ASKED_FOR))
    service = Whole(model_server, lambda text, _: by_section(text))
    arguments = ("skills", "--audit", "--format", "json", "--model", "m", "--max-output-tokens", "100")
    (here / "config").mkdir(mode=0o700)
    (here / "config/settings.toml").write_text('[prices."m"]\ninput = 3\noutput = 12\n')
    around = {"server": model_server, "PROSA_CONFIG_DIR": str(here / "config")}
    status, at = test(here, *arguments, "--max-cost", "0.01", "--concurrency", "1", **around)
    first, calls = json.loads(at.out), service.calls
    assert status == 0 and 0 < calls < 24
    assert any(" of 24 attempts: budget: " in each for each in first["not_tried"])
    assert not first["findings"]
    status, at = test(here, *arguments, **around)
    assert status == 0 and service.calls < 24 + calls  # what was answered before is not asked again
    assert all(each["reason"] is None for each in json.loads(at.out)["mutants"])


def test_x34_without_a_model_an_audit_uses_what_is_stored(here: Path, model_server: ModelServer):
    evals(skill(body=SECTIONS), *({"prompt": each, "assertions": [{"contains": said}]} for each, said in ASKED_FOR))
    service = Whole(model_server, lambda text, _: by_section(text))
    assert test(here, "skills", server=model_server)[0] == 0
    asked = service.calls
    status, at = test(here, "skills", "--audit", "--no-model", "--format", "json", server=model_server)
    found = json.loads(at.out)
    assert (status, service.calls) == (0, asked)
    assert [each["passes_without"] for each in found["cases"]] == [False, False, True, False]
    assert found["not_tried"] == ["nothing that needs a model was tried"]


def test_x37_an_audit_is_a_page_too(here: Path, model_server: ModelServer):
    evals(skill(), {"prompt": "<b>Hail</b>", "assertions": [{"contains": ""}]})
    for name in ("audit.html", "audit.md", "audit.json"):
        for _ in range(2):  # one that is there is replaced
            status, at = test(here, "skills", "--audit", "--no-model", "--report", name)
            assert (status, f"wrote {name}" in at.err) == (1, True)
    assert "&lt;b&gt;Hail" in Path("audit.html").read_text()
    assert "an empty answer passes" in Path("audit.md").read_text()
    assert json.loads(Path("audit.json").read_text())["cases"][0]["cannot_fail"] is True
    status, at = test(here, "skills", "--audit", "--no-model", "--report", "pages/")
    assert (status, "an audit is one file" in at.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--update",), "changes no expectations"),
        (("--format", "junit"), "has no --format junit"),
        (("--against", "HEAD"), ""),
        (("-m", "a", "-m", "b"), "tries one subject with one model"),
    ],
)
def test_x34_what_an_audit_does_not_do(here: Path, arguments: tuple[str, ...], said: str):
    evals(skill(), {"prompt": "Hail", "assertions": [{"contains": "AHOY"}]})
    status, at = test(here, "skills", "--audit", *arguments)
    assert status in (1, 2) and said in at.err


def test_x34_the_plan_of_an_audit_counts_its_mutants(here: Path):
    evals(skill(body=SECTIONS), {"prompt": "Hail", "assertions": [{"contains": "AHOY"}]})
    status, at = test(here, "skills", "--audit", "--plan", "--format", "json")
    assert (status, json.loads(at.out)["attempts"]) == (0, 6)
