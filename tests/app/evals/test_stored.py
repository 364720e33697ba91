"""X25, X37: a test is a record in the store, and what is read from there is what was seen when it ran."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

import prosa
import prosa.render.tests
from prosa.adapters.store.opening import open_file
from prosa.adapters.store.runs import Retention, sweep
from prosa.app.evals import stored
from prosa.app.evals.stored import NoTest, shown_test
from prosa.app.journal.place import own_file
from prosa.records.test import MOST, ShownTest, TestFilter
from tests import warm
from tests.app.evals.suites import BILLING, CARE, TRIAGE, Service, blocks, report, routed, suite, test, write
from tests.cli.programs import SOURCE, user
from tests.model_server.server import ModelServer

PASSING = suite(("Charged twice", BILLING), ("Card", CARE))


@pytest.fixture
def store(here: Path) -> Path:
    """The store of the user whose tests run here."""
    return own_file(user(here))


def settings(here: Path, text: str) -> str:
    """A folder with the user's settings."""
    folder = here / "config"
    folder.mkdir()
    (folder / "settings.toml").write_text(text + "\n")
    return str(folder)


def only(store: Path) -> ShownTest:
    """The one test that is stored."""
    ((record, _),) = stored.tests_listed(store, TestFilter())
    return shown_test(store, record.id)


def test_x25_a_test_is_read_from_the_store_as_it_was_seen(here: Path, store: Path, model_server: ModelServer):
    """X25, X37. What is stored gives the same JSON as `--format json` did; only costs of a cache do not matter."""
    write(suite(("Charged twice", BILLING), ("Card", blocks("Where?", expect="team: sales"))))
    Service(model_server, routed)
    status, at = test(here, "--repeat", "3", "--format", "json", server=model_server)
    assert status == 1
    found = only(store)
    assert prosa.render.tests.tests_json(found.report) == report(at)
    record = found.record
    assert (record.state, record.passed, record.door) == ("done", False, "test")
    assert (record.total, record.done, record.failed, record.unmeasured) == (6, 6, 3, 0)
    assert [each.case.input for each in found.report.suites[0].cases] == [
        {"request": "I was charged twice."},
        {"request": "Where?"},
    ]


@pytest.mark.parametrize(("history", "kept"), [("summary", False), ("full", True)])
def test_x25_only_full_keeps_transcripts(here: Path, store: Path, model_server: ModelServer, history: str, kept: bool):
    write(PASSING)
    Service(model_server, routed)
    test(here, server=model_server, PROSA_CONFIG_DIR=settings(here, f'history = "{history}"'))
    for attempt in only(store).report.attempts:
        assert bool(attempt.steps) is kept
        assert not kept or json.loads(attempt.steps[0].text) == attempt.output


def test_x25_without_history_nothing_of_a_test_is_stored(here: Path, store: Path, model_server: ModelServer):
    write(PASSING)
    Service(model_server, routed)
    assert test(here, server=model_server, PROSA_CONFIG_DIR=settings(here, 'history = "off"'))[0] == 0
    assert not store.exists()


def test_x25_nothing_of_a_classified_subject_is_stored(here: Path, store: Path, model_server: ModelServer):
    """X25. Beside an open suite the classified one leaves no trace, in no table."""
    write(PASSING)
    (here / "secret.md").write_text(TRIAGE.replace("name: triage\n", "name: secret\nclassification: confidential\n"))
    write(suite(("Hidden case", BILLING)).replace("./triage.md", "./secret.md"), "secret.test.md")
    Service(model_server, routed)
    status, at = test(here, server=model_server)
    assert status == 0 and "3 of 3 cases" in at.out
    assert [each.path for each in only(store).report.suites] == ["triage.test.md"]
    assert b"Hidden case" not in store.read_bytes() and b"secret" not in store.read_bytes()


def test_x25_a_large_answer_is_cut_with_its_size_and_digest(here: Path, store: Path, model_server: ModelServer):
    text = "ä" * MOST
    write(suite(("Large", blocks("x", expect="team: care"))))
    Service(model_server, lambda request, number=0: {"team": "care", "reason": text})
    test(here, server=model_server)
    (attempt,) = only(store).report.attempts
    whole = json.dumps({"team": "care", "reason": text}, ensure_ascii=False).encode()
    assert attempt.cut is not None
    assert (attempt.cut.size, attempt.cut.digest) == (len(whole), sha256(whole).hexdigest())
    assert whole.decode().startswith(attempt.output) and len(attempt.output.encode()) <= MOST


def test_x37_failed_needs_no_cache(here: Path, model_server: ModelServer):
    """X25, X37. `--failed` reads the store; a cache that is gone changes nothing."""
    write(suite(("Charged twice", BILLING), ("Card", blocks("Where?", expect="team: sales"))))
    Service(model_server, routed)
    test(here, server=model_server)
    shutil.rmtree(here / "cache")
    status, at = test(here, "--failed", "--format", "json", server=model_server)
    assert status == 1
    assert [each["name"] for each in report(at)["suites"][0]["cases"]] == ["Card"]
    status, at = test(here, "--failed", "--case", "Charged", server=model_server)
    assert (status, "there is no case to run" in at.err) == (1, True)


KILLED = """
import sys
from prosa.cli.main import entry
sys.argv = ["prosa", "test", "--repeat", "20", "--concurrency", "2", "--no-progress"]
entry()
"""


