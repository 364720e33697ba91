"""`prosa.run_tests`: the report of the command line as a value (X28, X30)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import prosa
from prosa.testing import ScriptedProvider
from tests.app.evals.suites import BILLING, CARE, TRIAGE, suite
from tests.cli.programs import user

ANSWERS = [{"team": "billing", "reason": "charged twice"}, {"team": "sales", "reason": "a card"}]


@pytest.fixture
def document(tmp_path: Path) -> Path:
    (tmp_path / "triage.md").write_text(TRIAGE)
    path = tmp_path / "triage.test.md"
    path.write_text(suite(("Charged twice", BILLING), ("Card", CARE)))
    return path


def scripted(times: int = 1) -> ScriptedProvider:
    return ScriptedProvider([{"content": each} for each in ANSWERS * times])


def test_x28_a_report_is_a_value(document: Path):
    report = prosa.run_tests(document, provider=scripted(), concurrency=1, environ=user(document.parent))
    assert not report.ok
    (suite_report,) = report.suites
    assert [each.counted.passed for each in suite_report.cases] == [1, 0]
    assert suite_report.gate.short == (1,)
    assert [str(each) for each, _ in suite_report.cases[1].failures] == [
        '/team: expected "care", found "sales" (string)'
    ]
    assert report.attempts[0].output == ANSWERS[0]


def test_x28_a_folder_cases_and_repeats(document: Path):
    async def both() -> tuple[bool, int]:
        provider = ScriptedProvider([{"content": ANSWERS[0]}] * 3)
        options = {"cases": "charged", "repeat": 3, "environ": user(document.parent)}
        report = await prosa.arun_tests([document.parent], provider=provider, **options)
        return report.ok, len(report.attempts)

    assert asyncio.run(both()) == (True, 3)


def test_x28_what_a_provider_of_ones_own_says_is_not_kept(document: Path):
    for _ in range(2):
        provider = scripted()
        prosa.run_tests(document, provider=provider, concurrency=1, environ=user(document.parent))
        assert provider.remaining == 0


def test_x28_nothing_to_run_is_an_error(tmp_path: Path, document: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(prosa.RunError, match="no test documents"):
        prosa.run_tests(tmp_path / "empty", environ=user(tmp_path))
    document.write_text(suite(("A", BILLING.replace("team: billing", "team: biling"))))
    with pytest.raises(prosa.ProgramRefused, match="never be"):
        prosa.run_tests(document, environ=user(tmp_path))
    with pytest.raises(TypeError, match="did you mean repeat"):
        prosa.run_tests(document, repeats=3)  # type: ignore[call-arg]
