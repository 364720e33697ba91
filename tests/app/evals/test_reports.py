"""X37: reports of a test that just ended, and of what the store has; nothing is asked again and nothing is lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from prosa.app.journal.place import own_file
from tests.app.evals.suites import BILLING, CARE, TRIAGE, Service, blocks, report, routed, suite, test, write
from tests.cli.desk import Desk
from tests.cli.programs import prosa, user
from tests.model_server.server import ModelServer

PASSING = suite(("Charged twice", BILLING), ("Card", CARE))
HALF = suite(("Charged twice", BILLING), ("Card", blocks("Where?", expect="team: sales")))


def shown(here: Path, *arguments: str) -> tuple[int, Desk]:
    """`prosa report`, with no service to ask."""
    return prosa("report", *arguments, environ=user(here, OPENAI_BASE_URL="http://127.0.0.1:9"))


def test_x37_a_report_is_written_in_the_form_of_its_name(here: Path, model_server: ModelServer):
    write(HALF)
    Service(model_server, routed)
    names = ("a.html", "a.md", "a.json", "folder/")
    flags = [word for name in names for word in ("--report", name)]
    status, at = test(here, *flags, "--format", "json", server=model_server)
    assert status == 1
    assert json.loads(Path("a.json").read_text()) == report(at)
    assert "charged twice" in Path("a.html").read_text()
    assert Path("a.md").read_text().startswith("<!-- prosa report -->")
    assert "charged twice" in Path("folder/index.html").read_text()
    assert list(Path("folder").glob("iteration-1/**/grading.json"))
    assert at.err == ""  # X43: what would be said of each file is a notice
    _, at = test(here, *flags, server=model_server)
    assert [line for line in at.err.splitlines() if line.startswith("wrote")] == [
        *(f"wrote {name}" for name in names[:3]),
        "wrote folder/index.html",
    ]


def test_x37_a_report_from_the_store_asks_nothing_and_needs_no_cache(here: Path, model_server: ModelServer):
    """X37. By id, by the beginning of one, and the last one; the same page as the test wrote."""
    write(HALF)
    service = Service(model_server, routed)
    test(here, "--report", "live.json", "--report", "live.html", server=model_server)
    shutil.rmtree(here / "cache")
    for name in ("triage.md", "triage.test.md"):
        Path(name).unlink()
    calls = service.calls
    assert shown(here, "-o", "stored.json")[0] == 0
    assert shown(here, "-o", "stored.html")[0] == 0
    assert json.loads(Path("stored.json").read_text()) == json.loads(Path("live.json").read_text())
    status, at = shown(here, "--format", "json")
    assert status == 0 and json.loads(at.out) == json.loads(Path("live.json").read_text())
    status, at = prosa("query", "--runs", "SELECT id FROM tests", "--format", "json", environ=user(here))
    (row,) = json.loads(at.out)["rows"] if isinstance(json.loads(at.out), dict) else json.loads(at.out)
    identity = row["id"] if isinstance(row, dict) else row[0]
    status, at = shown(here, identity[:4])
    assert status == 0 and "✗ Card" in at.out
    assert service.calls == calls


def test_x37_what_is_no_report_is_found_out_before_anything_is_asked(here: Path, model_server: ModelServer):
    write(PASSING)
    service = Service(model_server, routed)
    Path("README.md").write_text("# Mine\n")
    Path("data.json").write_text("[1]")
    Path("page.html").write_text("<p>Mine</p>")
    Path("plain").write_text("x")
    for name, words in (
        ("README.md", "that is not a report of Prosa, and is not replaced"),
        ("data.json", "that is not a report of Prosa, and is not replaced"),
        ("page.html", "that is not a report of Prosa, and is not replaced"),
        ("a.pdf", "a report has no form .pdf"),
        ("nowhere/a.html", "there is no folder nowhere"),
        ("plain", "that is a file"),
    ):
        status, at = test(here, "--report", name, server=model_server)
        assert (status, service.calls) == (1, 0), name
        assert words in at.err and at.out == "", name
    assert Path("README.md").read_text() == "# Mine\n"
    assert test(here, "--report", "page.html", "--force", server=model_server)[0] == 0
    for _ in range(2):
        assert test(here, "--report", "page.html", server=model_server)[0] == 0


def test_x37_a_classified_subject_is_reported_only_by_force(here: Path, model_server: ModelServer):
    (here / "triage.md").write_text(TRIAGE.replace("name: triage\n", "name: triage\nclassification: secret\n"))
    write(PASSING)
    service = Service(model_server, routed)
    status, at = test(here, "--report", "a.html", server=model_server)
    assert (status, service.calls, Path("a.html").exists()) == (1, 0, False)
    assert "a report would hold its answers" in at.err
    assert test(here, "--report", "a.html", "--force", server=model_server)[0] == 0
    assert "charged twice" in Path("a.html").read_text()
    assert not own_file(user(here)).exists()


def test_x37_large_answers_are_whole_in_a_folder(here: Path, model_server: ModelServer):
    text = "word " * 500_000
    write(suite(("Large", blocks("x", expect="team: care"))))
    Service(model_server, lambda request, number: {"team": "care", "reason": text})
    assert test(here, "--report", "out/", server=model_server)[0] == 0
    page = Path("out/index.html").read_text()
    (whole,) = Path("out/answers").iterdir()
    assert text.strip() in whole.read_text() and whole.name in page
    assert test(here, "--report", "out/", server=model_server)[0] == 0
    assert sorted(each.name for each in Path("out").glob("iteration-*")) == ["iteration-1", "iteration-2"]


def test_x37_a_disk_that_refuses_loses_no_result(here: Path, model_server: ModelServer):
    """X37. The figures are on stdout before a report is written, and the error says what was not."""
    write(PASSING)
    folder = here / "locked"
    folder.mkdir()
    (folder / "answers").write_text("in the way")
    (folder / "index.html").mkdir()
    Service(model_server, routed)
    status, at = test(here, "--report", "locked", server=model_server)
    assert status == 1
    assert "2 of 2 cases" in at.out and "the report cannot be written" in at.err
    assert "Traceback" not in at.err


def test_x37_an_id_that_is_not_there_and_a_store_of_another_time(here: Path, model_server: ModelServer):
    status, at = shown(here)
    assert (status == 1 and "has no test" in at.err) or "no store" in at.err
    write(PASSING)
    Service(model_server, routed)
    test(here, server=model_server)
    status, at = shown(here, "zz")
    assert (status, "there is no test, batch or run 'zz'" in at.err) == (1, True)
    status, at = shown(here, "a", "b")
    assert (status, "-o DIR/" in at.err) == (2, True)
    with sqlite3.connect(own_file(user(here))) as connection:
        connection.execute("PRAGMA user_version = 99")
    status, at = shown(here)
    assert status == 1 and "newer" in at.err


@pytest.mark.parametrize("form", ["html", "json", "md"])
def test_x37_a_run_has_its_page_too(here: Path, model_server: ModelServer, form: str):
    Service(model_server, routed)
    environ = user(here, OPENAI_BASE_URL=model_server.base_url)
    assert prosa("run", "triage.md", "request=charged", environ=environ)[0] == 0
    _, at = prosa("runs", "--format", "json", environ=environ)
    (run,) = json.loads(at.out)["runs"]
    assert shown(here, run["id"], "-o", f"run.{form}")[0] == 0
    assert shown(here, run["id"], "-o", f"run.{form}")[0] == 0
    text = Path(f"run.{form}").read_text()
    assert form == "html" or "triage" in text
    assert form != "json" or json.loads(text)["id"] == run["id"]


def test_x37_several_have_a_folder_each(here: Path, model_server: ModelServer):
    write(PASSING)
    Service(model_server, routed)
    test(here, server=model_server)
    test(here, server=model_server)
    connection = sqlite3.connect(own_file(user(here)))
    ids = sorted(each for (each,) in connection.execute("SELECT id FROM test"))
    connection.close()
    assert shown(here, *ids, "-o", "both/")[0] == 0
    assert sorted(each.name for each in Path("both").iterdir()) == ids
    assert all((Path("both") / each / "index.html").is_file() for each in ids)


def test_x37_feedback_is_found_beside_the_cases_from_any_folder(
    here: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
):
    write(PASSING)
    Service(model_server, routed)
    test(here, server=model_server)
    said = {"reviews": [{"run_id": "Card", "feedback": "Too friendly by half.", "opinion": "bad"}]}
    Path("triage.feedback.json").write_text(json.dumps(said))
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert shown(here, "-o", "page.html")[0] == 0
    assert "Too friendly by half." in Path("page.html").read_text()


def test_x37_a_batch_of_more_rows_than_a_page_reads_says_so(here: Path):
    """X37. 5,000 rows are read; what is left out is counted, and nothing is asked."""
    from prosa.adapters.store import batches
    from prosa.adapters.store.opening import open_file
    from tests.adapters.store.test_contract import batch_record
    from tests.app.journal.test_store import run_record

    store = here / "store.sqlite"
    connection = open_file(store)
    batches.insert_batch(connection, batch_record(total=5_002, state="done"))
    rows = [
        replace(run_record(f"b1.{number}"), batch="b1", number=number, job=f"{number}", state="done", output="1")
        for number in range(1, 5_003)
    ]
    connection.transact(lambda: batches.put_rows(rows)(connection))
    connection.close()
    assert shown(here, "b1", "-o", "batch.html", "--store", str(store))[0] == 0
    assert "2 rows more are in the store." in Path("batch.html").read_text()
    status, at = shown(here, "b1", "--format", "json", "--store", str(store))
    assert (status, json.loads(at.out)["more"], len(json.loads(at.out)["rows"])) == (0, True, 5_000)