def test_x25_a_killed_test_keeps_what_was_over(here: Path, store: Path, model_server: ModelServer):
    """X25, X37. After kill -9 the test is interrupted; its attempts are there, the rest was not started."""
    write(PASSING)
    environ = user(here, OPENAI_BASE_URL=model_server.base_url, PROSA_CACHE_DIR=str(here / "cache"))
    (here / "cache").mkdir(mode=0o700)
    running: list[subprocess.Popen[bytes]] = []

    def answer(text: str, number: int) -> object:
        if number == 25:
            running[0].send_signal(signal.SIGKILL)
        return routed(text)

    Service(model_server, answer)
    environment = {**os.environ, **environ, "PYTHONPATH": str(SOURCE)}
    running.append(warm.popen([sys.executable, "-c", KILLED], cwd=here, env=environment, stdout=subprocess.DEVNULL))
    assert running[0].wait(60) == -signal.SIGKILL
    found = only(store)
    assert (found.record.state, found.record.passed, found.record.total) == ("interrupted", None, 40)
    over = [each for each in found.report.attempts if each.measured]
    assert len(over) == found.record.done and 1 <= len(over) <= 25
    assert all(each.passed for each in over)
    assert {each.reason.kind for each in found.report.attempts if each.reason} == {"interrupted"}


@pytest.mark.parametrize("spoil", ["newer", "folder", "garbage"])
def test_x25_a_store_that_cannot_be_used_costs_a_notice_and_no_test(
    here: Path, store: Path, model_server: ModelServer, spoil: str
):
    write(PASSING)
    Service(model_server, routed)
    store.parent.mkdir(parents=True, exist_ok=True)
    if spoil == "newer":
        open_file(store).close()
        with sqlite3.connect(store) as connection:
            connection.execute("PRAGMA user_version = 999")
    elif spoil == "folder":
        store.mkdir()
    else:
        store.write_bytes(b"no database " * 500)
    status, at = test(here, server=model_server)
    assert status == 0
    assert at.err.count("note: this test is not stored") == 1


def test_x37_a_test_whose_rows_are_damaged_is_a_sentence(here: Path, store: Path, model_server: ModelServer):
    write(PASSING)
    Service(model_server, routed)
    test(here, server=model_server)
    ((record, _),) = stored.tests_listed(store, TestFilter())
    for text in ("UPDATE attempt SET told = '{'", "UPDATE attempt SET told = '[]'", "UPDATE test SET heads = '[{}]'"):
        with sqlite3.connect(store) as connection:
            connection.execute(text)
        with pytest.raises(NoTest, match=f"what the store has of test {record.id} is damaged"):
            shown_test(store, record.id)


def test_x37_a_trend_has_the_tests_of_one_suite_with_their_revisions(
    here: Path, store: Path, model_server: ModelServer
):
    git = ("git", "-c", "user.email=a@example.org", "-c", "user.name=a", "-C", str(here))
    write(PASSING)
    Service(model_server, routed)
    for command in (("init", "-q"), ("add", "triage.md", "triage.test.md"), ("commit", "-qm", "first")):
        subprocess.run((*git, *command), check=True, env=_quiet())
    test(here, server=model_server)
    write(suite(("Charged twice", BILLING), ("Card", blocks("Where?", expect="team: sales"))))
    test(here, server=model_server)
    found = shown_test(store)
    (trend,) = found.trends
    assert (trend.path, trend.label) == ("triage.test.md", "")
    assert [(each.passed, each.measured, each.changed) for each in trend.points] == [(2, 2, False), (1, 2, True)]
    assert len({each.revision for each in trend.points}) == 1 and len(trend.points[0].revision) == 40
    assert len(shown_test(store, trend.points[0].test).trends) == 0


def test_x37_a_report_names_the_revision_that_the_test_began_with(
    here: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
):
    write(PASSING)
    Service(model_server, routed)
    asked: list[Path] = []
    monkeypatch.setattr(stored, "revision_of", lambda folder: (asked.append(folder), (f"{len(asked)}" * 40, False))[1])
    assert test(here, "--report", "page.html", server=model_server)[0] == 0
    assert len(asked) == 1
    assert "111111111111" in Path("page.html").read_text()


def test_x25_old_tests_go_and_the_one_that_runs_stays(here: Path, store: Path, model_server: ModelServer):
    write(PASSING)
    Service(model_server, routed)
    test(here, server=model_server)
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    connection = open_file(store)
    for alive, left in ((True, 1), (False, 0)):
        connection.execute("UPDATE test SET state = 'open', started = '2019-12-01T00:00:00.000Z'")
        connection.execute("UPDATE note SET value = '2020-01-01T00:00:00.000Z' WHERE name = 'swept'")
        now = moment + timedelta(hours=2)
        assert connection.transact(
            lambda now=now, alive=alive: sweep(connection, now, Retention(days=1), lambda _: alive)
        )
        for table in ("test", "suite", "attempt"):
            (count,) = connection.execute(
                f"SELECT COUNT(DISTINCT {'id' if table == 'test' else 'test'}) FROM {table}"
            ).fetchone()
            assert count == left
    connection.close()


def test_x25_python_stores_a_test_where_it_is_asked_to(here: Path, model_server: ModelServer):
    write(PASSING)
    Service(model_server, routed)
    environ: Mapping[str, str] = user(here, OPENAI_BASE_URL=model_server.base_url)
    prosa.run_tests("triage.test.md", environ=environ)
    assert not own_file(environ).exists()
    prosa.run_tests("triage.test.md", environ=environ, journal=here / "mine.sqlite")
    assert only(here / "mine.sqlite").record.door == "python"


def test_x37_an_unknown_id_says_what_to_do(here: Path, store: Path, model_server: ModelServer):
    write(PASSING)
    Service(model_server, routed)
    test(here, server=model_server)
    with pytest.raises(NoTest, match="there is no test 'zzz'"):
        shown_test(store, "zzz")


def _quiet() -> dict[str, str]:
    return {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
